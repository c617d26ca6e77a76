"""Tables: labels are what is written, features are numbers, and a malformed file is one line."""

import gzip
import json
import os
import re
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from scipy import sparse

from sklearn_hashrank.cli import main
from sklearn_hashrank.cli._data import name_paths
from sklearn_hashrank.cli._rows import read_labels, read_rows


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write(text, name="t.csv"):
    Path(name).write_bytes(text if isinstance(text, bytes) else text.encode())
    return name


def printed(capsys, *arguments):
    """What the command prints where it succeeds."""
    assert main([str(argument) for argument in arguments]) == 0
    return capsys.readouterr().out


def refusal(*arguments):
    """The line with which the command refuses its input; nothing is left behind."""
    before = set(os.listdir("."))
    sys.stderr.flush()
    found = Path("stderr")
    with pytest.MonkeyPatch.context() as patch, open(found, "w+") as file:
        patch.setattr(sys, "stderr", file)
        assert main([str(argument) for argument in arguments]) == 2
        file.seek(0)
        line = file.read()
    found.unlink()
    assert set(os.listdir(".")) == before
    assert line.startswith("hashrank: error: ")
    assert line.count("\n") == 1
    return line


def fit(*data):
    return refusal("fit", "--bits", "2", "--output", "m.npz", "--data", *data)


@pytest.mark.parametrize(
    "values",
    [
        ["01", "1", "1.0", "1e0", "+1", "1_0", " 1", "-0"],
        ["0", "9223372036854775808"],
        ["2", "1.5"],
        ["a", "NA", "nan", "None"],
        ["x,y", 'a "b"', "two\nlines", "\u00e9\u00df"],
        ["\u0661", "1"],
        ["9" * 40, "1"],
    ],
)
def test_a_column_with_one_word_is_text_as_it_is_written(values):
    pd.DataFrame({"a": range(len(values)), "c": values}).to_csv("t.csv", index=False)
    rows = read_rows("t.csv", ["c"])
    assert rows.y.tolist() == values
    assert rows.X[:, 0].tolist() == list(range(len(values)))


def test_a_column_of_canonical_integers_is_integer():
    values = [0, -7, 2**53, 2**53 + 1, 2**63 - 1, -(2**63)]
    write("c,a\n" + "".join(f"{value},.5\n" for value in values))
    rows = read_rows("t.csv", ["c"])
    assert rows.y.dtype == np.int64
    assert rows.y.tolist() == values
    assert rows.X.dtype == np.float64


def test_the_whole_column_decides_however_long_it_is():
    """In blocks, some of the 01 would become 1."""
    n_rows = 1000
    values = np.array(["01", "02", "03"], dtype=object)[np.arange(n_rows) % 3]
    values[n_rows - 5] = "ab"
    write("x,c\n" + "\n".join(f"{i % 7},{v}" for i, v in enumerate(values)))
    rows = read_rows("t.csv", ["c"])
    assert sorted(set(rows.y.tolist())) == ["01", "02", "03", "ab"]
    assert rows.y.tolist() == values.tolist()


@pytest.mark.parametrize("other", ["float", "text"])
def test_integers_of_a_path_stay_apart_beside_any_column(other):
    fine = [2**53, 2**53 + 1, 2**53, 2**53 + 1]
    coarse = {"float": ["0.5", "0.5", "1.5", "1.5"], "text": ["a", "a", "b", "b"]}[other]
    pd.DataFrame({"coarse": coarse, "fine": fine}).to_csv("t.csv", index=False)
    [paths] = name_paths(["coarse", "fine"], read_labels("t.csv", ["coarse", "fine"]).y)
    assert len(set(map(tuple, paths.tolist()))) == 4


@pytest.mark.parametrize("targets", [["t"], ["t", "u"], ["n", "t"], ["n", "m"]])
@pytest.mark.parametrize("kind", ["csv", "npz"])
def test_targets_are_compared_by_their_distance(targets, kind, capsys):
    """Several columns would be label paths, whose numbers are ranks; those of a CSV file, text."""
    rng = np.random.default_rng(0)
    table = {name: np.exp(rng.uniform(0, 2, size=60)) for name in "abtu"}
    table |= {name: rng.integers(-5, 5, 60) ** 3 for name in "nm"}
    y = np.stack([table[name] for name in targets], axis=1).astype(float)
    X = np.stack([table["a"], table["b"]], axis=1)
    np.savez("rows.npz", X=X, **{name: table[name] for name in targets})
    pd.DataFrame({name: table[name] for name in ["a", "b", *targets]}).to_csv("rows.csv")
    np.savez("vectors.npz", X=X, y=y)
    np.save("codes.npy", X.mean(axis=0) < X)
    options = [word for name in targets for word in ("--label-column", name)]
    codes = ["evaluate", "--database", "codes.npy", "--bits", "2", "--json"]
    codes += ["--affinity", "euclidean:percentiles=(80,40):levels=(1,2)"]
    found = printed(capsys, *codes, "--database-labels", f"rows.{kind}", *options)
    assert found == printed(capsys, *codes, "--database-labels", "vectors.npz")


def test_label_sets_in_columns_of_a_table(capsys):
    Y = np.array([[1, 0], [0, 1], [1, 1], [1, 0], [0, 1], [1, 1]])
    pd.DataFrame(Y, columns=["s", "t"]).to_csv("sets.csv", index=False)
    np.save("sets.npy", Y)
    np.save("codes.npy", np.eye(6, dtype=np.uint8))
    codes = ["evaluate", "--database", "codes.npy", "--bits", "6", "--json"]
    codes += ["--affinity", "shared-labels"]
    columns = ["--database-labels", "sets.csv", "--label-column", "s", "--label-column", "t"]
    found = printed(capsys, *codes, *columns)
    assert found == printed(capsys, *codes, "--database-labels", "sets.npy")


def test_decimals_of_a_csv_file_are_classes_and_a_note_says_so(capsys):
    np.save("codes.npy", np.eye(4, dtype=np.uint8))
    codes = ["evaluate", "--database", "codes.npy", "--bits", "4", "--database-labels", "t.csv"]
    for values, is_noted in (("3.9 3.10 3.9 3.10", True), ("1.0 2.0 1.0 2.0", False)):
        write("\n".join(["c", *values.split()]))
        assert main(codes) == 0
        assert ("--affinity euclidean compares them" in capsys.readouterr().err) == is_noted
    write("c\n3.5\nabc\n3.5\n4\n")
    assert "'abc'" in refusal(*codes, "--affinity", "euclidean")


@pytest.mark.parametrize("columns", [["c"], ["c", "d"]])
def test_integers_are_not_compared_with_text(columns):
    np.save("codes.npy", np.zeros((3, 1), dtype=np.uint8))
    write("c,d\n1,1\n2,2\n3,3\n", "database.csv")
    write("c,d\n01,1\n2,2\n3,3\n", "queries.csv")
    options = [word for column in columns for word in ("--label-column", column)]
    line = refusal(
        *["evaluate", "--bits", 8, "--database", "codes.npy", "--queries", "codes.npy", *options],
        *["--database-labels", "database.csv", "--query-labels", "queries.csv"],
    )
    assert re.search("<U2 and int64|<U2, int64|int64, <U2", line)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a,b,c\n1,2,x\n1,2,x,9\n", "row 1 (line 3) has 4 fields. The header has 3"),
        ("a,b,c\n1,2,x\n1,2\n", "row 1 (line 3) has 2 fields. The header has 3"),
        ("a,b,c\n1,2,x\n\n1,2,y\n", "row 1 is empty"),
        ("a,b,c\n1,2,x,9\n1,2,y,9\n", "row 0 (line 2) has 4 fields"),
        ("a,a,c\n1,2,x\n", "two columns are named 'a'"),
        (",b,c\n1,2,x\n", "pandas writes row numbers there unless it is told index=False"),
        ("a,b,c\n", "there are no rows"),
        ("", "there is no header"),
        ("\n", "there is no header"),
        ("a,b,c\n1,2,\n", "the label of row 0 is missing (column 'c')"),
        ("a,b,c\n1,2,1\n1,2,  \n", "the label of row 1 is missing"),
        *(
            (f"a,b,c\n1,2,1\n1,2,{mark}\n", "the label of row 1 is missing")
            for mark in ("NA", "NAN", "-nan", " nan ", "none", "Null", "#NA", "<na>")
        ),
        ("a,b,c\n1,2,nan\n", "the label of row 0 is missing"),
        ("a,b,c\n1,2,x\n1,zwei,x\n", "row 1 of column 'b' is 'zwei'"),
        ("a,b,c\n1,2,x\n1,,x\n", "row 1 of column 'b' is empty"),
        ('a,b,c\n1,2,"x\n', "cannot be read as csv: unexpected end of data"),
        ('a,b,c\n1,2,"x"y\n', "cannot be read as csv: ',' expected after '\"'"),
        (b"a,b,c\n1,2,\xff\n", "cannot be read as csv: 'utf-8' codec can't decode byte 0xff"),
        ("a,b,c\n1,2,x\n".encode("utf-16"), "cannot be read as csv: 'utf-8' codec"),
        ("a,b,c\n1,2,x\0y\n", "NUL character"),
        ("a,b,c\n1,2," + "x" * 200_000 + "\n", "field larger than field limit"),
    ],
)
def test_malformed_csv_files_are_refused_in_one_line(text, message):
    line = fit(write(text), "--label-column", "c")
    assert line.startswith("hashrank: error: t.csv: ")
    assert message in line


def test_labels_that_are_one_too_few_may_lack_a_header():
    np.save("X.npy", np.eye(4))
    write("0\n1\n0\n1\n")
    assert "3 labels for 4 items. The first line" in fit("X.npy", "--labels", "t.csv")
    write("0\n1\n0\n")
    assert "first line" not in fit("X.npy", "--labels", "t.csv")


def test_fields_are_separated_by_commas():
    for mark in ";\t":
        write("a b c\n1 2 3\n".replace(" ", mark))
        assert repr(mark) in fit("t.csv")


@pytest.mark.parametrize("kind", ["dense", "sparse", "named"])
def test_features_that_are_not_finite_are_named(kind):
    X = np.ones((5000, 3))
    X[4500, 1] = np.inf
    if kind == "dense":
        np.save("X.npy", X)
    elif kind == "sparse":
        sparse.save_npz("X.npz", sparse.csr_matrix(X))
    else:
        pd.DataFrame(X, columns=["a", "b", "c"]).to_csv("X.csv", index=False)
    [path] = map(str, Path().glob("X.*"))
    name = "'b'" if kind == "named" else "1"
    assert f"{path}: row 4500, column {name} is inf" in fit(path)


def test_text_is_not_compared_by_distance():
    np.save("X.npy", np.eye(4))
    write("c\n1\n2.5\nabc\n4\n")
    line = fit("X.npy", "--labels", "t.csv", "--method", "rsh", "--affinity", "euclidean")
    assert "row 2 is 'abc'" in line


def test_junk_is_junk_with_or_without_torch():
    write("nothing", "t.pt")
    assert "not a file of tensors" in fit("t.pt")


def test_the_same_label_column_twice_is_refused():
    write("a,c\n1,x\n2,y\n")
    message = "--label-column c is given twice"
    assert message in fit("t.csv", "--label-column", "c", "--label-column", "c")


@pytest.mark.parametrize(
    "text",
    [
        "\ufeffa,c\n1,x\n2,y\n",
        "a,c\r\n1,x\r\n2,y\r\n",
        "a,c\n1,x\n2,y",
        "a,c\n1,x\n2,y\n\n\n",
        '"a","c"\n"1","x"\n"2","y"\n',
    ],
)
def test_the_same_table_in_any_spelling(text):
    rows = read_rows(write(text), ["c"])
    assert (rows.X.tolist(), rows.y.tolist(), rows.names) == ([[1.0], [2.0]], ["x", "y"], ["a"])


@pytest.mark.parametrize(
    ("labels", "found"),
    [
        (pd.Series(["01", "1"], dtype="category"), ["01", "1"]),
        (pd.Series(["01", "1"], dtype="string"), ["01", "1"]),
        (pd.Series([2**53, 2**53 + 1], dtype="Int64"), [2**53, 2**53 + 1]),
        (pd.Series([2**53, 2**53 + 1], dtype="category"), [2**53, 2**53 + 1]),
        (pd.Series([True, False]), [True, False]),
    ],
    ids=repr,
)
def test_the_types_of_parquet_decide(labels, found):
    pd.DataFrame({"a": [1, 2], "c": labels}).to_parquet("t.parquet")
    rows = read_rows("t.parquet", ["c"])
    assert rows.y.tolist() == found
    assert rows.X[:].tolist() == [[1], [2]]


@pytest.mark.parametrize(
    ("column", "message"),
    [
        (pa.array(["x", None]), "the label of row 1 is missing (column 'c')"),
        (pa.array([1, None]), "the label of row 1 is missing"),
        (pa.array([1.0, float("nan")]), "the label of row 1 is missing"),
        (pa.array(["x", None]).dictionary_encode(), "the label of row 1 is missing"),
        (pa.array([[1], [2]]), "labels must be integers or text"),
        (pa.array([1, 2], pa.timestamp("s")), "labels must be integers or text"),
        (pa.array(["x\0", "x"]), "NUL character"),
    ],
    ids=str,
)
def test_labels_of_parquet_that_are_refused(column, message):
    pq.write_table(pa.table({"a": [1, 2], "c": column}), "t.parquet")
    assert message in fit("t.parquet", "--label-column", "c")


def test_features_of_parquet_that_are_refused():
    pq.write_table(pa.table({"a": [1, None]}), "t.parquet")
    assert "row 1 of column 'a' is missing" in fit("t.parquet")
    pq.write_table(pa.table({"a": ["1", "2"]}), "t.parquet")
    assert "column 'a' has type string" in fit("t.parquet")
    pq.write_table(pa.table([[1], [2]], names=["a", "a"]), "t.parquet")
    assert "two columns are named 'a'" in fit("t.parquet")


def test_the_index_of_a_frame_is_no_feature():
    frame = pd.DataFrame({"a": [1.0, 2.0], "b": [3, 4]}, index=["x", "y"])
    frame.to_parquet("t.parquet")
    assert read_rows("t.parquet").names == ["a", "b"]


def flipped(name, place, value=0xFF):
    content = bytearray(Path(name).read_bytes())
    content[place] ^= value
    Path(name).write_bytes(content)


def test_changed_archives_are_refused_in_one_line():
    X = np.random.default_rng(0).normal(size=(40, 8))
    np.savez_compressed("whole.npz", X=X, y=np.arange(40) % 3)
    content = Path("whole.npz").read_bytes()
    for place in range(0, len(content), 61):
        Path("t.npz").write_bytes(content)
        flipped("t.npz", place)
        try:
            rows = read_rows("t.npz")
        except ValueError:
            assert "t.npz" in fit("t.npz")
        else:
            np.testing.assert_array_equal(rows.X, X)


@pytest.mark.parametrize(
    ("write_array", "message"),
    [
        (lambda: np.savez("t.npz", X=np.array([{}])), "dtype object"),
        (lambda: np.savez("t.npz", X=np.zeros(3, "i4,f4")), "it holds values of dtype"),
        (lambda: write(b"\x93NUMPY\x01\x00", "t.npz"), "File is not a zip file"),
    ],
)
def test_archives_of_other_things(write_array, message):
    write_array()
    assert message in fit("t.npz")


def test_numbers_and_text_of_two_parts_are_never_joined():
    X = np.eye(3)
    np.savez("t.npz", X_train=X, X_test=X, y_train=[1, 2, 3], y_test=["1", "2", "3"])
    assert "y_train and y_test: numbers cannot be joined with text" in fit("t.npz")
    np.savez("t.npz", X_train=X, X_test=X, y_train=["1", "2", "3"], y_test=["01", "2", "3"])
    assert read_rows("t.npz").y.tolist() == ["1", "2", "3", "01", "2", "3"]


@pytest.mark.parametrize("kind", ["csr", "csc", "bsr"])
def test_indices_of_sparse_matrices_are_checked(kind):
    matrix = sparse.random(20, 12, density=0.3, random_state=0).asformat(kind)
    sparse.save_npz("t.npz", matrix)
    np.testing.assert_array_equal(read_rows("t.npz").X.toarray(), matrix.toarray())
    matrix.indices[3] = 10_000_000
    sparse.save_npz("t.npz", matrix)
    assert "t.npz: not a sparse matrix" in fit("t.npz")


def test_a_header_that_announces_too_much_allocates_nothing():
    header = {"descr": "<f8", "fortran_order": False, "shape": (1 << 40, 1 << 20)}
    with open("t.npy", "wb") as file:
        np.lib.format.write_array_header_1_0(file, header)
    assert "it is truncated" in fit("t.npy")
    header["shape"] = (-1, 4)
    with open("t.npy", "wb") as file:
        np.lib.format.write_array_header_1_0(file, header)
        file.write(bytes(64))
    assert "it has the shape (-1, 4)" in fit("t.npy")


def test_nothing_may_follow_an_array():
    np.save("t.npy", np.eye(3))
    with open("t.npy", "ab") as file:
        file.write(b"more")
    assert "4 bytes follow the array" in fit("t.npy")


def test_the_command_refuses_what_it_could_not_name(monkeypatch):
    monkeypatch.setattr("sklearn_hashrank.cli._command_compare.compare", None)  # nothing is run
    line = refusal("compare", "--data", "digits", "--output", os.fsdecode(b"r\xff"))
    assert "'r\\udcff' is not UTF-8" in line


def test_json_and_gzip_are_not_tables():
    write(json.dumps([{"a": 1}]), "t.csv")
    assert "t.csv: " in fit("t.csv")
    write(gzip.compress(b"a\n1\n"), "t.csv")
    assert "t.csv: " in fit("t.csv")


def test_integers_stay_apart_from_floats_of_another_file():
    """Beyond 2**53, floats leave integers out."""
    large = 2**53
    for first, second in (("i8", "f8"), ("i8", "u8")):
        y = {"y_train": np.array([large, large + 1], first), "y_test": np.array([1, 2], second)}
        np.savez("d.npz", X_train=np.eye(2), X_test=np.eye(2), **y)
        assert "integers beyond 2**53 cannot be joined" in refusal(
            "fit", "--data", "d.npz", "--output", "m.npz"
        )
    for name, values in (("a", [large + 1, large, 1]), ("b", [float(large), 1.0, 1.0])):
        pq.write_table(pa.table({"c": values, "d": [1, 2, 3]}), f"{name}.parquet")
    np.save("codes.npy", np.zeros((3, 1), dtype=np.uint8))
    line = refusal(
        *["evaluate", "--bits", 8, "--database", "codes.npy", "--queries", "codes.npy"],
        *["--database-labels", "a.parquet", "--query-labels", "b.parquet"],
        *["--label-column", "c", "--label-column", "d"],
    )
    assert "--label-column c: integers beyond 2**53" in line
