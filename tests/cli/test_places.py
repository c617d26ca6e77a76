"""Files on other file systems, patterns, and several files as one."""

import re
from pathlib import Path

import fsspec
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sklearn_hashrank.cli import _file_systems
from sklearn_hashrank.cli._parquet_files import find_parquet
from tests.cli.commands import refusal, run

N, WIDTH, BITS = 300, 10, 9
RNG = np.random.default_rng(1)
X = RNG.normal(size=(N, WIDTH)).astype(np.float32)
Y = RNG.integers(0, 3, N)


def table(part=slice(None)):
    lists = pa.FixedSizeListArray.from_arrays(X[part].ravel(), WIDTH)
    return pa.table({"id": np.arange(N)[part] + 1000, "y": Y[part], "embedding": lists})


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    pq.write_table(table(), "items.parquet")
    Path("items").mkdir()
    for number in range(3):
        pq.write_table(table(slice(100 * number, 100 * number + 100)), f"items/{number}.parquet")
    np.save("items.npy", X)
    np.savez("items.npz", X=X, y=Y)
    memory = fsspec.filesystem("memory")
    memory.store.clear()
    memory.pseudo_dirs[:] = [""]
    for path in Path().rglob("*.*"):
        memory.pipe(f"/in/{path.as_posix()}", path.read_bytes())
    yield memory
    memory.store.clear()
    memory.pseudo_dirs[:] = [""]


def all_steps(place, there, data):
    """Fit, encode, search and evaluate, with all files at a place."""
    model, codes, found = f"{there}/m.npz", f"{there}/codes", f"{there}/found.csv"
    run("fit", "--data", f"{place}/{data}", "--bits", BITS, "--output", model)
    run("encode", "--model", model, "--data", f"{place}/{data}", "--output", codes)
    run("encode", "--model", model, "--data", f"{place}/items.npy", "--output", f"{there}/q.npy")
    run(
        *("search", "--model", model, "--data", f"{place}/items.parquet", "--database", codes),
        *("-k", 7, "--output", found),
    )
    run(
        *("evaluate", "--queries", f"{there}/q.npy", "--query-labels", f"{place}/items.npz:y"),
        *("--database", codes, "--database-labels", f"{place}/{data}", "--label-column", "y"),
        *("--per-query", f"{there}/values.csv", "--json"),
    )


def without_times(text):
    return re.sub(r"in [\d.e-]+ s\b", "", text)


@pytest.mark.parametrize("data", ["items", "items/*.parquet"])
def test_addresses_give_what_paths_give(data, folder, capsys, tmp_path):
    Path("out").mkdir()
    all_steps(".", "out", data)
    printed = without_times(capsys.readouterr().out)
    wanted = {name: Path(f"out/{name}").read_bytes() for name in ("m.npz", "found.csv", "q.npy")}
    for place, there in (
        ("memory://in", "memory://out"),
        (f"file://{tmp_path}", f"file://{tmp_path}/again"),
    ):
        Path("again").mkdir(exist_ok=True)
        all_steps(place, there, data)
        again = capsys.readouterr().out.replace(there, "out")
        assert without_times(again.replace(f"{tmp_path}/again", "out")) == printed
        for name, content in wanted.items():
            with fsspec.open(f"{there}/{name}", "rb") as file:
                assert file.read() == content
    assert folder.exists("/out/codes/part-00000.parquet")


def test_a_folder_at_an_address_is_complete_and_new(folder, capsys):
    run("fit", "--data", "memory://in/items", "--bits", BITS, "--output", "m.npz")
    encode = "encode", "--model", "m.npz", "--data", "memory://in/items", "--shard-rows", 100
    run(*encode, "--output", "memory://out/codes")
    run("encode", "--model", "m.npz", "--data", "items.npy", "--output", "q.npy")
    search = "search", "--queries", "q.npy", "--database", "memory://out/codes"
    run(*search)
    folder.rm("/out/codes/part-00001.parquet")
    assert "memory://out/codes holds 200 of 300 codes" in refusal(capsys, *search)
    assert "is not empty" in refusal(capsys, *encode, "--output", "memory://out/codes")
    assert "is in the folder that is read" in refusal(
        capsys, *encode, "--output", "memory://in/items/codes"
    )


def test_nothing_appears_at_an_address_where_a_command_fails(folder, capsys):
    folder.pipe("/in/bad.npy", Path("items.npy").read_bytes()[:-7])
    message = refusal(
        capsys,
        *("fit", "--data", "memory://in/bad.npy", "--bits", BITS, "--output", "memory://o/m.npz"),
    )
    assert "bad.npy" in message
    assert not folder.exists("/o/m.npz")
    for path, reason in (
        ("memory://in/none.parquet", "no such file"),
        ("memory://in/none.npy", "none.npy"),
        ("nowhere://in/items", "Protocol not known: nowhere"),
    ):
        assert reason in refusal(capsys, "fit", "--data", path, "--bits", BITS, "--output", "m.npz")


def test_several_files_are_one():
    for path, files in (
        ("items/0.parquet,items/2.parquet", ["items/0.parquet", "items/2.parquet"]),
        ("items/2.parquet,items/0.parquet", ["items/2.parquet", "items/0.parquet"]),
        ("items/[12].parquet", ["items/1.parquet", "items/2.parquet"]),
        ("items.parquet,items", ["items.parquet", *(f"items/{i}.parquet" for i in range(3))]),
    ):
        assert find_parquet(path).files == files
        named = find_parquet(f"{path}:embedding")
        assert (named.files, named.column) == (files, "embedding")
    assert find_parquet("items/0.parquet,missing.parquet") is None
    assert find_parquet("items.npy") is None


def test_what_is_an_address():
    assert _file_systems.is_url("s3://bucket/a.parquet")
    assert _file_systems.is_url("simplecache::s3://bucket/a.parquet")
    assert not any(
        map(_file_systems.is_url, ("a.npz:X", "C:\\a.npy", "/a//b", None, 3, "cifar100:a"))
    )


def test_copies_of_remote_files_are_called_by_their_addresses(folder, capsys):
    """In errors, notes and warnings."""
    bad = X.copy()
    bad[7, 3] = np.nan
    np.save("bad.npy", bad)
    folder.pipe("/in/bad.npy", Path("bad.npy").read_bytes())
    folder.pipe("/in/junk.npz", b"nothing")
    np.save("images.npy", X[:, :9].reshape(-1, 3, 3))
    folder.pipe("/in/images.npy", Path("images.npy").read_bytes())
    fit = "fit", "--bits", BITS, "--output", "m.npz", "--data"
    for address, said in (
        ("memory://in/bad.npy", "memory://in/bad.npy: row 7, column 3 is nan"),
        ("memory://in/junk.npz", "memory://in/junk.npz: not a .npz file"),
        ("memory://in/missing.npy", "memory://in/missing.npy: no such file"),
    ):
        message = refusal(capsys, *fit, address)
        assert said in message
        assert "/tmp" not in message
    run(*fit, "memory://in/images.npy")
    assert "note: memory://in/images.npy: 300 images" in capsys.readouterr().err
