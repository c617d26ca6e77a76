"""Neighbors in a Parquet file."""

import numpy as np
import pytest

from sklearn_hashrank import HammingNeighbors, LSHHasher
from sklearn_hashrank.explore import write_neighbors

parquet = pytest.importorskip("pyarrow.parquet")


@pytest.fixture(scope="module")
def rows():
    return np.random.default_rng(0).normal(size=(50, 5))


def test_neighbors_are_those_of_the_index(rows, tmp_path):
    hasher = LSHHasher(12, random_state=0).fit(rows)
    texts = [f"text {row}" for row in range(50)]
    path = write_neighbors(
        tmp_path / "n.parquet", hasher, rows, n_neighbors=7, columns={"text": texts}
    )
    table = parquet.read_table(path)
    assert table.column_names == ["text", "neighbors"]
    assert table.column("text").to_pylist() == texts
    found = table.column("neighbors").to_pylist()
    index = HammingNeighbors(n_bits=12).fit(hasher.packed_codes(rows))
    distances, ids = index.kneighbors(n_neighbors=7)
    assert [each["ids"] for each in found] == ids.tolist()
    assert [each["distances"] for each in found] == distances.tolist()
    assert not any(row in each["ids"] for row, each in enumerate(found))


def test_there_are_no_more_neighbors_than_other_rows(rows, tmp_path):
    path = write_neighbors(tmp_path / "n.parquet", LSHHasher(4).fit(rows), rows[:3])
    found = parquet.read_table(path).column("neighbors").to_pylist()
    assert [len(each["ids"]) for each in found] == [2, 2, 2]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_neighbors": 0}, "n_neighbors must be an int >= 1"),
        ({"columns": {"neighbors": [1]}}, "must not hold 'neighbors'"),
        ({"columns": {"a": [1]}}, "column 'a' must have 50 values. Got 1"),
    ],
)
def test_errors_say_what_was_given(rows, tmp_path, options, message):
    with pytest.raises(ValueError, match=message):
        write_neighbors(tmp_path / "n.parquet", LSHHasher(4).fit(rows), rows, **options)
    assert not list(tmp_path.iterdir())
