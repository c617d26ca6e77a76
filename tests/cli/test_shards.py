"""Codes in folders of tables: searched and evaluated as one, and refused where they are not."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sklearn_hashrank import HammingNeighbors, load_hasher
from sklearn_hashrank.cli import _codes, _command_encode, main
from sklearn_hashrank.cli._parquet_files import find_parquet
from sklearn_hashrank.cli._parquet_table import parquet_codes, write_codes
from sklearn_hashrank.neighbors import _chunked
from tests.cli.commands import refusal, run

N, WIDTH, BITS = 600, 12, 10
RNG = np.random.default_rng(0)
X = RNG.normal(size=(N, WIDTH)).astype(np.float32)
Y = RNG.integers(0, 3, N)
IDS = np.array([f"item-{number}" for number in RNG.permutation(N)])
PARTS = {"2024/b": slice(0, 100), "2024/c": slice(100, 350), "2025/a": slice(350, N)}
SMALL = 70


def write(path, part=slice(None), rows=X, **more):
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    lists = pa.FixedSizeListArray.from_arrays(rows[part].ravel(), WIDTH)
    columns = {"id": IDS[part], "y": Y[part], **more}
    pq.write_table(pa.table({**columns, "embedding": lists}), path, row_group_size=60)


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """Rows in one file and in a tree of three, a hasher of both, and queries."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(_codes, "_MOST_ROWS_OF_A_BLOCK", 64)
    monkeypatch.setattr(_codes, "_CODES_OF_A_BLOCK", 110)
    monkeypatch.setattr(_chunked, "_BLOCK_BYTES", 2 * 130)
    write("items.parquet")
    for name, part in PARTS.items():
        write(f"items/{name}.parquet", part)
    Path("items/_SUCCESS").touch()
    Path("items/_temporary").mkdir()
    write("items/_temporary/half.parquet", slice(0, 5))
    write("new.parquet", slice(0, 40))
    run("fit", "--data", "items.parquet", "--bits", BITS, "--output", "m.npz")
    return tmp_path


ENCODE = "encode", "--model", "m.npz", "--data"


def test_tables_hold_the_codes_of_their_rows():
    run(*ENCODE, "items", "--output", "codes", "--shard-rows", SMALL)
    packed = load_hasher("m.npz").packed_codes(X)
    names = sorted(path.name for path in Path("codes").iterdir())
    assert names == [f"part-{number:05}.parquet" for number in range(-(-N // SMALL))]
    for number, name in enumerate(names):
        part = slice(number * SMALL, (number + 1) * SMALL)
        found = pq.read_table(f"codes/{name}")
        assert found["id"].to_pylist() == IDS[part].tolist()
        assert found["code"].to_pylist() == [row.tobytes() for row in packed[part]]


@pytest.mark.parametrize(
    ("data", "more"),
    [
        ("items", ["--shard-rows", SMALL]),
        ("items.parquet", ["--shard-rows", 10 * N]),
        ("items/*/*.parquet", []),
    ],
    ids=["folder", "file", "pattern"],
)
def test_what_is_found_and_measured_is_that_of_one_file(more, data, capsys):
    """Neighbors with ties at every place, and histograms, do not depend on shards."""
    run(*ENCODE, "items.parquet", "--output", "codes.parquet")
    run(*ENCODE, data, "--output", "codes", *more)
    run(*ENCODE, "new.parquet", "--output", "q.parquet")
    search = "search", "--model", "m.npz", "--data", "new.parquet", "--database"
    for how_far in (["-k", 25], ["--radius", 3]):
        for database in ("codes.parquet", "codes"):
            run(*search, database, *how_far, "--output", f"{database}.csv")
        assert Path("codes.csv").read_text() == Path("codes.parquet.csv").read_text()
    run(*search, "codes", "-k", 3, "--output", "found.npz")
    with np.load("found.npz") as found:
        np.testing.assert_array_equal(found["ids"], IDS[found["indices"]])
    printed = []
    for database, rows in (("codes.parquet", "items.parquet"), ("codes", data)):
        capsys.readouterr()
        for queries in (["--queries", "q.parquet", "--query-labels", "new.parquet"], []):
            run(
                *("evaluate", "--database", database, "--database-labels", rows, *queries),
                *("--label-column", "y", "--per-query", f"{database}.values.csv", "--json"),
            )
        printed.append(capsys.readouterr().out)
    assert printed[0] == printed[1]
    assert Path("codes.values.csv").read_text() == Path("codes.parquet.values.csv").read_text()


def test_names_of_folders_may_be_ids():
    for year in (2020, 2021):
        write(f"years/year={year}/0.parquet", slice(0, 50))
    encode = *ENCODE, "years", "--shard-rows", 60, "--output", "codes", "--id-column", "year"
    run(*encode)
    assert pq.read_table("codes")["id"].to_pylist() == [2020] * 50 + [2021] * 50


def test_files_without_rows_are_passed_over(capsys):
    """Programs that write a file for each partition write such files."""
    write("items/2024/0.parquet", slice(0, 0))
    run(*ENCODE, "items", "--output", "codes.parquet")
    assert pq.read_table("codes.parquet")["id"].to_pylist() == IDS.tolist()
    write("none.parquet", slice(0, 0))
    message = refusal(capsys, *ENCODE, "none.parquet", "--output", "others")
    assert "none.parquet: there are no rows" in message
    assert not Path("others").exists()


def test_damaged_tables_are_refused(capsys):
    run(*ENCODE, "items", "--output", "codes")
    place = Path("codes/part-00000.parquet")
    whole = place.read_bytes()
    code = load_hasher("m.npz").packed_codes(X[:1])[0].tobytes()
    at = whole.index(code)
    search = "search", "--database", "codes", "--model", "m.npz", "--data", "new.parquet"
    for damaged in (whole[:at] + bytes([code[0] ^ 1]) + whole[at + 1 :], whole[:100], b""):
        place.write_bytes(damaged)
        assert "codes/part-00000.parquet: cannot be read as parquet" in refusal(capsys, *search)


def test_incomplete_and_mixed_folders_are_refused(capsys):
    run(*ENCODE, "items", "--output", "codes", "--shard-rows", SMALL)
    search = "search", "--model", "m.npz", "--data", "new.parquet", "--database"
    run(*search, "codes")
    Path("codes/part-00003.parquet").rename("one.parquet")
    assert "codes holds 530 of 600 codes" in refusal(capsys, *search, "codes")
    Path("one.parquet").rename("codes/part-00003.parquet")
    run(*search, "codes")
    run("fit", "--data", "items", "--bits", BITS, "--method", "lsh", "--output", "m.npz")
    assert "codes has the codes of another model than m.npz" in refusal(capsys, *search, "codes")
    run(*ENCODE, "new.parquet", "--output", "q.parquet")
    message = "q.parquet has the codes of another model than codes"
    both = "--database", "codes", "--queries", "q.parquet"
    assert message in refusal(capsys, "search", *both)
    labels = "--database-labels", "items", "--query-labels", "new.parquet", "--label-column", "y"
    assert message in refusal(capsys, "evaluate", *both, *labels)
    run(*ENCODE, "items", "--output", "others", "--shard-rows", SMALL)
    Path("codes/part-00003.parquet").replace("others/part-00003.parquet")
    assert "have different models" in refusal(capsys, *search, "others")


def test_folders_that_hold_something_are_refused(capsys):
    run(*ENCODE, "items", "--output", "codes")
    before = Path("codes/part-00000.parquet").read_bytes()
    for output, reason in (
        ("codes", "codes is not empty"),
        ("items", "items is not empty"),
        ("items/codes", "is in the folder that is read from, items"),
        ("missing/codes", "there is no such folder"),
        ("codes.txt", "must end in .npy or .parquet"),
    ):
        assert reason in refusal(capsys, *ENCODE, "items", "--output", output)
    message = refusal(capsys, *ENCODE, "items", "--output", "c.parquet", "--shard-rows", 5)
    assert "--shard-rows is for a folder" in message
    assert Path("codes/part-00000.parquet").read_bytes() == before
    Path("empty").mkdir()
    run(*ENCODE, "items", "--output", "empty")
    assert Path("empty/part-00000.parquet").read_bytes() == before


def test_a_folder_appears_when_all_its_files_are_written(monkeypatch, capsys):
    """So a process that is killed leaves none."""
    written = []

    def write_until_the_second(*arguments):
        assert not Path("codes").exists()
        write_codes(*arguments)
        written.append(arguments[0])
        if len(written) == 2:
            raise KeyboardInterrupt

    command = [*ENCODE, "items.parquet", "--output", "codes", "--shard-rows", "100"]
    with monkeypatch.context() as patch:
        patch.setattr(_command_encode, "write_codes", write_until_the_second)
        assert main(command) == 130
    assert len(written) == 2
    assert not Path("codes").exists()
    assert not [*Path().glob(".hashrank-*")]
    run(*command)
    assert len([*Path("codes").iterdir()]) == 6


def test_codes_of_files_are_searched_as_codes_in_memory():
    run(*ENCODE, "items", "--shard-rows", SMALL, "--output", "codes")
    stored = parquet_codes(find_parquet("codes"))
    packed = load_hasher("m.npz").packed_codes(X)
    one = HammingNeighbors(30, n_bits=BITS).fit(packed)
    for n_jobs in (None, 2):
        other = HammingNeighbors(30, n_bits=BITS, n_jobs=n_jobs).fit(stored)
        mask = RNG.random(N) < 0.2
        for options in ({}, {"mask": mask}):
            for wanted, found in zip(
                one.kneighbors(packed[:20], **options), other.kneighbors(packed[:20], **options)
            ):
                np.testing.assert_array_equal(found, wanted)
        np.testing.assert_array_equal(other.codes_, packed)
        wanted = one.radius_neighbors(packed[:20], 2, sort_results=True)
        found = other.radius_neighbors(packed[:20], 2, sort_results=True)
        for a, b in zip(wanted, found):
            assert all(map(np.array_equal, a, b))
    with pytest.raises(ValueError, match="codes of files"):
        other.add(packed)
