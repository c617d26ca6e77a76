"""No output replaces an input: every command, and every way to name what is read."""

import os
import shutil
from itertools import product
from pathlib import Path

import fsspec
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sklearn_hashrank import ITQHasher, save_hasher
from sklearn_hashrank.cli import main

X = np.random.default_rng(0).normal(size=(60, 5))
Y = np.arange(60) % 3


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    hasher = ITQHasher(4, random_state=0).fit(X)
    save_hasher("model.npz", hasher)
    np.save("codes.npy", hasher.transform(X))
    Path("labels.csv").write_text("y\n" + "\n".join(map(str, Y)))
    Path("qrels.txt").write_text("0 0 1 1\n")
    Path("run.txt").write_text("0 Q0 1 1 0.5 us\n")
    lists = pa.FixedSizeListArray.from_arrays(X.ravel(), 5)
    for place in ("items/a", "items/b", "items/deep/c"):
        Path(place).parent.mkdir(exist_ok=True)
        pq.write_table(pa.table({"y": Y, "embedding": lists}), f"{place}.parquet")
    Path("link.parquet").symlink_to("items/a.parquet")
    os.link("items/a.parquet", "hard.parquet")
    Path("linked").symlink_to("items")
    return tmp_path


REASONS = ("read from", "is not empty", "pattern")


def contents():
    return {path: path.read_bytes() for path in Path().rglob("*") if path.is_file()}


def assert_refused(capsys, words):
    before = contents()
    assert main(words) == 2
    line = capsys.readouterr().err
    assert line.startswith("hashrank: error: ")
    assert line.count("\n") == 1
    assert any(reason in line for reason in REASONS)
    assert contents() == before
    return line


# What names a.parquet, and is a folder or a file of that name as an output.
WAYS = [
    "items/a.parquet",
    "items/a.parquet:embedding",
    "items",
    "items/",
    "items/*.parquet",
    "items/**/*.parquet",
    "it*s/a.parquet",
    "items/b.parquet,items/a.parquet",
    "link.parquet",
    "hard.parquet",
    "{here}/items/a.parquet",
    "linked",
    "linked/a.parquet",
    "./items/../items/a.parquet",
    "file://{here}/items/a.parquet",
    "local://{here}/items/a.parquet",
    "items/[a-z].parquet",
]
WRITTEN = [
    "encode --model model.npz --data {way} --output",
    "explore --data {way} --model model.npz --output page.html --neighbors-output",
    "search --database {way} --queries codes.npy --run",
    "search --database codes.npy --queries {way} --run",
    "search --database codes.npy --data {way} --model model.npz --run",
    "search --database codes.npy --data new.npy --model model.npz --rescore {way} --run",
]


@pytest.mark.parametrize("way", WAYS)
def test_every_way_to_name_an_input(folder, capsys, way):
    words = WRITTEN[0].format(way=way.format(here=folder)).split()
    for place in ("", f"file://{folder}/", f"local://{folder}/"):
        assert_refused(capsys, [*words, f"{place}items/a.parquet"])


@pytest.mark.parametrize("command", WRITTEN[1:])
def test_every_option_that_names_an_input(folder, capsys, command):
    for way in ("items/a.parquet", "items", "items/*.parquet", "hard.parquet"):
        assert_refused(capsys, [*command.format(way=way).split(), "items/a.parquet"])


@pytest.mark.parametrize("way", ["items", "linked/", "items/*.parquet"])
def test_another_name_of_a_file_in_what_is_read(folder, capsys, way):
    words = ["encode", "--model", "model.npz", "--data", way, "--output", "hard.parquet"]
    assert_refused(capsys, words)


PLACES = ["memory://in/a.npy", "memory:///in/a.npy", "memory://in/b/../a.npy"]


def test_every_spelling_of_an_address(folder, capsys):
    memory = fsspec.filesystem("memory")
    memory.pipe("/in/a.npy", Path("codes.npy").read_bytes())
    before = memory.cat("/in/a.npy")
    for given, output in product([*PLACES, "simplecache::memory://in/a.npy"], PLACES):
        assert main(["encode", "--model", "model.npz", "--data", given, "--output", output]) == 2
        assert "read from" in capsys.readouterr().err
        assert memory.cat("/in/a.npy") == before
    memory.rm("/in", recursive=True)


@pytest.mark.parametrize(
    ("pattern", "output", "is_refused"),
    [
        ("items/*.parquet", "items/new.parquet", True),
        ("items/**/*.parquet", "items/deep/new.parquet", True),
        ("items/**/*.parquet", "items/new.parquet", True),
        ("items/*/*.parquet", "items/new", True),
        ("linked/*.parquet", "items/new.parquet", True),
        ("{here}/items/*.parquet", "items/new.parquet", True),
        ("*/*.parquet", "items/new.parquet", True),
        ("../*/items/*.parquet", "items/new.parquet", True),
        ("items/[a-c].parquet", "items/c.parquet", True),
        ("items/[a-c].parquet", "items/d.parquet", False),
        ("items/*.parquet", "items/deep/new.parquet", False),
        ("items/a*.parquet,items/b*.parquet", "items/bc.parquet", True),
    ],
)
def test_what_a_pattern_would_find_the_next_time_is_not_written(
    folder, capsys, pattern, output, is_refused
):
    data = pattern.format(here=folder)
    words = ["encode", "--model", "model.npz", "--data", data, "--output", output]
    if is_refused:
        assert "pattern" in assert_refused(capsys, words)
    else:
        assert main(words) == 0


def test_folders_of_codes_are_apart_from_what_is_read(folder, capsys):
    encode = ["encode", "--model", "model.npz", "--data"]
    for way, output in product(WAYS, ["items", "linked"]):
        assert_refused(capsys, [*encode, way.format(here=folder), "--output", output])
    for way, output in product(["items", "linked/"], ["items/new", "linked/new", "items/deep/x"]):
        assert_refused(capsys, [*encode, way, "--output", output])


EVALUATE = "evaluate --database codes.npy --database-labels labels.csv --per-query"
OTHERS = [
    f"{EVALUATE} labels.csv",
    "evaluate --database codes.npy --queries codes.npy --query-labels labels.csv "
    "--database-labels y.npy --per-query labels.csv",
    "evaluate --run run.txt --qrels qrels.csv --per-query qrels.csv",
    "evaluate --run run.csv --qrels qrels.txt --per-query run.csv",
    "evaluate --run run.txt --qrels qrels.txt --baseline run.csv --per-query run.csv",
    "fit --data items --labels x.npz --output x.npz",
    "fit --data items --qrels x.npz --output x.npz",
    "fit --data x.npz --output x.npz",
    "fit --data x.npz:X --output x.npz",
    "encode --data items --model x.npy --output x.npy",
    "explore --data items --model m.npz,page.html --output page.html",
    "explore --data items --model model.npz --texts page.html --output page.html",
    "compare --data report/runs.csv --output report",
    "compare --data report/runs/x.npz --output report",
    "compare --data items --labels report/tables.md --output report",
    "compare --data items --codes ours=report/report.html --output report",
    "search --database codes.npy --data x.npz --model model.npz --output x.npz",
]


@pytest.mark.parametrize("command", OTHERS)
def test_other_inputs_of_every_command(folder, capsys, command):
    Path("report/runs").mkdir(parents=True)
    for path in ("runs.csv", "runs/x.npz", "tables.md", "report.html"):
        shutil.copy("labels.csv", f"report/{path}")
    for path in ("x.npz", "x.npy", "qrels.csv", "run.csv", "page.html"):
        shutil.copy("labels.csv", path)
    assert_refused(capsys, command.split())


def test_outputs_beside_their_inputs_are_written(folder):
    encode = "encode --model model.npz --data"
    for command in (
        f"{EVALUATE} values.csv --bits 4",
        f"{encode} items/a.parquet --output items/a.npy",
        f"{encode} items/*.parquet --output codes",
    ):
        assert main(command.split()) == 0
