"""Codes in folders of shards: searched and evaluated as one, and encoded again where needed."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sklearn_hashrank import HammingNeighbors, load_hasher
from sklearn_hashrank.cli import _read_codes, main
from sklearn_hashrank.neighbors import _chunked

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


def run(*arguments):
    assert main([str(argument) for argument in arguments]) == 0


def refusal(capsys, *arguments):
    assert main([str(argument) for argument in arguments]) == 2
    return capsys.readouterr().err


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """Rows in one file and in a tree of three, a hasher of both, and queries."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(_read_codes, "_MOST_ROWS_OF_A_BLOCK", 64)
    monkeypatch.setattr(_read_codes, "_CODES_OF_A_BLOCK", 110)
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


def states(place):
    return {path.name: path.stat().st_mtime_ns for path in Path(place).rglob("*.parquet")}


def test_shards_hold_the_codes_of_their_files():
    run(*ENCODE, "items", "--output", "codes")
    packed = load_hasher("m.npz").packed_codes(X)
    for name, part in PARTS.items():
        found = pq.read_table(f"codes/{name}.parquet")
        assert found["id"].to_pylist() == IDS[part].tolist()
        assert found["code"].to_pylist() == [row.tobytes() for row in packed[part]]


@pytest.mark.parametrize(
    ("data", "more"),
    [
        ("items", []),
        ("items", ["--shard-rows", SMALL]),
        ("items", ["--shard-rows", 10 * N]),
        ("items.parquet", ["--shard-rows", SMALL]),
        ("items/*/*.parquet", []),
    ],
    ids=["files", "rows", "one", "rows of a file", "pattern"],
)
def test_what_is_found_and_measured_is_that_of_one_file(more, data, capsys):
    """Neighbours with ties at every place, and histograms, do not depend on shards."""
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


def test_only_what_is_missing_is_encoded_again(capsys):
    run(*ENCODE, "items", "--output", "codes")
    before = states("codes")
    capsys.readouterr()
    run(*ENCODE, "items", "--output", "codes")
    assert states("codes") == before
    assert "3 of 3 shards were there already" in capsys.readouterr().err
    Path("codes/2024/c.parquet").unlink()
    run(*ENCODE, "items", "--output", "codes")
    after = states("codes")
    assert [name for name in before if before[name] != after[name]] == ["c.parquet"]


def changed_rows():
    write("items/2024/c.parquet", PARTS["2024/c"], X[:, ::-1].copy())


def changed_row():
    rows = X.copy()
    rows[200] += 1e-3
    write("items/2024/c.parquet", PARTS["2024/c"], rows)


def changed_ids():
    write("items/2024/c.parquet", PARTS["2024/c"], id=IDS[PARTS["2024/c"]][::-1])


@pytest.mark.parametrize("change", [changed_rows, changed_row, changed_ids])
def test_a_shard_of_other_rows_is_encoded_again(change):
    run(*ENCODE, "items", "--output", "codes")
    before = states("codes")
    change()
    run(*ENCODE, "items", "--output", "codes")
    after = states("codes")
    assert [name for name in before if before[name] != after[name]] == ["c.parquet"]
    run(*ENCODE, "items", "--output", "codes.parquet")
    whole = pq.read_table("codes.parquet")
    parts = pa.concat_tables(
        pq.read_table(f"codes/{name}.parquet").replace_schema_metadata(None) for name in PARTS
    )
    assert parts == whole.replace_schema_metadata(None)


def test_shards_of_so_many_rows_follow_rows_that_moved():
    """Rows that were added in front move all others, though their own file is the same."""
    encode = *ENCODE, "items", "--shard-rows", SMALL, "--output"
    run(*encode, "codes")
    write("items/2024/a.parquet", slice(0, 10))
    run(*encode, "codes")
    run(*encode, "new")
    assert [*states("codes")] == [*states("new")]
    for name in states("codes"):
        assert pq.read_table(f"codes/{name}") == pq.read_table(f"new/{name}")


def test_all_shards_of_another_hasher_or_other_ids_are_encoded_again():
    run(*ENCODE, "items", "--output", "codes")
    run(*ENCODE, "items", "--output", "codes", "--id-column", "y")
    assert pq.read_table("codes/2025/a.parquet")["id"].to_pylist() == Y[350:].tolist()
    fit = "fit", "--data", "items.parquet", "--bits", BITS, "--output", "m.npz"
    run(*fit, "--method", "lsh", "--seed", 7)
    run(*ENCODE, "items", "--output", "codes")
    packed = load_hasher("m.npz").packed_codes(X)
    codes = pq.read_table("codes/2024/b.parquet")["code"].to_pylist()
    assert codes == [row.tobytes() for row in packed[:100]]


def test_ids_that_are_names_of_folders_are_part_of_what_a_shard_is_made_of():
    for year in (2020, 2021):
        Path(f"years/year={year}").mkdir(parents=True)
        write(f"years/year={year}/0.parquet", slice(0, 50))
    encode = *ENCODE, "years", "--shard-rows", 60, "--output", "codes", "--id-column", "year"
    run(*encode)
    Path("years/year=2021").rename("years/year=2023")
    run(*encode)
    assert pq.read_table("codes")["id"].to_pylist() == [2020] * 50 + [2023] * 50


def test_files_without_rows_have_no_shards(capsys):
    """Programs that write a file for each partition write such files."""
    write("items/2024/0.parquet", slice(0, 0))
    write("items/2026.parquet", slice(0, 0))
    run(*ENCODE, "items", "--output", "codes")
    assert sorted(states("codes")) == ["a.parquet", "b.parquet", "c.parquet"]
    run(*ENCODE, "items", "--output", "codes.parquet")
    one, many = pq.read_table("codes.parquet"), pq.ParquetDataset("codes").read(["id", "code"])
    assert one["code"].to_pylist() == many["code"].to_pylist()
    message = refusal(capsys, *ENCODE, "items/2026.parquet", "--output", "others")
    assert "items/2026.parquet: there are no rows" in message


def test_files_that_are_named_twice_are_refused(capsys):
    """Both would have one shard, of other numbers of rows."""
    twice = "items/2024/b.parquet,items/2024/b.parquet"
    message = refusal(capsys, *ENCODE, twice, "--output", "codes")
    assert "names b.parquet twice" in message
    assert not Path("codes").exists()


def test_damaged_shards_are_refused_and_written_again(capsys):
    run(*ENCODE, "items", "--output", "codes")
    place = Path("codes/2024/c.parquet")
    whole = place.read_bytes()
    code = load_hasher("m.npz").packed_codes(X[:101])[-1].tobytes()
    at = whole.index(code)
    search = "search", "--database", "codes", "--model", "m.npz", "--data", "new.parquet"
    place.write_bytes(whole[:at] + bytes([code[0] ^ 1]) + whole[at + 1 :])
    assert "codes/2024/c.parquet: cannot be read as parquet" in refusal(capsys, *search)
    for damaged in (whole[:100], b""):
        place.write_bytes(damaged)
        assert "codes/2024/c.parquet: cannot be read as parquet" in refusal(capsys, *search)
        run(*ENCODE, "items", "--output", "codes")
        assert place.read_bytes() == whole
        assert "2 of 3 shards were there already" in capsys.readouterr().err


@pytest.mark.parametrize("plan", ["{", "[]", "{}", '{"shards": []}', '{"shards": [{"name": 1}]}'])
def test_a_damaged_list_of_shards_is_refused_and_written_again(plan, capsys):
    run(*ENCODE, "items", "--output", "codes")
    place = Path("codes/_hashrank.json")
    whole = place.read_text()
    place.write_text(plan)
    message = refusal(
        capsys, "search", "--database", "codes", "--model", "m.npz", "--data", "new.parquet"
    )
    assert "codes/_hashrank.json does not say which shards there are" in message
    run(*ENCODE, "items", "--output", "codes")
    assert place.read_text() == whole


def test_incomplete_and_mixed_folders_are_refused(capsys):
    run(*ENCODE, "items", "--output", "codes")
    kept = Path("codes/2024/c.parquet").read_bytes()
    Path("codes/2024/c.parquet").unlink()
    search = "search", "--queries", "q.parquet", "--database"
    run(*ENCODE, "new.parquet", "--output", "q.parquet")
    message = refusal(capsys, *search, "codes")
    assert "1 of 3 shards are missing, the first is codes/2024/c.parquet" in message
    Path("codes/2024/c.parquet").write_bytes(kept)
    run(*search, "codes")
    run("fit", "--data", "items", "--bits", BITS, "--method", "lsh", "--output", "m.npz")
    run(*ENCODE, "items", "--output", "others")
    Path("others/2024/c.parquet").write_bytes(kept)
    assert "others/2024/c.parquet is of another hasher" in refusal(capsys, *search, "others")
    Path("codes/old.parquet").write_bytes(kept)
    message = refusal(capsys, *ENCODE, "items", "--output", "codes")
    assert "codes/old.parquet is not one of the shards of this encoding" in message
    for output, reason in (
        ("items", "is the folder that is read from"),
        ("items/codes", "is in the folder that is read from, items"),
        ("missing/codes", "there is no folder to make it in"),
        ("codes.txt", "must end in .npy or .parquet"),
    ):
        assert reason in refusal(capsys, *ENCODE, "items", "--output", output)
    message = refusal(capsys, *ENCODE, "items", "--output", "c.parquet", "--shard-rows", 5)
    assert "--shard-rows is for a folder" in message


SLOW = """
import sys, time
from sklearn_hashrank.cli import _shards, main

write = _shards.write_codes

def slowly(*arguments):
    n = write(*arguments)
    print("written", flush=True)
    time.sleep(60 if sys.argv[1] == "2" and slowly.n == 1 else 0)
    slowly.n += 1
    return n

slowly.n = 0
_shards.write_codes = slowly
sys.exit(main(sys.argv[2:]))
"""


@pytest.mark.process
def test_a_killed_encoding_goes_on(folder):
    """The process is killed after its second shard, and the next one writes the others."""
    command = [*ENCODE, "items.parquet", "--output", "codes", "--shard-rows", "100"]
    Path("slow.py").write_text(SLOW)
    root = Path(__file__).parents[2]
    environment = {**os.environ, "PYTHONPATH": str(root)}
    process = subprocess.Popen(
        [sys.executable, "slow.py", "2", *command], stdout=subprocess.PIPE, env=environment
    )
    for _ in range(2):
        assert process.stdout.readline() == b"written\n"
    process.send_signal(signal.SIGKILL)
    process.wait()
    process.stdout.close()
    time.sleep(0.01)
    before = states("codes")
    assert sorted(before) == ["part-00000.parquet", "part-00001.parquet"]
    assert len(json.loads(Path("codes/_hashrank.json").read_text())["shards"]) == 6
    run(*command)
    after = states("codes")
    assert {name: after[name] for name in before} == before
    assert len(after) == 6
    run(*ENCODE, "items.parquet", "--output", "codes.parquet")
    parts = [pq.read_table(f"codes/{name}") for name in sorted(after)]
    assert pa.concat_tables(parts).replace_schema_metadata(None) == pq.read_table(
        "codes.parquet"
    ).replace_schema_metadata(None)


def test_codes_of_files_are_searched_as_codes_in_memory():
    from sklearn_hashrank.cli import _code_columns

    run(*ENCODE, "items", "--output", "codes")
    stored = _code_columns.codes("codes")
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
