"""The one writer: a file is complete under its name, or is as it was before."""

import errno
import os
import resource
import signal
import stat
import subprocess
import sys
import textwrap
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_digits

from sklearn_hashrank import HammingNeighbors, LSHHasher, save_hasher
from sklearn_hashrank._files.atomic import check_output, write_file
from sklearn_hashrank.cli import main
from sklearn_hashrank.comparison import compare
from sklearn_hashrank.comparison._run_store import RunStore
from sklearn_hashrank.comparison._runner import RunResult
from sklearn_hashrank.model_selection import RandomRetrievalSplit

ROOT = Path(__file__).parents[2]
OLD = b"what was there before"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def names(folder):
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.parametrize("name", ["f", "a name, ä.txt", "n" * 250, "ä" * 120])
def test_a_file_appears_when_it_is_complete(folder, name):
    for content in (OLD, b"new"):
        with write_file(name) as file:
            file.write(b"..." + content[3:])
            file.seek(0)
            file.write(content[:3])
            assert len(names(folder)) == 1 + (content != OLD)
        assert Path(name).read_bytes() == content
        assert names(folder) == [name]


def test_text_has_its_encoding_and_newlines(folder):
    with write_file("f", "w", encoding="utf-8", newline="") as file:
        file.write("ä\n")
    assert Path("f").read_bytes() == "ä\n".encode()


def write(path, content):
    with write_file(path) as file:
        file.write(content)


def write_half_of(path, error):
    with write_file(path) as file:
        file.write(b"half of it")
        file.flush()
        raise error


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt, FileExistsError])
def test_a_failure_leaves_what_was_there(folder, error):
    for before in ([], ["f"]):
        with pytest.raises(error):
            write_half_of("f", error)
        assert names(folder) == before
        Path("f").write_bytes(OLD)
    assert Path("f").read_bytes() == OLD


@pytest.mark.parametrize("function", ["fsync", "replace", "open"])
def test_a_failing_system_leaves_what_was_there(folder, monkeypatch, function):
    def fail(*arguments, **options):
        raise OSError(errno.EIO, "the disk is broken")

    Path("f").write_bytes(OLD)
    with monkeypatch.context() as patch:
        patch.setattr(os, function, fail)
        with pytest.raises(OSError, match="disk is broken|Input/output error: 'f'"):
            write("f", b"new")
    assert Path("f").read_bytes() == OLD
    assert names(folder) == ["f"]


def test_a_name_that_is_taken_is_left_alone(folder, monkeypatch):
    """Not even a symbolic link of the draft's name is followed or removed."""
    monkeypatch.setattr(os, "urandom", bytes)
    draft = Path(f"f.{bytes(16).hex()}.partial")
    Path("victim").write_bytes(OLD)
    draft.symlink_to("victim")
    with pytest.raises(FileExistsError), write_file("f") as file:
        file.write(b"new")
    assert draft.is_symlink()
    assert Path("victim").read_bytes() == OLD


def test_permissions_are_those_of_open(folder):
    before = os.umask(0o027)
    try:
        with write_file("f") as file:
            file.write(OLD)
        assert stat.S_IMODE(os.stat("f").st_mode) == 0o640
        os.chmod("f", 0o604)
        with write_file("f") as file:
            file.write(b"new")
            assert stat.S_IMODE(os.fstat(file.fileno()).st_mode) == 0o604
        assert stat.S_IMODE(os.stat("f").st_mode) == 0o604
    finally:
        os.umask(before)


@pytest.mark.parametrize("exists", [True, False])
def test_a_symbolic_link_stays_one(folder, exists):
    """What it leads to is replaced, as by open()."""
    (folder / "far").mkdir()
    if exists:
        Path("far/target").write_bytes(OLD)
    Path("link").symlink_to("far/target")
    Path("second").symlink_to("link")
    with write_file("second") as file:
        file.write(b"new")
    assert Path("far/target").read_bytes() == b"new"
    assert os.readlink("link") == "far/target"
    assert names(folder) == ["far", "link", "second"]
    assert names(folder / "far") == ["target"]


def test_a_hard_link_keeps_the_old_file(folder):
    Path("f").write_bytes(OLD)
    os.link("f", "other")
    with write_file("f") as file:
        file.write(b"new")
    assert (Path("f").read_bytes(), Path("other").read_bytes()) == (b"new", OLD)


def test_what_cannot_be_written_is_told(folder, monkeypatch):
    Path("d").mkdir()
    Path("loop").symlink_to("loop")
    os.mkfifo("pipe")
    Path("f").write_bytes(OLD)
    for path, kind, message in (
        ("d", IsADirectoryError, "Is a directory: 'd'"),
        ("new/", IsADirectoryError, "Is a directory: 'new/'"),
        ("no/f", FileNotFoundError, "there is no such folder: .*no'"),
        ("f/g", OSError, "Not a directory|no such folder"),
        ("loop", OSError, "Too many levels of symbolic links: 'loop'"),
        ("pipe", OSError, "is not a regular file: 'pipe'"),
    ):
        for refuse in (check_output, lambda path: write(path, b"new")):
            with pytest.raises(kind, match=message):
                refuse(path)
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    with pytest.raises(PermissionError, match="Permission denied: 'f'"):
        write("f", b"new")
    with pytest.raises(PermissionError, match="its folder cannot be written to: 'g'"):
        check_output("g")
    assert names(folder) == ["d", "f", "loop", "pipe"]


def test_output_is_not_input(folder):
    Path("data").write_bytes(OLD)
    Path("link").symlink_to("data")
    os.link("data", "hard")
    (folder / "d").mkdir()
    for spelling in ("data", "./d/../data", str(folder / "data"), "link", "hard"):
        with pytest.raises(ValueError, match="is the file that is read from, data"):
            check_output(spelling, ["missing", "data"])
    check_output("other", ["data", "missing"])
    check_output("d/data", ["data"])


@contextmanager
def full_disk(n_bytes):
    """No file can grow beyond a size."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (n_bytes, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(return_X_y=True)
    return X, y, LSHHasher(64, random_state=0).fit(X, y)


@pytest.fixture(scope="module")
def comparison(digits):
    X, y, _ = digits
    protocol = RandomRetrievalSplit(n_queries=10)
    return compare(X[:200], y[:200], methods=["lsh"], n_bits=[8], seeds=1, protocol=protocol)


def _write_text(path, digits):
    with write_file(path, "w", encoding="utf-8") as file:
        file.write("x" * 10_000)


def _write_bytes_in_pieces(path, digits):
    with write_file(path) as file:
        for _ in range(10_000):
            file.write(b"x")


def _command(*arguments):
    def run(path, digits):
        X, _, hasher = digits
        np.save("X.npy", X)
        hasher.encode_blocks(X, out="codes.npy")
        save_hasher("model.npz", hasher, training_rows=False)
        assert main([*arguments, "--output", f"first-{path}"]) == 0  # which compiles kernels
        os.unlink(f"first-{path}")
        with full_disk(3000):
            assert main([*arguments, "--output", path]) == 2
        for name in ("X.npy", "codes.npy", "model.npz"):
            os.unlink(name)
        raise OSError(errno.EFBIG, "as the command said")

    return run


WRITERS = {
    "text.txt": _write_text,
    "bytes": _write_bytes_in_pieces,
    "codes.npy": lambda path, digits: digits[2].encode_blocks(digits[0], out=path, batch_size=1000),
    "blocks.npy": lambda path, digits: digits[2].encode_blocks(iter([digits[0]] * 3), out=path),
    "hasher.npz": lambda path, digits: save_hasher(path, digits[2]),
    "index": lambda path, digits: HammingNeighbors(n_bits=64).fit(digits[2].codes_).save(path),
    "fit.npz": _command("fit", "--data", "X.npy", "--method", "lsh"),
    "encode.npy": _command("encode", "--data", "X.npy", "--model", "model.npz"),
    "search.csv": _command("search", "--database", "codes.npy", "--queries", "codes.npy"),
    "search.npz": _command("search", "--database", "codes.npy", "--queries", "codes.npy"),
}


@pytest.mark.parametrize("name", WRITERS)
@pytest.mark.parametrize("before", [OLD, None])
def test_a_full_disk_leaves_what_was_there(folder, digits, name, before, capsys):
    if before is not None:
        Path(name).write_bytes(before)
    if WRITERS[name].__name__ == "run":
        with pytest.raises(OSError, match="as the command said"):
            WRITERS[name](name, digits)
        assert capsys.readouterr().err.endswith(f"hashrank: error: {name}: File too large\n")
    else:
        with pytest.raises(OSError, match=f"File too large: '{name}'"), full_disk(3000):
            WRITERS[name](name, digits)
    assert names(folder) == ([] if before is None else [name])
    assert before is None or Path(name).read_bytes() == before


def test_a_full_disk_keeps_reports_and_records(folder, comparison, no_pictures):
    paths = comparison.write("report")
    store = RunStore(folder / "runs")
    store.save("key", RunResult("lsh", 8, 0))
    before = {path: path.read_bytes() for path in [*paths.values(), Path("runs/key.json")]}
    with full_disk(100):
        with pytest.raises(OSError, match="File too large"):
            comparison.write("report")
        with pytest.raises(OSError, match="File too large"):
            store.save("key", RunResult("y" * 1000, 8, 0))
    assert {path: path.read_bytes() for path in before} == before
    assert len(list(Path("report").iterdir())) == 4
    assert names(folder / "runs") == ["key.json"]


SCRIPT = """
import os, signal, sys, threading
from concurrent.futures import ThreadPoolExecutor
import numpy as np
from sklearn_hashrank import LSHHasher, load_hasher, save_hasher
from sklearn_hashrank.codes import load_codes
from sklearn_hashrank.comparison import compare
from sklearn_hashrank.comparison._run_store import RunStore
from sklearn_hashrank.comparison._runner import RunResult
from sklearn_hashrank.model_selection import RandomRetrievalSplit
from sklearn_hashrank._files.atomic import write_file
from pathlib import Path

X = np.random.default_rng(0).normal(size=(120, 8))
hashers = [LSHHasher(16, random_state=seed).fit(X) for seed in range(8)]

def in_processes(function, *numbers):
    children = []
    for number in numbers:
        child = os.fork()
        if child == 0:
            code = 1
            try:
                function(number)
                code = 0
            finally:
                os._exit(code)
        children.append(child)
    return [os.waitpid(child, 0)[1] for child in children]

def write_often(number):
    for _ in range(3):
        hashers[number].encode_blocks(X, out="codes.npy", batch_size=50)
        load_codes("codes.npy", 16)
        save_hasher("hasher.npz", hashers[number])
        load_hasher("hasher.npz")

def run_all(number):
    protocol = RandomRetrievalSplit(n_queries=10)
    settings = {"methods": ["lsh"], "n_bits": [8, 12], "seeds": 1, "protocol": protocol}
    found = compare(X, **settings, store="runs")
    return [result.scores["ap"] for result in found.results]

def killed_while_writing(number):
    os.fsync = lambda descriptor: os.kill(os.getpid(), signal.SIGKILL)
    if number == 0:
        hashers[0].encode_blocks(X[:7], out="codes.npy")
    elif number == 1:
        save_hasher("hasher.npz", hashers[0])
    elif number == 2:
        RunStore(Path("runs")).save(Path(os.listdir("runs")[0]).stem, RunResult("lsh", 8, 0))
    elif number == 3:
        with write_file("new") as file:
            file.write(b"new")
    else:
        hashers[0].encode_blocks(blocks_before_the_end(), out="unfinished.npy")

def blocks_before_the_end():
    yield X[:7]
    yield X[:7]
    os.kill(os.getpid(), signal.SIGKILL)

assert in_processes(write_often, 0, 1, 2, 3) == [0] * 4
with ThreadPoolExecutor(8) as pool:
    list(pool.map(write_often, range(8)))
assert sorted(os.listdir()) == ["codes.npy", "hasher.npz"]
with ThreadPoolExecutor(8) as pool:
    scores = list(pool.map(run_all, range(8)))
assert scores == [scores[0]] * 8
assert in_processes(run_all, 0, 1, 2, 3) == [0] * 4
assert len(os.listdir("runs")) == 2
before = {path: path.read_bytes() for path in Path().rglob("*") if path.is_file()}
assert in_processes(killed_while_writing, 0, 1, 2, 3, 4) == [signal.SIGKILL] * 5
for path, content in before.items():
    assert path.read_bytes() == content, path
new = sorted(path.name for path in Path().rglob("*") if path.is_file() and path not in before)
print(*new)
"""


@pytest.mark.process
def test_many_at_once_and_kill(folder):
    """Eight threads and four processes on one output and on one store; then kill -9."""
    run = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(SCRIPT)],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,  # threads that wait for each other must not hold up the tests
    )
    assert run.returncode == 0, run.stderr
    left = run.stdout.split()
    assert len(left) == 5
    assert all(name.endswith(".partial") for name in left)


def test_search_uses_no_fixed_name(folder, digits):
    """A user's hidden file of nearly the same name is neither deleted nor followed."""
    X, _, hasher = digits
    hasher.encode_blocks(X[:20], out="codes.npy")
    Path("victim").write_bytes(OLD)
    Path(".found.csv").symlink_to("victim")
    search = ["search", "--database", "codes.npy", "--queries", "codes.npy", "-k", "2"]
    assert main([*search, "--output", "found.csv"]) == 0
    assert Path("victim").read_bytes() == OLD
    assert names(folder) == [".found.csv", "codes.npy", "found.csv", "victim"]


def test_signals_are_as_before():
    """What the tests of full disks rely on."""
    assert signal.getsignal(signal.SIGXFSZ) == signal.SIG_IGN
