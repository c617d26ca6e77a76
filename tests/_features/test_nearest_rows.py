"""The nearest rows are those of a full sort, however rows are cut into blocks."""

import numpy as np
import pytest
from scipy import sparse

from sklearn_hashrank._features.nearest_rows import half_squares, nearest_rows


@pytest.mark.parametrize("as_given", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("size", [1, 9, 40, 100])
@pytest.mark.parametrize("k", [1, 5, 39])
def test_nearest_rows_are_those_of_a_stable_sort(as_given, size, k):
    """Integers of a small range: most rows have others as near."""
    rng = np.random.default_rng(size)
    queries, rows = rng.integers(-2, 3, (7, 3)) * 1.0, rng.integers(-2, 3, (40, 3)) * 1.0
    own = rng.integers(0, 40, 7)
    distances = ((queries[:, None] - rows) ** 2).sum(axis=2)
    distances[np.arange(7), own] = np.inf
    blocks = [as_given(rows[start : start + size]) for start in range(0, 40, size)]
    pairs = [(block, half_squares(block)) for block in blocks]
    numbers, nearness = nearest_rows(as_given(queries), pairs, k, own)
    np.testing.assert_array_equal(numbers, np.argsort(distances, axis=1, kind="stable")[:, :k])
    of_queries = (queries**2).sum(axis=1, keepdims=True)
    np.testing.assert_array_equal(of_queries - 2 * nearness, np.sort(distances, axis=1)[:, :k])


def test_values_without_products_are_refused():
    with pytest.raises(ValueError, match="too large"), np.errstate(over="ignore"):
        nearest_rows(np.full((1, 2), 1e200), [(np.full((3, 2), 1e200), 0)], 1)
