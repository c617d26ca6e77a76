"""Rescoring by floats: against a literal sort."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse

from sklearn_hashrank.neighbors import rescore

RNG = np.random.default_rng(0)
ROWS = RNG.normal(size=(60, 5)).astype(np.float32)
ROWS[40:] = ROWS[:20]  # ties
ROWS[7] = 0
QUERIES = RNG.normal(size=(9, 5))
CANDIDATES = np.array([RNG.permutation(60)[:30] for _ in QUERIES])


def literal(query, row, metric):
    pairs = [(float(a), float(b)) for a, b in zip(query, row)]
    product = sum(a * b for a, b in pairs)
    if metric == "inner_product":
        return -product
    if metric == "euclidean":
        return sum((a - b) ** 2 for a, b in pairs) ** 0.5
    lengths = (sum(a * a for a, _ in pairs) * sum(b * b for _, b in pairs)) ** 0.5
    return 1 - (product / lengths if lengths else 0)


@pytest.mark.parametrize("metric", ["cosine", "euclidean", "inner_product"])
@pytest.mark.parametrize("n_neighbors", [1, 8, None])
def test_order_is_that_of_a_literal_sort(metric, n_neighbors):
    found = rescore(QUERIES, ROWS, CANDIDATES, n_neighbors, metric=metric)
    for query, candidates, distances, indices in zip(QUERIES, CANDIDATES, *found, strict=True):
        expected = sorted((round(literal(query, ROWS[j], metric), 12), j) for j in candidates)
        expected = expected[:n_neighbors]
        assert indices.tolist() == [j for _, j in expected]
        np.testing.assert_allclose(distances, [d for d, _ in expected], atol=1e-10)
    threaded = rescore(QUERIES, ROWS, CANDIDATES, n_neighbors, metric=metric, n_jobs=2)
    np.testing.assert_array_equal(threaded, found)


def test_a_memmap_is_read_where_there_are_candidates(tmp_path):
    np.save(tmp_path / "rows.npy", ROWS)
    mapped = np.load(tmp_path / "rows.npy", mmap_mode="r")
    expected = rescore(QUERIES, ROWS, CANDIDATES, 5)
    np.testing.assert_array_equal(rescore(QUERIES, mapped, CANDIDATES, 5), expected)


def test_missing_candidates_stay_missing():
    candidates = CANDIDATES.copy()
    candidates[:, 3:] = -1
    distances, indices = rescore(QUERIES, ROWS, candidates, 5)
    expected = rescore(QUERIES, ROWS, CANDIDATES[:, :3])
    np.testing.assert_array_equal(distances[:, :3], expected[0])
    np.testing.assert_array_equal(indices[:, :3], expected[1])
    assert (indices[:, 3:] == -1).all()
    assert np.isinf(distances[:, 3:]).all()


def test_a_row_that_is_named_twice_counts_once():
    once = CANDIDATES[:, :6]
    twice = np.concatenate([once[:, 2:], once], axis=1)
    distances, indices = rescore(QUERIES, ROWS, twice, 8)
    expected = rescore(QUERIES, ROWS, once)
    np.testing.assert_array_equal(distances[:, :6], expected[0])
    np.testing.assert_array_equal(indices[:, :6], expected[1])
    assert (indices[:, 6:] == -1).all()


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_data_frames_are_rows(frame):
    expected = rescore(QUERIES, ROWS, CANDIDATES, 5)
    np.testing.assert_array_equal(rescore(frame(QUERIES), frame(ROWS), CANDIDATES, 5), expected)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.int8])
def test_types_of_numbers(dtype):
    rows = (20 * ROWS).astype(dtype)
    expected = rescore(QUERIES, rows.astype(float), CANDIDATES, 5)
    np.testing.assert_array_equal(rescore(QUERIES, rows, CANDIDATES, 5), expected)


@pytest.mark.parametrize("scale", [1e-140, 1e140])
def test_cosines_do_not_depend_on_the_scale(scale):
    expected = rescore(QUERIES, ROWS, CANDIDATES, 5)
    found = rescore(scale * QUERIES, scale * ROWS.astype(float), CANDIDATES, 5)
    np.testing.assert_allclose(found[0], expected[0], atol=1e-12)


@pytest.mark.parametrize(("value", "is_read"), [(np.nan, 1), (np.inf, 1), (1e200, 1), (np.nan, 0)])
@pytest.mark.parametrize("metric", ["cosine", "euclidean", "inner_product"])
def test_rows_without_a_distance_are_named_where_they_are_read(metric, value, is_read):
    rows = ROWS.astype(float)
    rows[3, 1] = value
    queries = 1e150 * QUERIES
    candidates = np.tile([3 if is_read else 4, 5, 8], (9, 1))
    if not is_read or (metric == "cosine" and np.isfinite(value)):
        assert np.isfinite(rescore(queries, rows, candidates, metric=metric)[0]).all()
        return
    message = f"row 3 contains NaN, infinity or a value too large for {metric} distances"
    with pytest.raises(ValueError, match=message):
        rescore(queries, rows, candidates, metric=metric, n_jobs=2)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"metric": "manhattan"}, "metric must be one of .* Got 'manhattan'"),
        ({"rows": ROWS[:, :4]}, r"array of 5 columns.* Got ndarray of shape \(60, 4\)"),
        ({"rows": [[1.0] * 5]}, "Got list of shape None"),
        ({"rows": sparse.csr_array(ROWS)}, r"a dense array of 5 columns.* Got csr_array"),
        ({"candidates": CANDIDATES[:, :0]}, r"each of the 9 queries. Got int64 of shape \(9, 0\)"),
        ({"candidates": CANDIDATES[:3]}, r"each of the 9 queries. Got int64 of shape \(3, 30\)"),
        ({"candidates": CANDIDATES / 2}, "integers .* Got float64"),
        ({"candidates": CANDIDATES + 10}, "below 60, or -1. Got numbers from 10 to 69"),
        ({"candidates": CANDIDATES - 9}, "Got numbers from -9"),
        ({"n_neighbors": 31}, "at most the 30 candidates. Got 31"),
        ({"n_neighbors": 0}, "n_neighbors must be an int >= 1. Got 0"),
    ],
)
def test_bad_arguments_are_refused(change, message):
    arguments = {"queries": QUERIES, "rows": ROWS, "candidates": CANDIDATES, **change}
    with pytest.raises(ValueError, match=message):
        rescore(**arguments)


@pytest.mark.parametrize("of_rows", [1e-300, 1e-160, 1e-154, 1e160, 1e300])
@pytest.mark.parametrize("of_queries", [1e-300, 1.0, 1e300])
def test_cosines_do_not_depend_on_lengths(of_rows, of_queries):
    rows, factors = ROWS.astype(float), 2.0 ** np.round(np.log2([of_rows, of_queries]))
    expected = rescore(QUERIES, rows, CANDIDATES)
    found = rescore(factors[1] * QUERIES, factors[0] * rows, CANDIDATES)
    for given, wanted in zip(found, expected, strict=True):
        np.testing.assert_array_equal(given, wanted)
