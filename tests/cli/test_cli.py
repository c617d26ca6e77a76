"""The command: files in, files out, one clear line and the right exit code where that fails."""

import csv
import json
import os
import re
import shlex
import signal
import subprocess
import sys
import time
import tracemalloc
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse
from scipy.io import savemat
from sklearn.datasets import load_digits

import sklearn_hashrank
from sklearn_hashrank import (
    HammingNeighbors,
    HierarchicalAffinity,
    ITQHasher,
    load_hasher,
    retrieval_histogram,
)
from sklearn_hashrank._utils.extras import how_to_install
from sklearn_hashrank.cli import main
from sklearn_hashrank.cli._data import name_paths
from sklearn_hashrank.codes import read_codes
from sklearn_hashrank.comparison import _runner
from sklearn_hashrank.comparison._method_table import METHODS
from sklearn_hashrank.metrics import tie_aware_average_precision_score
from sklearn_hashrank.metrics._registry import forget, get_measure
from tests.explore.test_page_writer import array, read
from tests.instances import METHODS_HERE

SMALL = ["--methods", "lsh,itq:max_iter=5", "--bits", "8,12", "--seeds", "2"]
SMALL += ["--queries", "5", "--training", "30"]
ROOT = Path(sklearn_hashrank.__file__).parents[1]


@pytest.fixture(scope="module")
def digits():
    return load_digits(return_X_y=True)


@pytest.fixture
def folder(tmp_path, monkeypatch, digits):
    """A folder to work in, with the digits in several files."""
    monkeypatch.chdir(tmp_path)
    X, y = digits
    np.save("X.npy", X)
    np.save("y.npy", y)
    np.savez("digits.npz", X=X, y=y, other=y % 2)
    return tmp_path


def run(capsys, *arguments):
    """Exit code, standard output and standard error."""
    try:
        code = main([str(argument) for argument in arguments])
    except SystemExit as exit:
        code = exit.code
    found = capsys.readouterr()
    return code, found.out, found.err


def refused(capsys, *arguments):
    """The one line with which the command refuses its input."""
    code, out, err = run(capsys, *arguments)
    assert code == 2
    assert out == ""
    assert err.startswith("hashrank: error: ")
    assert err.count("\n") == 1
    return err.removeprefix("hashrank: error: ")


def rows_of(path):
    """Rows of a CSV file, without times."""
    with open(path, encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    return [{k: v for k, v in row.items() if k[-7:] != "seconds"} for row in rows]


def test_compare_writes_report_and_tables(folder, capsys, one_picture):
    code, out, err = run(capsys, "compare", "--data", "digits", *SMALL, "--output", "found")
    assert code == 0
    assert out.splitlines()[-1] == f"report: {Path('found', 'report.html')}"
    assert "| itq:max_iter=5 |" in out
    assert "[8/8] itq:max_iter=5, 12 bits, seed 1: ap 0." in err
    assert {path.name for path in Path("found").iterdir()} == {
        *(["figures"] if find_spec("matplotlib") else []),
        "report.html",
        "runs",
        "runs.csv",
        "tables.md",
        "tables.tex",
    }
    assert "hashrank compare --data digits --methods lsh,itq:max_iter=5" in (
        Path("found", "report.html").read_text()
    )
    first = rows_of("found/runs.csv")
    again = ["compare", "--data", "digits", *SMALL, "--output", "found", "--quiet"]
    code, out, err = run(capsys, *again)
    assert (code, out, err) == (0, f"report: {Path('found', 'report.html')}\n", "")
    assert rows_of("found/runs.csv") == first


def test_the_same_data_from_any_file(folder, capsys, digits, no_pictures):
    pd = pytest.importorskip("pandas")
    X, y = digits
    frame = pd.DataFrame(X, columns=[f"pixel{i}" for i in range(64)])
    frame.insert(3, "class", y)
    frame.to_csv("digits.csv", index=False)
    frame.to_parquet("digits.parquet")
    sparse.save_npz("sparse.npz", sparse.csr_matrix(X))
    np.savetxt("y.csv", y, header="class", comments="", fmt="%d")
    found = []
    for data in (
        ["digits"],
        ["digits.npz"],
        ["X.npy", "--labels", "y.npy"],
        ["digits.csv", "--label-column", "class"],
        ["digits.parquet", "--label-column", "class"],
        ["sparse.npz", "--labels", "y.csv"],
    ):
        words = "--methods lsh --bits 8 --seeds 1 --quiet --queries 5 --training 30 --output found"
        assert run(capsys, "compare", "--data", *data, *words.split())[0] == 0
        [row] = rows_of("found/runs.csv")
        found.append(float(row["ap"]))
    np.testing.assert_allclose(found, found[0], atol=1e-4)


def test_labels_of_all_kinds(folder, capsys, no_pictures):
    options = ["--methods", "lsh", "--bits", "8", "--seeds", "1", "--quiet", "--output", "o"]
    options += ["--queries", "20", "--training", "50"]
    paths = ["--data", "X.npy", "--labels", "paths.npy"]
    y = np.load("y.npy")
    np.save("paths.npy", np.stack([2 + y % 2, y], axis=1))
    assert run(capsys, "compare", *paths, *options)[0] == 0
    assert "HierarchicalAffinity(), levels 0, 1, 2" in Path("o", "report.html").read_text()
    other = ["--data", "digits.npz", "--label-column", "other"]
    assert run(capsys, "compare", *other, *options)[0] == 0
    assert "y: 2 classes of " in Path("o", "report.html").read_text()
    sets = np.eye(10, dtype=np.uint8)[y]
    sets[::3, 0] = 1
    np.savez("sets.npz", X=np.load("X.npy"), Y=sets)
    assert run(capsys, "compare", "--data", "sets.npz", *options)[0] == 0
    assert "SharedLabelAffinity(), levels 0, 1" in Path("o", "report.html").read_text()
    code, _, err = run(capsys, "compare", "--data", "X.npy", *options)
    assert code == 0
    assert err == (
        "hashrank: note: X.npy: no labels; distances between the features say what is relevant\n"
    )
    page = Path("o", "report.html").read_text()
    assert "EuclideanAffinity" in page
    assert "RandomRetrievalSplit(n_queries=20, n_train=50" in page


@pytest.mark.parametrize("names", [["a", "b"], [0, 1]])
def test_several_label_columns_are_a_path(folder, capsys, no_pictures, names):
    """Also when they hold words, or 0 and 1 as label sets do."""
    pd = pytest.importorskip("pandas")
    X, y = np.load("X.npy")[:300], np.load("y.npy")[:300]
    coarse, fine = np.array(names)[y % 2], np.array(names)[y % 4 // 2]
    pd.DataFrame(X).assign(coarse=coarse, fine=fine).to_csv("t.csv", index=False)
    columns = ["--label-column", "coarse", "--label-column", "fine"]
    options = ["--methods", "rsh", "--bits", "8", "--seeds", "1", "--queries", "5"]
    code, _, err = run(capsys, "compare", "--data", "t.csv", *columns, *options, "--training", 20)
    assert code == 0, err
    page = Path("hashrank-results", "report.html").read_text()
    assert "HierarchicalAffinity(), levels 0, 1, 2" in page
    fit = ["--method", "rsh", "--bits", "8", "--output", "m.npz"]
    assert run(capsys, "fit", "--data", "t.csv", *columns, *fit)[0] == 0
    codes = X[:, 10:18].astype(int) % 2
    np.save("codes.npy", codes)
    pd.DataFrame({"coarse": coarse[:50], "fine": fine[:50]}).to_csv("q.csv", index=False)
    np.save("q.npy", codes[:50])
    evaluate = ["evaluate", "--bits", "8", "--json", *columns]
    evaluate += ["--database", "codes.npy", "--database-labels", "t.csv"]
    evaluate += ["--queries", "q.npy", "--query-labels", "q.csv"]
    found = json.loads(run(capsys, *evaluate)[1])
    paths = np.stack([y % 2, y % 4 // 2], axis=1)
    h = retrieval_histogram(
        codes[:50], codes, paths[:50], paths, affinity=HierarchicalAffinity(), n_bits=8
    )
    assert found["ndcg"] == pytest.approx(h.ndcg().mean(), abs=1e-12)
    np.savez("q.npz", coarse=coarse[:50], fine=fine[:50])
    assert json.loads(run(capsys, *evaluate[:-1], "q.npz")[1]) == found
    np.savez("wrong.npz", coarse=coarse[:50], fine=paths[:50])
    message = "wrong.npz: arrays of a label path must be columns. Got shapes (50,), (50, 2)."
    assert message in refused(capsys, *evaluate[:-1], "wrong.npz")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--data", "nothing.npz"], "nothing.npz: no such file."),
        (["--data", "digit"], "unknown data 'digit': give a file, or one of digits,"),
        (
            ["--data", "X.txt"],
            "X.txt: cannot read files of this kind. Use one of .npy, .npz, .mat,",
        ),
        (["--data", "text.npy"], "text.npy: not a .npy file"),
        (["--data", "text.npz"], "text.npz: not a .npz file"),
        (["--data", "pickle.npy"], "pickle.npy: not a .npy file"),
        (
            ["--data", "bare.npz"],
            "bare.npz has no array X or features or data. It has a (1797, 64), b (1797, 64)",
        ),
        (["--data", "y.npy"], "y.npy: features must be a matrix with rows. Got shape (1797,)."),
        (["--data", "X.npy", "--labels", "y.txt"], "y.txt: cannot read files of this kind"),
        (["--data", "X.npy", "--labels", "short.npy"], "short.npy: 5 labels for 1,797 items."),
        (["--data", "X.npy", "--labels", "nan_y.npy"], "nan_y.npy: the label of row 3 is missing"),
        (["--data", "X.npy", "--label-column", "a"], "X.npy has no columns with names"),
        (["--data", "digits", "--labels", "y.npy"], "digits brings its own labels"),
        (["--data", "digits.npz", "--label-column", "z"], "no array 'z'."),
        (["--data", "digits", "--methods", "lhs"], "unknown method 'lhs'. Did you mean"),
        (["--data", "digits", "--methods", "lsh:a=1"], "method 'lsh' has no parameter 'a'."),
        (["--data", "digits", "--methods", "talr-ap:alpha=(1,2),itq"], "Got (1, 2) instead"),
        (
            ["--data", "digits", "--queries", "200"],
            "needs 200 queries of every class. Class 8 has 174",
        ),
        (
            ["--data", "digits.npz", "--queries", "99", "--training", "500"],
            "Class 8 has 174 rows, and 75 are left. Lower n_queries or n_train",
        ),
        (
            ["--data", "digits", "--output", "X.npy"],
            "--output: X.npy is a file: it must name a folder",
        ),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_compare_refuses_in_one_line(folder, capsys, arguments, message):
    X = np.load("X.npy")
    Path("text.npy").write_text("not an array")
    Path("text.npz").write_text("not an archive")
    Path("X.txt").write_text("1 2")
    Path("y.txt").write_text("1 2")
    np.save("pickle.npy", np.array([{}]), allow_pickle=True)
    np.savez("bare.npz", a=X, b=X)
    np.save("short.npy", np.arange(5))
    np.save("nan_y.npy", np.array([0, 1, 2, np.nan] + [0] * 1793))
    assert message in refused(capsys, "compare", "--methods", "lsh", *arguments)
    assert not Path("hashrank-results", "report.html").exists()


def test_classes_that_nobody_trained_on(folder, capsys, no_pictures):
    options = ["--data", "digits", "--methods", "lsh", "--bits", "8", "--seeds", "2"]
    code, _, err = run(capsys, "compare", *options, "--protocol", "unseen-classes")
    assert code == 0, err
    page = Path("hashrank-results", "report.html").read_text()
    assert "UnseenClassesSplit(n_queries=20, n_train=None, n_test_classes=None" in page
    assert "60 queries" in page


@pytest.mark.parametrize(
    ("labels", "options", "note"),
    [
        (
            np.repeat(["cat", "dog"], 50),
            [],
            "the smallest of 2 classes, class 'cat', has 50 rows: compared with --protocol "
            "per-class --queries 8 --training 42, as you did not choose otherwise",
        ),
        (
            np.repeat([0, 1, 2], [60, 37, 3]),
            ["--training", "30"],
            "class 2, has 3 rows and the largest 60: compared with --protocol random --queries 20 "
            "--training 30,",
        ),
        (
            np.eye(3, dtype=int)[np.repeat([0, 1, 2], [60, 37, 3])],
            ["--queries", "25"],
            "the rarest of 3 labels, that of column 2, has 3 of 100 rows: compared with --protocol "
            "random --queries 25 --training all,",
        ),
    ],
)
def test_the_protocol_follows_the_data(folder, capsys, no_pictures, labels, options, note):
    np.save("x.npy", np.random.default_rng(0).normal(size=(100, 8)))
    np.save("labels.npy", labels)
    data = ["--data", "x.npy", "--labels", "labels.npy", "--methods", "lsh", "--bits", "8"]
    code, _, err = run(capsys, "compare", *data, *options, "--seeds", "1", "--output", "out")
    assert code == 0
    assert note in err
    page = Path("out", "report.html").read_text()
    assert ("chosen because" in page) == (options == [])


def test_protocols_that_need_more(folder, capsys):
    for arguments, message in (
        (["--queries", "1797"], "RandomRetrievalSplit(n_queries=1797, "),
        (["--protocol", "per-class"], "needs class labels"),
        (["--protocol", "unseen-classes"], "needs class labels or label paths as y"),
    ):
        code, _, err = run(capsys, "compare", "--methods", "lsh", "--data", "X.npy", *arguments)
        assert code == 2
        assert message in err.splitlines()[-1]


def test_tables_are_refused_in_one_line(folder, capsys):
    pytest.importorskip("pandas")
    Path("t.csv").write_text("a,b,class\n1,x,0\n2,y,1\n")
    Path("gap.csv").write_text("a,b,class\n1,2,0\n,3,\n")
    Path("empty.csv").write_text("a,b\n")
    Path("broken.parquet").write_text("not parquet")
    Path("two.csv").write_text("class\n0\n1\n")
    for arguments, message in (
        (["t.csv", "--label-column", "klass"], "t.csv has no column 'klass'. It has a, b, class."),
        (["t.csv", "--label-column", "class"], "t.csv: row 0 of column 'b' is 'x'"),
        (["gap.csv", "--label-column", "class"], "gap.csv: row 1 of column 'a' is empty"),
        (["X.npy", "--labels", "t.csv"], "t.csv has 3 columns: name those of the labels with"),
        (["X.npy", "--labels", "gap.csv", "--label-column", "class"], "label of row 1 is missing"),
        (["X.npy", "--labels", "two.csv"], "two.csv: 2 labels for 1,797 items"),
        (["empty.csv"], "empty.csv: there are no rows."),
        (["broken.parquet"], "broken.parquet: cannot be read as parquet"),
    ):
        assert message in refused(capsys, "compare", "--methods", "lsh", "--data", *arguments)


def test_missing_packages_name_the_extra(folder, capsys, monkeypatch):
    Path("t.parquet").write_text("a")
    monkeypatch.setitem(sys.modules, "pyarrow.dataset", None)
    line = refused(capsys, "compare", "--data", "t.parquet")
    assert line == (
        f"reading t.parquet needs pyarrow, which is not installed: {how_to_install('cli')}\n"
    )


def test_figures_that_are_missing_name_the_extra(folder, capsys, monkeypatch, no_pictures):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    words = ["compare", "--data", "digits", "--methods", "lsh", "--bits", "4", "--seeds", "1"]
    code, _, err = run(capsys, *words)
    assert code == 0
    assert f"figures need matplotlib, which is not installed: {how_to_install('cli')}" in err


def test_failed_runs_are_told_and_the_others_reported(folder, capsys, no_pictures, monkeypatch):
    def fail(*arguments):
        raise ArithmeticError("not these rows")

    monkeypatch.setattr("sklearn_hashrank.ITQHasher.fit", fail)
    arguments = ["compare", "--data", "digits", "--methods", "lsh,itq", "--bits", "8"]
    code, out, err = run(capsys, *arguments, "--seeds", "1", "--output", "o")
    assert code == 1
    assert "itq, 8 bits, seed 0: failed: ArithmeticError: not these rows" in err
    assert err.splitlines()[-1] == "hashrank: 1 of 2 runs failed; the report says why"
    assert out.splitlines()[-1].startswith("report: ")


@pytest.mark.filterwarnings("always:skipped")
def test_methods_that_cannot_take_the_data_are_refused_or_left_out(folder, capsys, no_pictures):
    rng = np.random.default_rng(0)
    np.savez("few.npz", X=rng.normal(size=(120, 4)), y=np.arange(120) % 3)
    arguments = ["compare", "--data", "few.npz", "--bits", "6", "--seeds", "1", "--output", "o"]
    arguments += ["--queries", "5", "--training", "20"]
    line = refused(capsys, *arguments, "--methods", "lsh,itq,pca")
    assert line.startswith("2 methods do not support these data. 'itq' with 6 bits: n_bits=6 must")
    assert "'pca' with 6 bits: n_bits=6 must" in line
    code, out, err = run(capsys, *arguments, "--methods", "lsh,itq", "--skip-unsupported")
    assert code == 0
    assert "hashrank: warning: skipped: 'itq' with 6 bits: n_bits=6 must be at most" in err
    code, out, err = run(capsys, *arguments)  # the methods of the default that can
    assert code == 0
    assert "skipped: 'itq'" in err
    assert "| talr-ap " in out
    assert "| itq " not in out


def test_usage_errors_and_versions(capsys):
    code, out, err = run(capsys, "--version")
    assert (code, out) == (0, f"hashrank {sklearn_hashrank.__version__}\n")
    for arguments, message in (
        ([], "the following arguments are required: COMMAND"),
        (["--foo", "methods"], "unknown option '--foo'"),
        (["campare"], "'campare'. Did you mean 'compare'?"),
        (["fit", "--data", "d", "--output", "m", "--bits", "12", "24"], "--bits takes one value"),
        (["compare", "--data", "d", "--bits", "12", "24"], "--bits takes one value"),
        (["compare", "--data", "d", "--seedz", "3"], "'--seedz'. Did you mean '--seeds'?"),
        (["compare"], "required: --data"),
        (["compare", "--data", "digits", "--bits", "8,x"], "'x' is not an int >= 1"),
        (["compare", "--data", "digits", "--seeds", "0"], "'0' is not an int >= 1"),
    ):
        code, out, err = run(capsys, *arguments)
        assert (code, out) == (2, "")
        assert message in err
    for command in ("compare", "fit", "encode", "evaluate", "search"):
        code, out, err = run(capsys, command, "--help")
        assert code == 0
        assert "examples:\n  hashrank " in out


def test_debug_shows_the_traceback(folder, capsys):
    with pytest.raises(ValueError, match="no such file"):
        main(["compare", "--data", "nothing.npz", "--debug"])


def test_unexpected_errors_are_one_line_too(folder, capsys, monkeypatch):
    def fail(*arguments, **options):
        raise RuntimeError("out of\nluck")

    monkeypatch.setattr("sklearn_hashrank.cli._command_compare.compare", fail)
    code, out, err = run(capsys, "compare", "--data", "digits", "--output", "o")
    assert (code, out) == (1, "")
    assert err == "hashrank: unexpected error: RuntimeError: out of luck (--debug shows where)\n"


MANY_RUNS = ["compare", "--data", "digits", "--methods", "lsh,itq", "--bits", "8,12,16"]
MANY_RUNS += ["--seeds", "20"]


def check_interrupted(capsys, code, out, err, expected=130):
    """The last line says what is kept, and a smaller comparison goes on from there."""
    assert (code, out) == (expected, ""), err
    assert f"are kept in {Path('found', 'runs')}" in err.splitlines()[-1]
    n_kept = len(list(Path("found", "runs").glob("*.json")))
    assert 3 <= n_kept < 120
    assert "Traceback" not in err
    few = [*MANY_RUNS[:-1], "1"]
    _, _, err = run(capsys, *few, "--output", "found")
    assert err.count("kept from an earlier run") >= 3
    assert run(capsys, *few, "--output", "afresh", "--quiet")[0] == 0
    assert rows_of("found/runs.csv") == rows_of("afresh/runs.csv")


def test_interrupted_then_resumed(folder, capsys, monkeypatch, no_pictures):
    measure, started = _runner._measure, []

    def interrupt(*arguments):
        started.append(arguments)
        if len(started) == 5:
            raise KeyboardInterrupt
        return measure(*arguments)

    with monkeypatch.context() as patched:
        patched.setattr(_runner, "_measure", interrupt)
        interrupted = run(capsys, *MANY_RUNS, "--output", "found")
    assert len(list(Path("found", "runs").glob("*.json"))) == 4
    check_interrupted(capsys, *interrupted)


def many_runs_at_work(**options):
    """Process of a comparison with two workers, three runs of which are done."""
    process = subprocess.Popen(
        [sys.executable, "-m", "sklearn_hashrank", *MANY_RUNS, "--n-jobs=2", "--output", "found"],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        **options,
    )
    seen = [process.stderr.readline() for _ in range(3)]
    assert seen[2].startswith("[3/120] ")
    return process


def descendants(parent):
    """Process ids of all children of a process, and of theirs."""
    found = []
    for path in Path("/proc").glob(f"{parent}/task/*/children"):
        for child in path.read_text().split():
            found += [int(child), *descendants(int(child))]
    return found


def is_running(pid):
    try:
        return "State:\tZ" not in Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return False


@pytest.mark.process
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="processes of Linux")
def test_terminated_then_resumed(folder, capsys, no_pictures):
    """SIGTERM to the command alone, as clusters send it: children end, and runs are kept."""
    process = many_runs_at_work()
    children = descendants(process.pid)
    process.terminate()
    out, err = process.communicate(timeout=120)
    check_interrupted(capsys, process.returncode, out, err, expected=143)
    deadline = time.monotonic() + 30
    while any(map(is_running, children)) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert not any(map(is_running, children))


def test_terminated_while_it_reads(folder, capsys, monkeypatch):
    """Every command; the handler of the program that calls `main` is there again."""
    before = signal.getsignal(signal.SIGTERM)

    def terminate(*arguments, **options):
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(5)

    np.savez("m.npz", X=np.eye(3))
    for place, words in (
        ("_command_fit.load_data", "fit --data X.npy --output n.npz"),
        ("_command_encode.load_model", "encode --data X.npy --model m.npz --output n.npy"),
        ("_command_search.read_codes", "search --database X.npy --queries X.npy --output n.csv"),
        ("_command_evaluate.read_codes", "evaluate --database X.npy --database-labels y.npy"),
        ("_command_explore.load_data", "explore --data X.npy --model m.npz --output n.html"),
        ("_command_compare.load_data", "compare --data X.npy --output n"),
        ("_command_suggest.load_data", "suggest --data X.npy"),
    ):
        with monkeypatch.context() as patch:
            patch.setattr(f"sklearn_hashrank.cli.{place}", terminate)
            if "explore" in place:
                patch.setattr("sklearn_hashrank.cli._command_explore._load_models", terminate)
            code, out, err = run(capsys, *words.split())
        assert (code, out) == (143, "")
        assert err.count("\n") == 1
        assert not list(Path().glob("n*"))
    assert signal.getsignal(signal.SIGTERM) == before


@pytest.mark.process
@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
def test_interrupted_with_processes_then_resumed(folder, capsys, no_pictures):
    process = many_runs_at_work(
        start_new_session=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # a job may ignore it
    )
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does, to all processes of the job
    out, err = process.communicate(timeout=120)
    check_interrupted(capsys, process.returncode, out, err)


def test_interrupt_of_the_reader_of_arguments(capsys, monkeypatch):
    def interrupt(*arguments, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr("argparse.ArgumentParser.parse_known_args", interrupt)
    code, out, err = run(capsys, "methods")
    assert (code, out, err.count("\n")) == (130, "", 1)


SCRIPTS = {
    "float signs": lambda bits: (2.0 * bits - 1, []),
    "float32 signs": lambda bits: (2 * bits.astype(np.float32) - 1, []),
    "integer signs": lambda bits: (2 * bits.astype(np.int64) - 1, []),
    "float bits": lambda bits: (bits.astype(float), []),
    "integer bits": lambda bits: (bits.astype(np.int32), []),
    "booleans": lambda bits: (bits > 0, []),
    "tanh": lambda bits: (np.tanh((bits - 0.5) * np.linspace(0.1, 3, 12)), ["--threshold", "0"]),
    "sigmoid": lambda bits: (0.5 + (bits - 0.5) * 0.3, ["--threshold", ".5"]),
    "packed": lambda bits: (np.packbits(bits, axis=1), ["--bits", "12"]),
}


@pytest.mark.parametrize(
    ("script", "kind"), [*((script, "npy") for script in SCRIPTS), ("tanh", "npz"), ("tanh", "mat")]
)
def test_codes_that_scripts_leave(folder, capsys, digits, script, kind):
    bits = (digits[0][:200, 20:32] > 7).astype(np.uint8)
    y = digits[1][:200]
    codes, options = SCRIPTS[script](bits)
    labels = "y.npy"
    np.save("y.npy", y)
    if kind == "npy":
        np.save("c.npy", codes)
    elif kind == "npz":
        np.savez("c.npz", codes=codes, labels=y)
        labels = "c.npz"
    else:
        savemat("c.mat", {"B": codes, "rest": np.eye(3), "L": y, "text": "words"})
        labels = "c.mat:L"
    files = ["--database", f"c.{kind}", "--database-labels", labels]
    code, out, err = run(capsys, "evaluate", *files, *options, "--json")
    assert code == 0, err
    expected = tie_aware_average_precision_score(y, bits)
    assert json.loads(out)["ap"] == pytest.approx(expected, abs=1e-12)
    threshold = float(options[1]) if options[:1] == ["--threshold"] else None
    n_bits = 12 if script == "packed" else None
    read = read_codes(f"c.{kind}", threshold=threshold, n_bits=n_bits)
    assert read.n_bits == 12
    assert tie_aware_average_precision_score(y, read.codes, n_bits=read.n_bits) == pytest.approx(
        expected, abs=1e-12
    )


def test_queries_and_labels_in_one_file(folder, capsys, digits):
    """As a script of the field leaves them: one .mat file, one-hot labels."""
    bits, Y = (digits[0][:, 20:36] > 7), np.eye(10)[digits[1]]
    signs = 2.0 * bits - 1
    parts = {"qB": signs[:50], "rB": signs[50:300], "queryL": Y[:50], "retrievalL": Y[50:300]}
    savemat("out.mat", parts, do_compression=True)
    found = [f"out.mat:{name}" for name in ("qB", "queryL", "rB", "retrievalL")]
    names = ["--queries", "--query-labels", "--database", "--database-labels"]
    options = [word for pair in zip(names, found) for word in pair]
    code, out, err = run(capsys, "evaluate", *options, "--json")
    assert code == 0, err
    y = digits[1]
    expected = tie_aware_average_precision_score(
        y[:50], bits[:50], database=(y[50:300], bits[50:300])
    )
    assert json.loads(out)["ap"] == pytest.approx(expected, abs=1e-12)
    message = "out.mat has no array codes or code or B. It has qB (50, 16), rB (250, 16), queryL"
    assert message in refused(
        capsys, "evaluate", *options[:4], "--database", "out.mat", *options[6:]
    )


def test_codes_are_compared_with_methods(folder, capsys, digits, no_pictures):
    np.savez("theirs.npz", codes=np.tanh((digits[0][:, 20:30] - 7) / 4))
    options = ["--methods", "lsh", "--bits", "10", "--seeds", "2", "--output", "o"]
    codes = ["--codes", "theirs=theirs.npz", "--threshold", "0"]
    code, out, err = run(capsys, "compare", "--data", "digits", *options, *codes)
    assert code == 0, err
    assert "| theirs |" in out
    assert "theirs, 10 bits, seed 1: ap" in err
    assert ", given; about" in err or ", given\n" in err
    assert not re.search(r"\[[14]/4\] .*left", err)
    code, _, err = run(capsys, "compare", "--data", "digits", "--codes", "theirs.npz")
    assert code == 2
    assert "'theirs.npz' must read NAME=FILE" in err


def test_codes_are_refused_with_what_would_do(folder, capsys, digits):
    X, y = digits
    np.save("y.npy", y[:50])
    files = {
        "tanh.npy": np.tanh(X[:50, 20:30] / 8 - 1),
        "sign.npy": np.sign(X[:50, 20:30] - 7),
        "bytes.npy": X[:50, :3].astype(np.uint8) + 1,
        "few.npy": (X[:50, 20:23] > 7).astype(np.uint8),
        "nan.npy": np.full((50, 9), np.nan),
    }
    for name, codes in files.items():
        np.save(name, codes)
    evaluate = ["evaluate", "--database-labels", "y.npy", "--database"]
    for name, options, message in (
        ("tanh.npy", [], "Give threshold=0"),
        ("sign.npy", [], "Got -1, 0, 1. A sign of 0 is no bit: give threshold=0."),
        ("bytes.npy", [], "Packed bytes need their length: give n_bits=24."),
        ("few.npy", [], "few.npy are bytes in 3 columns, bits or packed: give n_bits."),
        ("nan.npy", ["--threshold", "0"], "nan.npy hold a NaN in row 0"),
        ("tanh.npy:B", [], "tanh.npy has no array 'B'."),
    ):
        assert message in refused(capsys, *evaluate, name, *options)
    other = ["--queries", "few.npy", "--query-labels", "y.npy", "--bits", "10"]
    assert "few.npy must be" in refused(capsys, *evaluate, "sign.npy", *other, "--threshold", "0")


@pytest.mark.parametrize("kind", ["text", "numbers", "text array", "zeros and ones"])
def test_label_paths_of_arrays(folder, capsys, no_pictures, kind):
    X, y = np.load("X.npy"), np.load("y.npy")
    coarse, fine = y % 2, y // 2
    names = np.array(["nought", "one", "two", "three", "four"])
    arrays = {
        "text": {"a": names[coarse], "b": names[fine]},
        "numbers": {"a": coarse, "b": fine},
        "text array": {"y": np.stack([names[coarse], names[fine]], axis=1)},
        "zeros and ones": {"y": np.stack([coarse, fine % 2], axis=1)},
    }[kind]
    np.savez("paths.npz", X=X, **arrays)
    options = ["--label-column", "a", "--label-column", "b"] if "a" in arrays else []
    if kind == "zeros and ones":
        options = ["--affinity", "hierarchical"]
    settings = ["--methods", "lsh", "--bits", "8", "--seeds", "1", "--quiet", "--output", "o"]
    code, _, err = run(capsys, "compare", "--data", "paths.npz", *options, *settings)
    assert code == 0, err
    assert "HierarchicalAffinity(), levels 0, 1, 2" in Path("o", "report.html").read_text()


def test_affinities_by_name(folder, capsys, no_pictures):
    settings = ["compare", "--data", "digits", "--methods", "lsh", "--bits", "8", "--seeds", "1"]
    settings += ["--output", "o"]
    code, _, err = run(capsys, *settings, "--affinity", "euclidean:percentiles=(20,5):levels=(1,2)")
    assert code == 0, err
    assert "percentiles=(20, 5)" in Path("o", "report.html").read_text()
    for name, message in (
        ("cosine", "affinity must be one of auto, labels, shared-labels, hierarchical, euclidean."),
        ("labels:a=1", "Invalid parameter 'a' for estimator LabelAffinity()"),
    ):
        code, _, err = run(capsys, *settings, "--affinity", name)
        assert code == 2
        assert message in err
    both = ["--affinity", "labels", "--neighbors", "3"]
    assert "--neighbors and --affinity exclude each other" in refused(capsys, *settings, *both)
    np.save("signs.npy", np.random.default_rng(0).choice([-1, 1], (1797, 4)))
    labels = ["compare", "--data", "X.npy", "--labels", "signs.npy", "--methods", "lsh"]
    assert "HierarchicalAffinity()" in refused(capsys, *labels)


def test_images_are_rows_of_pixels(folder, capsys, no_pictures, digits):
    X, y = digits
    np.savez("images.npz", X=X.reshape(-1, 8, 8), y=y)
    settings = ["--methods", "lsh", "--bits", "8", "--seeds", "1", "--quiet"]
    protocol = ["--queries", "5", "--training", "20"]
    found = []
    for data in ("images.npz", "digits.npz"):
        code, _, err = run(
            capsys, "compare", "--data", data, *settings, *protocol, "--output", data[:3]
        )
        assert code == 0, err
        found.append(rows_of(f"{data[:3]}/runs.csv"))
        assert ("1,797 images of 8 x 8, each as a row of its pixels" in err) == (len(found) == 1)
    assert found[0] == found[1]


def test_modules_register_measures(folder, capsys, no_pictures, monkeypatch, request):
    request.addfinalizer(lambda: sys.modules.pop("own_measures", None))
    monkeypatch.setattr(sys, "path", list(sys.path))
    Path("own_measures.py").write_text(
        "from sklearn_hashrank.metrics import register_measure\n"
        "def first_ten(ties, k=None):\n"
        "    return ties.hits(10) / 10\n"
        "register_measure('first_ten', first_ten)\n"
    )
    request.addfinalizer(lambda: forget(get_measure("first_ten")))
    options = ["--methods", "lsh", "--bits", "8", "--seeds", "1", "--output", "o"]
    measures = ["--measures", "first_ten,precision@10", "--import", "own_measures"]
    code, _, err = run(capsys, "compare", "--data", "digits", *options, *measures)
    assert code == 0, err
    [row] = rows_of("o/runs.csv")
    assert float(row["first_ten"]) == pytest.approx(float(row["precision@10"]), abs=1e-12)
    code, _, err = run(capsys, "compare", "--data", "digits", "--import", "no_such_module")
    assert code == 2
    said = "'no_such_module' cannot be imported: ModuleNotFoundError: No module named"
    assert f"{said} 'no_such_module'" in err
    Path("wrong_measures.py").write_text("import sklearn_hashrank\n\n1 / 0\n")
    code, _, err = run(capsys, "compare", "--data", "digits", "--import", "wrong_measures")
    assert code == 2
    assert "'wrong_measures' cannot be imported: ZeroDivisionError: division by zero" in err


def test_output_that_nobody_reads(folder, monkeypatch, capsys):
    """As of ``| head``: no error, neither then nor when Python ends and writes what is left."""
    np.save("codes.npy", np.packbits(np.load("X.npy")[:200] > 7, axis=1))
    reader, writer = os.pipe()
    os.close(reader)
    words = "search --database codes.npy --queries codes.npy --bits 64 -k 100"
    with open(writer, "w") as closed, monkeypatch.context() as patch:
        patch.setattr(sys, "stdout", closed)
        assert main(words.split()) == 0
        closed.flush()
    assert capsys.readouterr().err == ""


@pytest.fixture
def model(folder, capsys, digits):
    """Model of 20 bits of the first 1,500 digits, and a hasher that is the same."""
    X, y = digits
    np.save("train.npy", X[:1500].astype(np.float32))
    np.save("train_y.npy", y[:1500])
    np.save("query.npy", X[1500:].astype(np.float32))
    np.save("query_y.npy", y[1500:])
    fit = ["fit", "--data", "train.npy", "--labels", "train_y.npy", "--method", "itq:max_iter=5"]
    code, out, err = run(capsys, *fit, "--bits", "20", "--seed", "3", "--output", "model.npz")
    assert (code, err) == (0, "")
    assert out.startswith("model.npz: ITQHasher, 20 bits, trained on 1,500 rows of 64 features in")
    hasher = ITQHasher(20, max_iter=5, random_state=3, output="packed")
    return hasher.fit(np.load("train.npy"), y[:1500])


def test_compare_by_the_measures_that_are_asked_for(folder, capsys, no_pictures):
    chosen = ["ap@20:normalize=retrieved", "ndcg@9:gain=linear:discount=log2", "recall@30"]
    arguments = ["compare", "--data", "digits", *SMALL, "--output", "out"]
    code, out, _ = run(capsys, *arguments, "--measures", ",".join(chosen))
    assert code == 0
    assert "AP@20, normalize=retrieved" in out
    with open("out/runs.csv", encoding="utf-8") as file:
        [first, *_] = csv.DictReader(file)
    assert 0 < float(first[f"{chosen[0]}_pessimistic"]) <= float(first[chosen[0]])
    assert "NDCG@9, gain=linear, discount=log2" in Path("out/report.html").read_text()
    assert r"recall@30" in Path("out/tables.tex").read_text()
    code, _, err = run(capsys, *arguments, "--measures", "ap,ndcg@2:gain=square")
    assert code == 2
    assert "--measures: The 'gain' parameter of ndcg must be a str among" in err
    assert "has no parameter 'kk'" in run(capsys, *arguments, "--measures", "ap@3:kk=1")[2]


def test_fit_encode_evaluate_search(model, capsys):
    X, y = np.load("train.npy"), np.load("train_y.npy")
    queries, query_y = np.load("query.npy"), np.load("query_y.npy")
    for name in ("train", "query"):
        code, out, err = run(
            capsys,
            *["encode", "--model", "model.npz", "--data", f"{name}.npy", "--n-jobs", "2"],
            *["--output", f"{name}_codes.npy"],
        )
        assert (code, err) == (0, "")
    assert out == "query_codes.npy: 297 codes of 20 bits\n"
    codes, query_codes = np.load("train_codes.npy"), np.load("query_codes.npy")
    np.testing.assert_array_equal(codes, model.transform(X))
    np.testing.assert_array_equal(query_codes, model.transform(queries))

    evaluate = ["evaluate", "--database", "train_codes.npy", "--database-labels", "train_y.npy"]
    asked = ["--queries", "query_codes.npy", "--query-labels", "query_y.npy"]
    code, out, _ = run(capsys, *evaluate, *asked, "--json")
    histogram = retrieval_histogram(query_codes, codes, query_y, y, n_bits=20)
    scores = json.loads(out)
    assert scores["ap"] == histogram.average_precision().mean()
    assert scores["ph2"] == histogram.lookup_precision(radius=2).mean()
    assert scores["ap_pessimistic"] < scores["ap"] < scores["ap_optimistic"]
    code, out, _ = run(capsys, *evaluate)
    itself = retrieval_histogram(codes, codes, y, y, n_bits=20, exclude_self=True)
    shown = {line.split()[0]: line.split()[1] for line in out.splitlines()[1:]}
    assert float(shown["ndcg"]) == pytest.approx(itself.ndcg().mean(), abs=5e-5)
    assert set(shown) == {"ap", "ndcg", "ph2", "acg", "mlgap"}
    chosen = ["--measures", "recall@100,ap@50:normalize=retrieved"]
    code, out, _ = run(capsys, *evaluate, *asked, *chosen)
    assert [line.split()[0] for line in out.splitlines()[1:]] == [
        "recall@100",
        "ap@50:normalize=retrieved",
    ]
    assert f"{histogram.recall(k=100).mean():.4f}" in out.splitlines()[1]

    search = ["search", "--database", "train_codes.npy"]
    index = HammingNeighbors(n_bits=20).fit(codes)
    distances, indices = index.kneighbors(query_codes, 4)
    code, out, _ = run(capsys, *search, "--queries", "query_codes.npy", "--bits", "20", "-k", "4")
    found = [tuple(map(int, row)) for row in csv.reader(out.splitlines()[1:])]
    assert found == [
        (query, item, distance)
        for query in range(297)
        for item, distance in zip(indices[query], distances[query])
    ]
    by_model = ["--data", "query.npy", "--model", "model.npz"]
    assert run(capsys, *search, *by_model, "-k", "4", "--output", "f.npz")[0] == 0
    with np.load("f.npz") as file:
        np.testing.assert_array_equal(file["indices"], indices)
        np.testing.assert_array_equal(file["distances"], distances)
    assert run(capsys, *search, *by_model, "--radius", "2", "--output", "f.npz")[0] == 0
    near_distances, near = index.radius_neighbors(query_codes, 2, sort_results=True)
    with np.load("f.npz") as file:
        np.testing.assert_array_equal(file["indices"], np.concatenate(near))
        np.testing.assert_array_equal(file["distances"], np.concatenate(near_distances))
        np.testing.assert_array_equal(np.diff(file["indptr"]), [len(row) for row in near])
    assert run(capsys, *search, *by_model, "--radius", "2", "--output", "f.csv")[0] == 0
    assert len(rows_of("f.csv")) == sum(map(len, near))
    assert not list(Path().glob(".*"))


def test_model_files_are_files_of_hashers(model):
    """Which hold arrays and JSON; the training rows are left out."""
    with np.load("model.npz", allow_pickle=False) as file:
        np.testing.assert_array_equal(file["components_"], model.components_)
        assert "codes_" not in file
    loaded = load_hasher("model.npz")
    assert repr(loaded) == "ITQHasher(max_iter=5, n_bits=20, random_state=3)"
    X, y = np.load("query.npy"), np.load("query_y.npy")
    assert loaded.score(X, y) == model.score(X, y)


def test_tables_keep_their_columns(folder, capsys, digits):
    pd = pytest.importorskip("pandas")
    X, y = digits
    frame = pd.DataFrame(X[:300], columns=[f"pixel{i}" for i in range(64)])
    frame.assign(kind=[f"class {label}" for label in y[:300]]).to_csv("t.csv", index=False)
    fit = ["fit", "--data", "t.csv", "--label-column", "kind", "--method", "rsh", "--bits", "8"]
    assert run(capsys, *fit, "--output", "m.npz")[0] == 0
    encode = ["encode", "--model", "m.npz", "--output", "c.npy"]
    assert run(capsys, *encode, "--data", "t.csv")[0] == 0
    codes = np.load("c.npy")
    frame[sorted(frame.columns)].to_parquet("t.parquet")  # other order, no labels
    assert run(capsys, *encode, "--data", "t.parquet")[0] == 0
    np.testing.assert_array_equal(np.load("c.npy"), codes)
    frame.drop(columns="pixel9").to_csv("t.csv", index=False)
    assert "t.csv has no column 'pixel9'" in refused(capsys, *encode, "--data", "t.csv")


@pytest.mark.filterwarnings("always")
def test_undefined_scores_are_null(folder, capsys):
    np.save("codes.npy", np.eye(4, dtype=bool))
    np.save("labels.npy", np.arange(4))
    evaluate = ["evaluate", "--database", "codes.npy", "--database-labels", "labels.npy"]
    code, out, err = run(capsys, *evaluate, "--bits", "4", "--json")
    assert code == 0
    assert json.loads(out, parse_constant=pytest.fail)["ap"] is None
    assert err.count("no relevant item") == 1


@pytest.mark.filterwarnings("always")
def test_one_class_is_told(folder, capsys):
    np.save("codes.npy", np.eye(4, dtype=bool))
    np.save("labels.npy", np.zeros(4))
    evaluate = ["evaluate", "--database", "codes.npy", "--database-labels", "labels.npy"]
    code, _, err = run(capsys, *evaluate, "--bits", "4")
    assert code == 0
    assert "warning: Every pair of rows is relevant" in err


def test_the_ending_of_a_name_may_be_in_capitals(model, capsys):
    search = ["search", "--database", "codes.npy", "--queries", "codes.npy", "-k", "1"]
    np.save("codes.npy", np.eye(4, dtype=np.uint8))
    assert run(capsys, *search, "--bits", "4", "--output", "FOUND.CSV")[0] == 0
    assert Path("FOUND.CSV").read_text().startswith("query,item,distance\n0,0,0\n")


def test_more_neighbors_than_codes_are_all_of_them_and_a_note(model, capsys):
    np.save("codes.npy", np.eye(4, dtype=np.uint8))
    search = ["search", "--database", "codes.npy", "--queries", "codes.npy", "--bits", "4", "-k"]
    code, out, err = run(capsys, *search, "5")
    assert (code, len(out.splitlines())) == (0, 1 + 4 * 4)
    assert err == "hashrank: note: 5 of 4 codes were asked for: all of them are given\n"
    assert run(capsys, *search, "4") == (0, out, "")


def test_files_refuse_in_one_line(model, capsys):
    Path("folder.npz").mkdir()
    np.save("codes.npy", np.packbits(np.load("train.npy")[:, :20] > 7, axis=1))
    np.save("wide.npy", np.zeros((3, 5), dtype=np.uint8))
    np.save("real.npy", np.zeros((3, 3)))
    np.save("pads.npy", np.full((1500, 3), 255, dtype=np.uint8))
    bad = np.load("query.npy")
    bad[5, 5] = np.nan
    np.save("bad.npy", bad)
    codes = ["--database", "codes.npy", "--bits", "20"]
    labels = ["--database-labels", "train_y.npy"]
    fit = ["fit", "--data", "train.npy", "--labels", "train_y.npy"]
    for arguments, message in (
        (["fit", "--data", "train.npy", "--output", "m.pkl"], "m.pkl must end in .npz."),
        (["fit", "--data", "train.npy", "--output", "folder.npz"], "folder.npz is a folder"),
        (["fit", "--data", "train.npy", "--output", "no/m.npz"], "there is no such folder."),
        ([*fit, "--bits", "65", "--output", "m.npz"], "n_bits=65"),
        (["fit", "--data", "bad.npy", "--output", "m.npz"], "bad.npy: row 5, column 5 is nan"),
        (["encode", "--model", "no.npz", "--data", "query.npy"], "no.npz: No such file"),
        (
            ["encode", "--model", "digits.npz", "--data", "query.npy"],
            "is not a file that save_has",
        ),
        (
            ["encode", "--model", "query.npy", "--data", "query.npy"],
            "is not a file that save_has",
        ),
        (
            ["encode", "--model", "model.npz", "--data", "bad.npy"],
            "bad.npy: row 5, column 5 is nan",
        ),
        (["encode", "--model", "model.npz", "--data", "wide.npy"], "X has 5 features, but ITQHas"),
        (["evaluate", *codes, "--database-labels", "query_y.npy"], "297 labels for 1,500 items."),
        (["evaluate", *codes, *labels, "--queries", "codes.npy"], "--queries needs --query-labels"),
        (["evaluate", "--database", "pads.npy", "--bits", "20", *labels], "non-zero bits bey"),
        (
            ["search", *codes, "--queries", "wide.npy"],
            "wide.npy must be integers in 3 packed columns",
        ),
        (
            ["search", *codes, "--queries", "real.npy"],
            "real.npy must be integers in 3 packed columns",
        ),
        (["search", *codes, "--data", "query.npy"], "--data needs --model"),
        (
            ["search", *codes, "--queries", "codes.npy", "--model", "model.npz"],
            "--model needs --data",
        ),
        (
            ["search", *codes[:2], "--queries", "codes.npy"],
            "Packed bytes need their length: give n_bits=24.",
        ),
        (
            ["search", *codes[:3], "9", "--data", "query.npy", "--model", "model.npz"],
            "--bits 9, but model.npz has 20.",
        ),
        (["search", *codes, "--queries", "codes.npy", "--output", "f.txt"], ".csv or .npz"),
    ):
        output = ["--output", "c.npy"] if arguments[0] == "encode" else []
        assert message in refused(capsys, *arguments, *output)
    assert not Path("c.npy").exists()


def test_a_fit_says_how_far_it_is(folder, capsys):
    """Every tenth pass, on standard error. The file holds the parameters of the user."""
    fit = ["fit", "--data", "digits", "--bits", "4", "--method"]
    code, out, err = run(capsys, *fit, "talr-ap:max_iter=12", "--output", "a.npz")
    assert (code, out.count("\n"), err.count("\n")) == (0, 2, 1)
    assert (
        run(capsys, *fit, "talr-ap:max_iter=12:verbose=4", "--output", "b.npz")[2].count("\n") == 3
    )
    a, b = load_hasher("a.npz"), load_hasher("b.npz")
    assert_array_equal(a.components_, b.components_)
    assert (a.verbose, b.verbose) == (0, 4)


def test_methods_lists_every_name_with_a_line(capsys):
    assert main(["methods"]) == 0
    printed = capsys.readouterr().out
    for name, method in METHODS.items():
        assert any(
            line.split()[0] == name and line.endswith(method.line) for line in printed.splitlines()
        )
    assert printed.endswith("\n* refuses rows without labels\n")


@pytest.mark.parametrize("name", METHODS_HERE)
def test_methods_lists_the_parameters_of_a_method(name, capsys):
    assert main(["methods", name]) == 0
    first, *lines, last = capsys.readouterr().out.splitlines()
    assert first == f"{name}: {METHODS[name].line}"
    assert last.endswith(f" The class is {type(METHODS[name].hasher).__name__}.")
    parameters = METHODS[name].hasher.get_params()
    of_objective = {key: value for key, value in parameters.items() if "objective__" in key}
    if of_objective:
        parameters = {key: parameters[key] for key in parameters.keys() - of_objective}
        parameters |= {key.removeprefix("objective__"): of_objective[key] for key in of_objective}
    wanted = {f"{key}={parameters[key]!r}" for key in parameters}
    wanted -= {f"{key}={parameters.get(key)!r}" for key in ("n_bits", "random_state", "output")}
    said = dict(re.split(r"  +", line.strip(), maxsplit=1) for line in lines)
    assert set(said) == wanted
    for sentence in said.values():
        assert sentence.count("`") == sentence.count("  ") == 0
        assert len(sentence) > 5


def test_methods_lists_what_a_notation_sets(capsys):
    assert main(["methods", "itq:max_iter=7"]) == 0
    assert capsys.readouterr().out.splitlines()[1] == (
        "  max_iter=7  Largest number of alternations between codes and rotation."
    )
    assert main(["methods", "itg"]) == 2
    assert capsys.readouterr().err.startswith(
        "hashrank: error: unknown method 'itg'. Did you mean 'itq'?"
    )


def test_suggest_prints_the_choice_and_the_command_that_learns_it(folder, capsys):
    rng = np.random.default_rng(0)
    y = np.arange(90) % 3
    X = rng.normal(size=(3, 4))[y] + 0.2 * rng.normal(size=(90, 4))
    names = np.array(["red one", "green", "blue"])[y]
    lines = [",".join(["a", "b", "c", "d", "kind of"])]
    lines += [",".join([*map(str, row), name]) for row, name in zip(X, names, strict=True)]
    Path("my items.csv").write_text("\n".join(lines))
    arguments = ["suggest", "--data", "my items.csv", "--label-column", "kind of", "--bits", "3"]
    arguments += ["--methods", "lsh,rsh,itq", "--splits", "2"]
    code, out, err = run(capsys, *arguments)
    assert code == 0
    first, *_, last = out.splitlines()
    assert first.startswith("Take ")
    assert "| rsh " in out
    assert "rsh, 3 bits, seed 1: ap " in err
    method = first.removeprefix("Take ").partition(":")[0]
    assert last == (
        "command: hashrank fit --data 'my items.csv' --label-column 'kind of' "
        f"--method {method} --bits 3 --output model.npz"
    )
    assert run(capsys, *shlex.split(last.removeprefix("command: hashrank ")))[0] == 0
    np.savez("rows.npz", X=X.astype(np.float32), y=np.eye(3, dtype=np.float32)[y])
    code, out, err = run(
        capsys, "suggest", "--data", "rows.npz", "--bits", "3", "--methods", "rsh", "--quiet"
    )
    assert code == 0
    assert not err
    assert "relevance: y: 3 classes of 30 rows" in out


@pytest.mark.parametrize("method", ["rsh", "itq"])
def test_suggest_and_fit_take_an_affinity(folder, capsys, method):
    X = np.random.default_rng(0).normal(size=(90, 4))
    lines = ["a,b,c,d,target", *(",".join(map(str, [*row, row[0]])) for row in X)]
    Path("rows.csv").write_text("\n".join(lines))
    data = ["--data", "rows.csv", "--label-column", "target", "--bits", "3"]
    affinity = "euclidean:levels=(1, 2):percentiles=(30, 10)"
    settings = ["--methods", method, "--splits", "1", "--affinity", affinity]
    code, out, _ = run(capsys, "suggest", *data, *settings)
    assert code == 0
    command = shlex.split(out.splitlines()[-1].removeprefix("command: hashrank "))
    assert (affinity in command) == (method == "rsh")
    assert run(capsys, *command)[0] == 0
    fitted = load_hasher("model.npz")
    if method == "rsh":
        assert fitted.affinity.percentiles == (30, 10)
    else:
        line = refused(capsys, *command, "--affinity", "euclidean")
        assert "itq has no parameter 'affinity'" in line


def test_suggest_without_labels_and_what_it_refuses(folder, capsys):
    X = np.random.default_rng(0).normal(size=(60, 4))
    np.save("rows.npy", X)
    options = ["--methods", "lsh,itq", "--bits", "4", "--splits", "1"]
    code, out, _ = run(capsys, "suggest", "--data", "rows.npy", *options)
    assert code == 0
    assert "no labels: the nearest rows" in out
    assert "recall@10" in out
    for name, searched in (("talr-ndcg", "asymmetric"), ("autoencoder", "decoded")):
        options = ["--methods", f"{name}:distance={searched}", "--bits", "4", "--splits", "1"]
        code, out, _ = run(capsys, "suggest", "--data", "rows.npy", *options)
        assert (code, f"search: by the {searched} distance" in out) == (0, True)
        command = out.splitlines()[-1].removeprefix("command: hashrank ")
        assert run(capsys, *shlex.split(command))[0] == 0
    np.save("one.npy", np.zeros(60, int))
    line = refused(capsys, "suggest", "--data", "rows.npy", "--labels", "one.npy", "--quiet")
    assert line.startswith("suggest has nothing to learn from")
    line = refused(capsys, "suggest", "--data", "rows.npy", "--labels", "one.npy", "--methods", "x")
    assert line.startswith("unknown method 'x'")


def test_compare_samples_rows_with_all_that_belongs_to_them(folder, capsys, no_pictures):
    X, y = load_digits(return_X_y=True)
    np.savez("digits.npz", X=X, y=y)
    np.save("codes.npy", (X[:, 20:28] > 5).astype(np.uint8))
    Path("texts.txt").write_text("\n".join(map(str, y)))
    options = ["--data", "digits.npz", "--rows", "400", "--methods", "lsh", "--bits", "8"]
    options += ["--seeds", "1", "--codes", "given=codes.npy", "--explore", "--texts", "texts.txt"]
    code, _, err = run(capsys, "compare", *options, "--output", "out")
    assert (code, "400 of 1,797 rows" in err) == (0, True)
    data = read(Path("out/explore.html"))
    words = data["labels"]["words"]
    texts = data["items"]["texts"]
    assert 300 < len(texts) <= 400
    assert [words[place] for place in array(data["labels"]["of"])] == texts
    assert {model["name"] for model in data["models"]} == {"lsh", "given"}


def test_names_of_methods_in_tables(folder, capsys, no_pictures):
    options = ["--data", "digits", "--bits", "8", "--seeds", "1", "--quiet", "--output", "o"]
    code, _, err = run(capsys, "compare", *options, "--methods", "ours=itq:max_iter=3,lsh")
    assert (code, err) == (0, "")
    assert "    ours & " in Path("o/tables.tex").read_text()
    line = refused(capsys, "compare", *options, "--methods", "a=itq,a=lsh")
    assert "'a' twice" in line


def test_a_sample_of_a_large_file_takes_little_memory(tmp_path, capsys, monkeypatch, no_pictures):
    monkeypatch.chdir(tmp_path)
    np.save("many.npy", np.random.default_rng(0).standard_normal((300_000, 64), np.float32))
    words = "compare --methods lsh --bits 8 --seeds 1 --neighbors 5 --quiet --rows"
    assert run(capsys, *words.split(), "300", "--data", "digits")[0] == 0  # all is loaded
    tracemalloc.start()
    try:
        assert run(capsys, *words.split(), "1000", "--data", "many.npy")[0] == 0
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < Path("many.npy").stat().st_size / 4


CODES = ["evaluate", "--database", "y.npy", "--database-labels", "y.npy"]
RUN = ["evaluate", "--run", "run", "--qrels", "qrels"]
DIGITS = ["--data", "digits", "--output", "new.npz"]


def test_every_mistake_in_a_measure_is_the_user_s(folder, capsys):
    Path("run").write_text("q1 Q0 a 1 0.5 x\n")
    Path("qrels").write_text("q1 0 a 1\n")
    for value in ("ndcg:gain=3", "ndcg@x", "ndcg:gain", "nothing", "ap:k=(", "ap:k=-1"):
        assert re.search("Got|among|parameter=value", refused(capsys, *CODES, "--measures", value))
    for command in (
        [*RUN, "--measures"],
        ["compare", "--data", "digits", "--measures"],
        ["suggest", "--data", "digits", "--measure"],
    ):
        assert re.search("foo.*gain.*discount", refused(capsys, *command, "ndcg:foo=1"))


def test_every_mistake_in_a_method_is_the_user_s(folder, capsys):
    wrong = ("itq:foo=1", "itq:max_iter=x", "itq:max_iter", "itg", "itq:max_iter=(", ":", "itq:=3")
    for value in wrong:
        refused(capsys, "fit", *DIGITS, "--method", value)
    refused(capsys, "methods", "itg")


@pytest.mark.parametrize("value", ["labels:x=1", "labels:x", "euclidean:levels=7", "near", ""])
def test_every_mistake_in_an_affinity_is_the_user_s(folder, capsys, value):
    for command in ([*CODES, "--bits", "1"], ["fit", *DIGITS, "--method", "rsh"]):
        code, _, err = run(capsys, *command, "--affinity", value)
        assert code == 2
        assert "unexpected" not in err


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ([*CODES, "--metric", "euclidean"], "--metric needs --neighbors or --rescore"),
        ([*CODES, "--query-data", "X.npy"], "--query-data needs --queries"),
        ([*CODES, "--database-data", "X.npy"], "--database-data needs --rescore or --neighbors"),
        ([*CODES, "--model", "m.npz"], "--model needs --rescore"),
        (["compare", "--data", "digits", "--metric", "cosine"], "--metric needs --neighbors"),
    ],
)
def test_options_that_nothing_would_use_are_refused(folder, capsys, command, message):
    assert message in refused(capsys, *command)


def test_label_paths_keep_their_names(folder, capsys, no_pictures):
    """In errors, in what is said of the choice, and on pages."""
    y = np.load("y.npy")[:40] % 3
    coarse = np.array(["pet", "pet", "tool"])[y]
    fine = np.array(["cat", "dog", "saw"], dtype="U9")[y]
    fine[:3] = "one-off"
    np.savez("paths.npz", X=np.load("X.npy")[:40], coarse=coarse, fine=fine)
    data = ["--data", "paths.npz", "--label-column", "coarse", "--label-column", "fine"]
    settings = ["--methods", "lsh", "--bits", "8", "--seeds", "1", "--output", "o"]
    few = ["--protocol", "per-class", "--queries", "1", "--training", "2"]
    assert " / one-off" in refused(capsys, "compare", *data, *settings, *few)
    code, _, err = run(capsys, "compare", *data, *settings, "--explore")
    assert code == 0, err
    assert " / one-off, has" in err
    assert '"pet / dog"' in Path("o", "explore.html").read_text()
    for method in ("lsh", "talr-ndcg:max_iter=2"):
        assert run(capsys, "fit", *data, "--method", method, "--output", "m.npz")[0] == 0
    code, _, err = run(capsys, "explore", *data, "--model", "m.npz", "--output", "p.html")
    assert code == 0, err
    assert '"tool / saw"' in Path("p.html").read_text()


def test_columns_of_paths_that_are_numbers_are_compared_as_numbers():
    for column in ([0.0, -0.0, 1.0], [0.5, 0.5, 1e300], [2**53, 2**53 + 1, 2**53]):
        values = np.array(column)
        [paths] = name_paths(["a", "b"], np.stack([values, values], axis=1))
        equal = paths[:, None, 0] == paths[None, :, 0]
        assert_array_equal(equal, values[:, None] == values)
