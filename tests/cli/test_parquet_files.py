"""Embeddings in Parquet files and folders, ids, codes as binary values, and search by floats."""

import csv
import shutil
import warnings
from pathlib import Path

import fsspec
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sklearn_hashrank import load_hasher
from sklearn_hashrank._features import out_of_memory as _many_rows
from sklearn_hashrank.cli import _file_systems, _parquet_files, _rows, main
from sklearn_hashrank.cli._errors import UsageError
from sklearn_hashrank.cli._parquet_files import find_parquet
from sklearn_hashrank.cli._parquet_table import parquet_codes
from sklearn_hashrank.cli._rows import read_labels, read_rows, read_texts
from sklearn_hashrank.neighbors import HammingNeighbors, rescore
from tests.cli.commands import refusal, run

N, WIDTH = 500, 8
RNG = np.random.default_rng(0)
X = RNG.normal(size=(N, WIDTH)).astype(np.float32)
Y = RNG.integers(0, 3, N)
IDS = np.array([f"item {number}" for number in RNG.permutation(N)])


def fixed(rows):
    return pa.FixedSizeListArray.from_arrays(rows.ravel(), rows.shape[1])


FORMS = {
    "lists": lambda rows: pa.array(list(rows)),
    "large lists": lambda rows: pa.array(list(rows), pa.large_list(pa.float32())),
    "fixed size": fixed,
    "chunks": lambda rows: pa.chunked_array([fixed(rows[:7]), fixed(rows[3:][4:])]),
}


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(_parquet_files, "_NUMBERS_AT_A_TIME", 33 * 64)


def write(path, rows=X, name="embedding", row_group_size=120, **columns):
    table = pa.table({**columns, name: rows if isinstance(rows, pa.Array) else fixed(rows)})
    pq.write_table(table, path, row_group_size=row_group_size)


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS.keys())
def test_rows_are_read_in_any_order(form):
    pq.write_table(pa.table({"v": form(X)}), "t.parquet", row_group_size=90)
    rows = read_rows("t.parquet").X
    assert rows.shape == X.shape
    assert rows.dtype == np.float32
    for start, stop in [(0, N), (0, 10), (10, 200), (100, 130), (499, 500), (7, 7), (0, 1)]:
        np.testing.assert_array_equal(rows[start:stop], X[start:stop])
    numbers = np.sort(RNG.choice(N, 70, replace=False))
    np.testing.assert_array_equal(rows[numbers], X[numbers])


def test_doubles_and_integers_are_doubles():
    write("t.parquet", X.astype(np.float64))
    write("i.parquet", np.arange(12).reshape(3, 4))
    for path, wanted in (("t.parquet", X), ("i.parquet", np.arange(12).reshape(3, 4))):
        rows = read_rows(path).X
        assert rows.dtype == np.float64
        np.testing.assert_array_equal(rows[: len(rows)], wanted)


def test_from_rows_to_neighbors_as_from_arrays():
    """One file, a folder of several, and a .npy file give the same codes and neighbors."""
    write("items.parquet", id=IDS, y=Y)
    Path("parts").mkdir()
    for number, part in enumerate(np.array_split(np.arange(N), 3)):
        write(f"parts/{number}.parquet", X[part], id=IDS[part], y=Y[part])
    write("new.parquet", X[:9], id=np.arange(9) + 70)
    np.save("items.npy", X)
    for data, codes in (("items.parquet", "a"), ("parts", "b"), ("parts:embedding", "c")):
        run("fit", "--data", data, "--bits", 8, "--output", "m.npz")
        run("encode", "--model", "m.npz", "--data", data, "--output", f"{codes}.parquet")
        found = pq.read_table(f"{codes}.parquet")
        assert found.schema.field("code").type == pa.binary(1)
        assert found["id"].to_pylist() == IDS.tolist()
        read = parquet_codes(find_parquet(f"{codes}.parquet"))
        assert read.n_bits == 8
        np.testing.assert_array_equal(read[:], load_hasher("m.npz").packed_codes(X))
    search = "search", "--model", "m.npz", "--data", "new.parquet", "-k", 3
    run("encode", "--model", "m.npz", "--data", "items.npy", "--output", "codes.npy")
    run(*search, "--database", "a.parquet", "--output", "by_id.csv")
    run(*search, "--database", "codes.npy", "--output", "by_number.csv")
    by_id, by_number = (
        [*csv.DictReader(Path(f"{name}.csv").read_text().splitlines())]
        for name in ("by_id", "by_number")
    )
    assert [row["item"] for row in by_id] == [IDS[int(row["item"])] for row in by_number]
    assert [row["distance"] for row in by_id] == [row["distance"] for row in by_number]
    assert by_id[0]["query"] == "70"
    run(*search, "--database", "a.parquet", "--output", "found.npz")
    with np.load("found.npz") as found:
        np.testing.assert_array_equal(found["ids"], IDS[found["indices"]])


def test_rescoring_orders_candidates_by_floats():
    write("items.parquet")
    write("new.parquet", X[:9])
    run("fit", "--data", "items.parquet", "--bits", 8, "--output", "m.npz")
    run("encode", "--model", "m.npz", "--data", "items.parquet", "--output", "codes.parquet")
    search = "search", "--model", "m.npz", "--data", "new.parquet", "--database", "codes.parquet"
    run(*search, "-k", 40, "--output", "all.npz")
    run(
        *search, "-k", 4, "--oversampling", 10, "--rescore", "items.parquet",
        "--metric", "euclidean", "--output", "best.npz",
    )  # fmt: skip
    with np.load("all.npz") as candidates, np.load("best.npz") as found:
        wanted = rescore(X[:9], X, candidates["indices"], 4, metric="euclidean")
        np.testing.assert_array_equal(found["indices"], wanted[1])
        np.testing.assert_allclose(found["distances"], wanted[0])


@pytest.mark.parametrize("database", ["codes.npy", "codes"])
def test_candidates_by_the_first_bits(database):
    """Of a file or a folder; floats then order what the codes found."""
    write("items.parquet")
    write("new.parquet", X[:9])
    run("fit", "--data", "items.parquet", "--bits", 8, "--output", "m.npz")
    run("encode", "--model", "m.npz", "--data", "items.parquet", "--output", "codes.npy")
    run("encode", "--model", "m.npz", "--data", "items.parquet", "--output", "codes")
    search = "search", "--model", "m.npz", "--data", "new.parquet", "--database", database
    run(*search, "-k", 4, "--prefix", 3, "--oversampling", 5, "--output", "found.npz")
    codes = load_hasher("m.npz").packed_codes(X)
    index = HammingNeighbors(4, n_bits=8, prefix=3, n_candidates=20).fit(codes)
    distances, indices = index.kneighbors(codes[:9])
    with np.load("found.npz") as found:
        np.testing.assert_array_equal(found["indices"], indices)
        np.testing.assert_array_equal(found["distances"], distances)
    exact = index.set_params(prefix=None).kneighbors(codes[:9])[1]
    assert (exact != indices).any()
    more = "--oversampling", 5, "--rescore", "items.parquet", "--output", "best.npz"
    run(*search, "-k", 4, "--prefix", 3, *more)
    candidates = index.set_params(prefix=3, n_candidates=None).kneighbors(codes[:9], 20)[1]
    with np.load("best.npz") as found:
        np.testing.assert_array_equal(found["indices"], rescore(X[:9], X, candidates, 4)[1])


def test_rescoring_takes_the_rows_of_the_codes_alone(capsys):
    order = np.roll(np.arange(N), 1)
    write("items.parquet", id=IDS)
    write("other order.parquet", X[order], id=IDS[order])
    write("fewer.parquet", X[:-1], id=IDS[:-1])
    run("fit", "--data", "items.parquet", "--bits", 8, "--output", "m.npz")
    run("encode", "--model", "m.npz", "--data", "items.parquet", "--output", "codes.parquet")
    search = "search", "--model", "m.npz", "--data", "items.parquet", "--database", "codes.parquet"
    for more, message in (
        (["--rescore", "other order.parquet"], f"row 0 is {IDS[-1]}, and of codes.parquet it is"),
        (["--rescore", "fewer.parquet"], "fewer.parquet has 499 rows, and codes.parquet has 500"),
        (["--oversampling", 10], "--oversampling needs --rescore or --prefix"),
        (["--prefix", 4, "--radius", 2], "--prefix and --radius exclude each other"),
        (["--prefix", 8], "prefix must be less than the 8 bits"),
        (["--metric", "cosine"], "--metric needs --rescore"),
        (["--run", "run.txt"], "an id must be a word without spaces. Got 'item"),
        (["--rescore", "fewer.parquet", "--run", "fewer.parquet"], "the file that is read from"),
    ):
        assert message in refusal(capsys, *search, *more)
    write("labels.parquet", id=IDS[order], y=Y)
    message = refusal(
        *(capsys, "evaluate", "--database", "codes.parquet"),
        *("--database-labels", "labels.parquet", "--label-column", "y"),
    )
    assert f"labels.parquet: row 0 is {IDS[-1]}, and of codes.parquet it is {IDS[0]}" in message
    write("numbers.parquet", id=np.arange(N)[order], y=Y)
    write("others.parquet", id=np.arange(N)[order] + 1, y=Y)
    np.save("items.npy", X)
    run("encode", "--model", "m.npz", "--data", "items.npy", "--output", "numbered.parquet")
    evaluate = "evaluate", "--database", "numbered.parquet", "--label-column", "y"
    assert "row 0 is 499" in refusal(capsys, *evaluate, "--database-labels", "numbers.parquet")
    run(*evaluate, "--database-labels", "others.parquet")
    write("twice.parquet", X[:2], id=["q", "q"])
    run("encode", "--model", "m.npz", "--data", "twice.parquet", "--output", "2.parquet")
    search = "search", "--database", "2.parquet", "--queries", "2.parquet", "--run", "run.txt"
    assert "ids of queries must all be different" in refusal(capsys, *search)


def test_rescoring_takes_the_columns_of_the_model():
    names = [f"f{number}" for number in range(WIDTH)]
    for path, rows, header in (
        ("items.csv", X, names),
        ("prices.csv", np.c_[1000 * Y, X[:, ::-1]], ["price", *names[::-1]]),
    ):
        np.savetxt(path, rows, delimiter=",", header=",".join(header), comments="")
    run("fit", "--data", "items.csv", "--bits", 8, "--output", "m.npz")
    run("encode", "--model", "m.npz", "--data", "items.csv", "--output", "codes.npy")
    search = "search", "--model", "m.npz", "--database", "codes.npy", "--data"
    run(*search, "items.csv", "--rescore", "items.csv", "--output", "a.csv")
    run(*search, "prices.csv", "--rescore", "prices.csv", "--output", "b.csv")
    a, b = (np.loadtxt(path, delimiter=",", skiprows=1) for path in ("a.csv", "b.csv"))
    np.testing.assert_allclose(a, b, atol=1e-7)


def test_files_of_a_folder_that_do_not_fit_together_are_refused(capsys):
    few = X[:20]
    for folder in ("ids", "columns", "widths", "lengths", "rows"):
        Path(folder).mkdir()
    write("ids/0.parquet", few, id=np.arange(20))
    write("ids/1.parquet", few, id=IDS[:20])
    write("columns/0.parquet", few)
    write("columns/1.parquet", few, name="vector")
    write("rows/0.parquet", few)
    write("rows/1.parquet", few[:, :5])
    for bits, place in ((6, "lengths/0"), (8, "lengths/1"), (8, "widths/0"), (16, "widths/1")):
        lsh = "--method", "lsh", "--bits", bits, "--output", "m.npz"
        run("fit", "--data", "rows/0.parquet", *lsh)
        run(
            *("encode", "--model", "m.npz", "--data", "columns/0.parquet"),
            *("--output", f"{place}.parquet"),
        )
    encode = "encode", "--model", "m.npz", "--output", "codes.parquet", "--data"
    assert "column 'id' has different types: int64 in" in refusal(capsys, *encode, "ids")
    message = refusal(capsys, *encode, "columns")
    assert "several columns of lists of numbers: name one, as in columns:embedding" in message
    message = refusal(capsys, *encode, "columns:vector")
    assert (
        "columns/0.parquet: there is no column 'vector' in this file, but in columns/1.parquet."
    ) in message.replace("\\", "/")
    message = refusal(capsys, *encode, "rows")
    assert "rows: row 20 of column 'embedding' has 5 numbers, the first has 8." in message
    search = "search", "--queries", "widths/0.parquet", "--database"
    assert "different code lengths: 6 and 8" in refusal(capsys, *search, "lengths")
    assert "different code lengths: 8 and 16" in refusal(capsys, *search, "widths")


def test_columns_of_all_files_of_a_folder_are_seen(capsys):
    """What only later files have is refused where it is read, and may be left out or unused."""
    few, first = X[:20], {"a": X[:20, 0], "b": X[:20, 1]}
    text = {"t": IDS[:20]}
    for folder, *files in (
        ("order", first, dict(reversed(first.items()))),
        ("feature", first, {**first, "c": X[:20, 2]}),
        ("missing", {**first, "c": X[:20, 2]}, first),
        ("label", first, {**first, "y": Y[:20]}),
        ("ids", first, {"id": IDS[:20], **first}),
        ("types", first, {**first, "b": X[:20, 1].astype(str)}),
        ("doubles", first, {**first, "b": X[:20, 1].astype(np.float64)}),
        ("lists", {"v": fixed(few)}, {"v": fixed(few), "w": fixed(few)}),
        ("beside", {"v": fixed(few)}, {**text, "v": fixed(few)}),
        ("kinds", first, {"a": fixed(few)}),
        ("later", first, {"v": fixed(few)}),
    ):
        Path(folder).mkdir()
        for number, columns in enumerate(files):
            pq.write_table(pa.table(columns), f"{folder}/{number}.parquet")
    for folder in ("order", "doubles"):
        rows = read_rows(folder)
        assert rows.names == ["a", "b"]
        np.testing.assert_array_equal(rows.X[:], np.r_[few, few][:, :2])
    for left_out, folder in (["c"], "feature"), (["c"], "missing"), (["y"], "label"):
        assert read_rows(folder, left_out=left_out).names == ["a", "b"]
        assert read_rows(folder, columns=["a"]).names == ["a"]
    for path in ("beside", "lists:v"):
        np.testing.assert_array_equal(read_rows(path).X[:], np.r_[few, few])
    assert read_rows("lists", left_out=["w"]).X.shape == (40, WIDTH)
    lacks = "{0}/{1}.parquet: there is no column '{2}' in this file, but in {0}/{3}.parquet."
    fit = "fit", "--bits", 2, "--method", "lsh", "--output", "m.npz", "--data"
    for arguments, message in (
        (["feature"], lacks.format("feature", 0, "c", 1)),
        (["missing"], lacks.format("missing", 1, "c", 0)),
        (["label", "--label-column", "y"], lacks.format("label", 0, "y", 1)),
        (["later"], lacks.format("later", 0, "v", 1)),
        (
            ["types"],
            "types: column 'b' has different types: float in types/0.parquet",
        ),
        (["lists"], "lists has several columns of lists of numbers: name one, as in lists:v"),
        (["kinds"], "kinds: column 'a' has different types"),
        (["beside:t"], "no column of lists of numbers has this name. There is v"),
    ):
        assert message in refusal(capsys, *fit, *arguments).replace("\\", "/")
    with pytest.raises(UsageError, match="no column 'id' in this file, but in ids.1.parquet"):
        read_labels("ids", ["a"])
    with pytest.raises(UsageError, match="no column 't' in this file, but in beside.1.parquet"):
        read_texts("beside", "t")


def test_evaluation_reads_codes_labels_and_rows(capsys):
    write("items.parquet", y=Y)
    np.save("items.npy", X)
    run("fit", "--data", "items.parquet", "--bits", 8, "--output", "m.npz")
    for name in ("codes.parquet", "codes.npy"):
        run("encode", "--model", "m.npz", "--data", "items.parquet", "--output", name)
    printed = []
    for codes, rows in (("codes.parquet", "items.parquet"), ("codes.npy", "items.npy")):
        capsys.readouterr()
        labels = "--database-labels", "items.parquet", "--label-column", "y"
        run("evaluate", "--database", codes, *labels)
        near = "--neighbors", 10, "--measures", "recall@10"
        run("evaluate", "--database", codes, "--database-data", rows, *near)
        printed.append(capsys.readouterr().out)
    assert printed[0] == printed[1]


def test_a_fit_says_how_many_rows_it_learned_from(capsys, monkeypatch):
    write("items.parquet", y=Y)
    monkeypatch.setattr(_many_rows, "MOST_NUMBERS", 100 * WIDTH)
    fit = "fit", "--data", "items.parquet", "--bits", 8, "--output", "m.npz", "--method"
    for method, said in (
        ("itq", "learned from sums and a sample of 100 rows"),
        ("pca", "learned from sums over all rows"),
        ("talr-ap:max_iter=1", "learned from a sample of 100 rows"),
    ):
        run(*fit, method, "--label-column", "y")
        assert said in capsys.readouterr().out
    run(*fit, "itq")
    assert "no labels: ITQHasher learns from the features alone" in capsys.readouterr().out
    run(*fit, "talr-ndcg:max_iter=1")
    printed = capsys.readouterr().out
    assert f"no labels: vectors of {WIDTH} numbers: the 10 nearest rows are relevant, by" in printed


def test_an_npz_file_of_one_matrix(capsys):
    np.savez("any.npz", rows=X, note=np.arange(3))
    run("fit", "--data", "any.npz", "--bits", 8, "--output", "m.npz")
    np.savez("two.npz", a=X, b=X)
    line = refusal(capsys, "fit", "--data", "two.npz", "--bits", 8, "--output", "m.npz")
    assert "two.npz has no array X or features or data. It has a (500, 8), b (500, 8)" in line
    run("fit", "--data", "two.npz:b", "--bits", 8, "--output", "m.npz")


@pytest.fixture
def wide():
    """Tables of a column for each feature, in folders that say what is in them."""
    for number, (start, stop) in enumerate([(0, 150), (150, 151), (151, 400), (400, N)]):
        folder = Path(f"wide/year={2020 + number}/of=caf%C3%A9 {number % 2}")
        folder.mkdir(parents=True)
        columns = {f"x{place}": X[start:stop, place] for place in range(WIDTH)}
        more = {"id": IDS[start:stop], "y": Y[start:stop]}
        pq.write_table(pa.table({**columns, **more}), folder / "part.parquet", row_group_size=60)
    return np.repeat([2020, 2021, 2022, 2023], [150, 1, 249, 100])


def test_wide_tables_are_learned_from_and_encoded_as_arrays(wide, monkeypatch):
    pq.write_table(pq.read_table("wide", partitioning=None), "one.parquet", row_group_size=77)
    np.save("X.npy", X)
    np.save("y.npy", Y)
    monkeypatch.setattr(_many_rows, "MOST_NUMBERS", 100 * WIDTH)  # rows of files are many
    monkeypatch.setattr(_rows, "_FEW_NUMBERS", 100 * WIDTH)
    options = "--bits", 8, "--method", "pca", "--output"
    run("fit", "--data", "X.npy", "--labels", "y.npy", *options, "X.npz")
    wanted = load_hasher("X.npz")
    run("encode", "--model", "X.npz", "--data", "X.npy", "--output", "X.codes.npy")
    for data in ("one.parquet", "wide", "wide/*/*/*.parquet"):
        run("fit", "--data", data, "--label-column", "y", *options, "m.npz")
        found = load_hasher("m.npz")
        assert [*found.feature_names_in_] == [f"x{place}" for place in range(WIDTH)]
        del found.feature_names_in_
        np.testing.assert_allclose(found.components_, wanted.components_, atol=1e-5)
        run("encode", "--model", "m.npz", "--data", data, "--output", "codes.npy")
        np.testing.assert_array_equal(np.load("codes.npy"), found.packed_codes(X))
        run("encode", "--model", "m.npz", "--data", data, "--output", "codes.parquet")
        assert pq.read_table("codes.parquet")["id"].to_pylist() == IDS.tolist()
        rescore = "--rescore", data, "--data", data, "--model", "m.npz", "--metric", "euclidean"
        run("search", "-k", 3, "--database", "codes.npy", *rescore, "--output", "found.npz")
        with np.load("found.npz") as neighbors:
            np.testing.assert_array_equal(neighbors["indices"][:, 0], np.arange(N))


def test_folders_are_labels_ids_and_texts(wide, capsys):
    rows = read_rows("wide", ["year"], left_out=["y"])
    np.testing.assert_array_equal(rows.X[:], X)
    np.testing.assert_array_equal(rows.y, wide)
    np.testing.assert_array_equal(read_labels("wide", ["y"]).y, Y)
    names = read_labels("wide", ["of"]).y
    assert np.unique(names).tolist() == ["café 0", "café 1"]
    assert read_texts("wide", "of") == names.tolist()
    both = read_labels("wide", ["year", "y"]).y
    np.testing.assert_array_equal(both, np.stack([wide, Y], axis=1))
    np.testing.assert_array_equal(read_labels("wide", ["y"], id_column="year").ids[:], wide)
    # A folder is no id unless it is named.
    assert read_labels("wide", ["y"]).ids[:].tolist() == IDS.tolist()
    one = "wide/year=2021/of=caf%C3%A9 1/part.parquet"
    assert read_labels(one, ["year"]).y.tolist() == [2021]
    assert read_rows(one, ["y"]).names == [f"x{place}" for place in range(WIDTH)]
    # A column of all files is in all of them, or in the names of all folders.
    write("wide/year=2021/of=caf%C3%A9 1/x.parquet", X[:2], year=["a", "b"])
    with pytest.raises(ValueError, match="no column 'year'"):
        read_labels("wide", ["year"])
    Path("wide/year=2021/of=caf%C3%A9 1/x.parquet").unlink()
    Path("wide/year=2023").rename("wide/2023")
    line = refusal(capsys, "fit", "--data", "wide", "--label-column", "year", "--output", "m.npz")
    assert "wide has no column 'year'. It has x0, x1" in line
    Path("wide/2023").rename("wide/year=__HIVE_DEFAULT_PARTITION__")
    line = refusal(capsys, "fit", "--data", "wide", "--label-column", "year", "--output", "m.npz")
    assert "the label of row 400 is missing (column 'year')" in line


def test_columns_of_files_hold_whatever_their_folders_are_called():
    """Values, and types that differ from those in the names of folders."""
    for place, kind in enumerate("xy"):
        columns = {"kind": ["u", "v"] * 2, "year": np.arange(4), "item": ["a", "b", "c", "d"]}
        inside = Path(f"named/kind={kind}/year=2025/part=0{place}")
        inside.mkdir(parents=True)
        write(inside / "a.parquet", X[:4], **columns)
    assert read_labels("named", ["kind"]).y.tolist() == ["u", "v"] * 4
    assert read_labels("named", ["year"]).y.tolist() == [0, 1, 2, 3] * 2
    assert read_labels("named", ["part"]).y.tolist() == ["00"] * 4 + ["01"] * 4


def test_many_rows_are_read_from_a_temporary_file(wide, monkeypatch):
    rows = read_rows("wide", ["y"]).X
    for most, is_copied in ((N * WIDTH, False), (N * WIDTH - 1, True)):
        monkeypatch.setattr(_rows, "_FEW_NUMBERS", most)
        found = _rows.mapped(rows)
        assert isinstance(found, np.memmap) == is_copied
        np.testing.assert_array_equal(found, X)


def test_only_columns_that_are_asked_for_are_read(wide):
    """Nothing notices that others are damaged."""
    run("fit", "--data", "wide", "--label-column", "y", "--bits", 4, "--output", "m.npz")
    run("encode", "--model", "m.npz", "--data", "wide", "--output", "before.npy")
    for path in Path("wide").rglob("*.parquet"):
        content = bytearray(path.read_bytes())
        with pq.ParquetFile(path) as file:
            of_y = file.metadata.row_group(0).column(WIDTH + 1)
        assert of_y.path_in_schema == "y"
        start = of_y.data_page_offset
        content[start : start + of_y.total_compressed_size // 2] = b"\xff" * (
            of_y.total_compressed_size // 2
        )
        path.write_bytes(content)
    run("encode", "--model", "m.npz", "--data", "wide", "--output", "codes.npy")
    assert Path("codes.npy").read_bytes() == Path("before.npy").read_bytes()
    assert main(["fit", "--data", "wide", "--label-column", "y", "--output", "n.npz"]) == 2


def test_columns_that_are_no_features_are_left_out(capsys):
    table = {**{f"x{place}": X[:, place] for place in range(WIDTH)}, "t": IDS, "at": Y}
    pq.write_table(pa.table(table), "t.parquet")
    write("lists.parquet", at=Y)
    np.save("X.npy", X)
    fit = "fit", "--bits", 8, "--method", "itq", "--output", "m.npz", "--data"
    run(*fit, "X.npy")
    wanted = load_hasher("m.npz").components_
    for data, names in (
        ("t.parquet", ["t", "at"]),
        ("t.csv", ["t", "at"]),
        ("lists.parquet", ["at"]),
    ):
        if data == "t.csv":
            pq.read_table("t.parquet").to_pandas().to_csv(data, index=False)
        left_out = [word for name in names for word in ("--exclude-column", name)]
        run(*fit, data, *left_out)
        np.testing.assert_allclose(load_hasher("m.npz").components_, wanted, atol=1e-4)
        run("encode", "--model", "m.npz", "--data", data, "--output", "codes.npy")
    line = refusal(capsys, *fit, "t.parquet", "--exclude-column", "u")
    assert "t.parquet has no column 'u'. It has x0, x1" in line
    line = refusal(capsys, *fit, "lists.parquet", "--exclude-column", "u")
    assert "lists.parquet has no column 'u'. It has at, embedding" in line
    line = refusal(capsys, *fit, "X.npy", "--exclude-column", "u")
    assert "X.npy has no columns with names, which --exclude-column leaves out" in line


def test_a_column_whose_name_begins_another(capsys):
    table = {
        "a": [1.0, 2, 3, 4],
        "a.b": [5, 6, 7, 8],
        "c": pa.array([1, 0, 1, 0]).dictionary_encode(),
    }
    pq.write_table(pa.table(table), "t.parquet")
    assert read_rows("t.parquet", columns=["a.b", "a"]).X[:].tolist() == [
        [5, 1],
        [6, 2],
        [7, 3],
        [8, 4],
    ]
    assert read_rows("t.parquet", ["c"], left_out=["a.b"]).X[1:].tolist() == [[2], [3], [4]]
    pq.write_table(pa.table({"a": [1.0, np.inf], "b": [0.0, 1.0]}), "inf.parquet")
    line = refusal(capsys, "fit", "--data", "inf.parquet", "--bits", 1, "--output", "m.npz")
    assert "inf.parquet: row 1, column 'a' is inf; features must be finite." in line
    pq.write_table(pa.table({"y": [1, 2]}), "none.parquet")
    line = refusal(
        capsys, "fit", "--data", "none.parquet", "--label-column", "y", "--output", "m.npz"
    )
    assert "features must be a matrix with rows. Got shape (2, 0)" in line


def test_warnings_are_heard_between_blocks(wide):
    rows, filters = read_rows("wide", left_out=["y", "id"]).X, [*warnings.filters]
    for start, stop in ((0, 10), (10, N)):
        rows.read(start, stop)
        assert warnings.filters == filters


def test_what_cannot_be_read_is_refused_each_time():
    values = np.zeros((300, 1))
    values[150] = np.nan
    pq.write_table(pa.table({"a": values[:, 0]}), "t.parquet", row_group_size=100)
    rows = read_rows("t.parquet").X
    for start, stop in ((0, 100), (90, 200), (100, 200), (0, 300), (150, 160)):
        if stop > 150:
            with pytest.raises(UsageError, match="row 150, column 'a' is nan"):
                rows.read(start, stop)
        else:
            np.testing.assert_array_equal(rows.read(start, stop), values[start:stop])


def test_an_index_is_no_feature_but_ids_and_labels():
    pd = pytest.importorskip("pandas")
    names = [f"x{place}" for place in range(WIDTH)]
    of_ids, of_labels = pd.Index(IDS, name="key"), pd.Index(Y, name="kind")
    pd.DataFrame(X, index=of_ids, columns=names).to_parquet("ids.parquet")
    pd.DataFrame(X, index=of_labels, columns=names).to_parquet("labels.parquet")
    run("fit", "--data", "ids.parquet", "--id-column", "key", "--bits", 8, "--output", "m.npz")
    run(
        *("encode", "--model", "m.npz", "--data", "ids.parquet", "--id-column", "key"),
        *("--output", "codes.parquet"),
    )
    assert pq.read_table("codes.parquet")["id"].to_pylist() == IDS.tolist()
    rows = read_rows("labels.parquet", ["kind"])
    np.testing.assert_array_equal(rows.y, Y)
    np.testing.assert_array_equal(read_labels("labels.parquet", ["kind"]).y, Y)
    assert rows.names == names


def test_text_that_is_kept_as_views_is_a_label():
    labels = pa.array(["u", "v", "u"]).cast(pa.string_view())
    pq.write_table(pa.table({"a": [1.0, 2.0, 3.0], "y": labels}), "t.parquet")
    assert read_labels("t.parquet", ["y"]).y.tolist() == ["u", "v", "u"]


@pytest.mark.parametrize("name", ["rows [2026]", "rows 1, 2: all", "rows *?"])
def test_folders_of_any_name_are_read(name):
    Path(name).mkdir()
    write(f"{name}/1 [x].parquet", X[:20])
    write(f"{name}/2.parquet", X[20:30])
    for path in (name, f"./{name}"):
        np.testing.assert_array_equal(read_rows(path).X[:], X[:30])
    Path(name).rename("rows")
    np.testing.assert_array_equal(read_rows("rows/1*.parquet,rows/2*.parquet").X[:], X[:30])
    with pytest.raises(UsageError, match=r"rows/3\*.parquet: there are no .parquet files that"):
        read_rows("rows/1*.parquet,rows/3*.parquet")


@pytest.mark.parametrize("scheme", ["", "memory:///patterns/"])
def test_patterns_find_all_names_but_hidden_ones(scheme):
    names = ["a", "a_1", "a.2", "b_1", "_a", ".a", "of_a/_b", "of_a/b", "_of/a"]
    for name in names:
        with fsspec.open(f"{scheme}{name}.parquet", "wb", auto_mkdir=True):
            pass
    for pattern, found in (
        ("a*", ["a", "a.2", "a_1"]),
        ("a_*", ["a_1"]),
        ("[ab]_?", ["a_1", "b_1"]),
        ("?_1", ["a_1", "b_1"]),
        ("*", ["a", "a.2", "a_1", "b_1"]),
        ("_*", ["_a"]),
        ("*/*", ["of_a/b"]),
        ("of_a/_*", ["of_a/_b"]),
    ):
        paths = _file_systems.find_files(f"{scheme}{pattern}.parquet", ".parquet")
        assert paths == sorted(f"{scheme}{name}.parquet" for name in found), pattern


def test_integers_of_folders_that_are_too_long_are_text():
    for year in (3, 2**63):
        folder = Path(f"long/n={year}")
        folder.mkdir(parents=True)
        pq.write_table(pa.table({"a": [1.0]}), folder / "0.parquet")
    assert read_labels("long", ["n"]).y.tolist() == ["3", str(2**63)]
    shutil.rmtree(folder)
    assert read_labels("long", ["n"]).y.tolist() == [3]


def lists_with(number, value):
    rows = list(map(list, X.astype(float)))
    rows[number] = value
    return pa.array(rows)


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (lists_with(130, [1.0, 2.0]), "row 130 of column 'v' has 2 numbers, the first has 8"),
        (lists_with(130, None), "row 130 of column 'v' is missing"),
        (lists_with(130, [1.0, None, *range(6)]), "row 130, number 1 of column 'v' is nan"),
        (lists_with(499, [np.inf] * 8), "row 499, number 0 of column 'v' is inf"),
        (lists_with(0, []), "the first row of column 'v' has no numbers"),
    ],
)
def test_rows_that_are_no_rows_are_refused(capsys, rows, message):
    pq.write_table(pa.table({"v": rows}), "t.parquet", row_group_size=90)
    line = refusal(capsys, "fit", "--data", "t.parquet", "--bits", 8, "--output", "m.npz")
    assert message in line
    assert line.count("error") == 1


def test_columns_that_are_not_clear_are_refused(capsys):
    pq.write_table(pa.table({"a": fixed(X), "b": fixed(X)}), "two.parquet")
    Path("empty").mkdir()
    Path("plain").mkdir()
    pq.write_table(pa.table({"n": [1, 2], "t": ["x", "y"]}), "plain/0.parquet")
    pq.write_table(pa.table({"n": [1, 2], "t": ["x", "y"]}), "plain/1.parquet")
    fit = "fit", "--bits", 8, "--output", "m.npz", "--data"
    for data, message in (
        ("two.parquet", "several columns of lists of numbers: name one, as in two.parquet:a"),
        ("two.parquet:c", "has this name. There is a, b"),
        ("empty", "there are no .parquet files in this folder"),
        ("plain", "column 't' has type string, which is not numeric. Name it with --label"),
        ("plain:n", "no column of lists of numbers has this name. There is none"),
    ):
        assert message in refusal(capsys, *fit, data)
    run(*fit, "two.parquet:b")
    needs = refusal(
        capsys, "search", "--database", "c.npy", "--queries", "q.npy", "--rescore", "r.npy"
    )
    assert "--rescore needs --data" in needs
