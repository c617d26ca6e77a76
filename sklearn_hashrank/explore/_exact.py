"""The nearest items by distances of floats, and how well such a ranking does."""

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse

from .._features.nearest_rows import of_unit_length
from .._utils.binary_units import binary_units
from ..metrics._histogram import RetrievalHistogram
from ._html_page import encode_array
from ._levels import ItemRelevance

_ORDERS = {"expected": "", "pessimistic": "Worst", "optimistic": "Best"}  # names of the page
_DIGITS = 12  # distances that agree to so many digits of the largest length are tied


def exact_neighbors(
    rows: Any, relevance: ItemRelevance, metric: str, n_neighbors: int
) -> dict[str, Any] | None:
    """Return the nearest items of each query, and the measures of the whole ranking, for a page.

    None where rows are sparse or are no numbers.
    """
    if sparse.issparse(rows):
        return None
    rows = np.asarray(rows)
    if rows.ndim != 2 or rows.dtype.kind not in "fiub":
        return None
    n_database, queries = relevance.n_database, relevance.queries
    n_neighbors = min(n_neighbors, n_database - 1)
    distances_of, unit = _distances(np.asarray(rows, dtype=np.float64), n_database, metric)
    ids = np.empty((len(queries), n_neighbors), np.uint32)
    nearest = np.empty((len(queries), n_neighbors), np.float32)
    measures: dict[str, np.ndarray] = {}
    for part, levels in relevance.blocks():
        numbers = np.arange(part.start, part.start + len(levels))
        ranked, relevant = [], []
        for number, of_query, indices in zip(numbers, distances_of(queries[numbers]), levels):
            order = np.argsort(of_query, kind="stable")
            order = order[order != queries[number]]
            ranked.append(of_query[order])
            relevant.append(relevance.levels[indices[order]])
            ids[number] = order[:n_neighbors]
            with np.errstate(over="ignore", under="ignore"):
                nearest[number] = ranked[-1][:n_neighbors] * unit
        histogram = RetrievalHistogram.from_scores(relevant, ranked, order="distance")
        for name, short in (("average_precision", "ap"), ("ndcg", "ndcg")):
            for ties, suffix in _ORDERS.items():
                of_all = measures.setdefault(short + suffix, np.empty(len(queries)))
                of_all[numbers] = histogram.measure(name, ties=ties)
    if not np.isfinite(nearest).all():
        raise ValueError(
            f"X holds numbers too large for {metric} distances of float32. Scale it down, or pass "
            "metric=None."
        )
    return {
        "metric": metric,
        "nNeighbors": n_neighbors,
        "ids": encode_array(ids),
        "distances": encode_array(nearest),
        "measures": {name: encode_array(values) for name, values in measures.items()},
    }


def _distances(
    rows: np.ndarray, n_database: int, metric: str
) -> tuple[Callable[[np.ndarray], np.ndarray], float]:
    """Return a function that gives the distances of some rows to the database, and their unit."""
    unit = 1.0
    if metric == "cosine":
        rows = of_unit_length(rows)
    else:
        unit = float(binary_units(rows.reshape(1, -1))[0])
        rows = rows / unit
    database = rows[:n_database]
    squares = np.einsum("ij,ij->i", rows, rows)
    scale = squares.max(initial=0) or 1.0

    def settled(values: np.ndarray) -> np.ndarray:
        return np.round(values / scale, _DIGITS) * scale

    def distances(queries: np.ndarray) -> np.ndarray:
        products = rows[queries] @ database.T
        if metric == "cosine":
            return settled(1 - products)
        if metric == "inner_product":
            return settled(-products)
        squared = settled(squares[queries][:, None] + squares[:n_database] - 2 * products)
        return np.sqrt(np.maximum(squared, 0))

    return distances, unit if metric != "inner_product" else unit * unit
