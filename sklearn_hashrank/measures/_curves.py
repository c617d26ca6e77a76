"""Precision and recall at many ranks at once."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._registry import _CHUNK, validate_counts, validate_options
from ._ties import Array, Ties, ratio

_N_RANKS = 100


def default_ranks(counts: NDArray[Any]) -> NDArray[np.int64]:
    """About 100 ranks from 1 to the number of items, evenly spaced on a logarithmic scale."""
    n_items = int(counts.sum(axis=(1, 2)).max(initial=1))
    ranks = np.geomspace(1, max(n_items, 1), _N_RANKS)
    return np.unique(np.rint(ranks).astype(np.int64))


def validate_ranks(k: ArrayLike) -> NDArray[np.int64]:
    """Return ranks as an array of ints, or say what is wrong with them."""
    ranks = np.asarray(k)
    if ranks.ndim != 1 or not ranks.size or ranks.dtype.kind not in "iu" or ranks.min() < 1:
        raise ValueError(
            "The 'k' parameter of a curve must be None or a 1-d array of ints >= 1. "
            f"Got {k!r} instead."
        )
    return ranks.astype(np.int64)


def precision_and_recall(
    counts: ArrayLike,
    levels: ArrayLike,
    k: ArrayLike,
    *,
    ties: str = "expected",
    zero_division: float = np.nan,
) -> tuple[Array, Array]:
    """Evaluate precision and recall of each query at every rank `k`.

    Returns
    -------
    precision, recall : ndarray of shape (n_queries, n_ranks)
    """
    validate_options("precision", ties=ties, zero_division=zero_division)
    counts, levels = np.asarray(counts), np.asarray(levels, dtype=np.float64)
    validate_counts(counts, levels)
    ranks = validate_ranks(k).astype(np.float64)
    precision, recall = np.empty((2, len(counts), len(ranks)))
    step = max(1, _CHUNK // max(1, counts[:1].size * len(levels)))
    for start in range(0, len(counts), step):
        part = slice(start, start + step)
        chunk = Ties(counts[part], levels)
        order = chunk if ties == "expected" else chunk.split(ties == "optimistic")
        hits = _hits(order, ranks)
        undefined = chunk.n_relevant == 0
        for values, of in ((precision, ranks), (recall, chunk.n_relevant[:, None])):
            values[part] = np.clip(ratio(hits, of), 0, 1)
            values[part][undefined] = zero_division
    return precision, recall


def _hits(ties: Ties, ranks: Array) -> Array:
    hits = np.empty((len(ties.total), len(ranks)))
    stops = ties.before + ties.total
    for column, k in enumerate(ranks):
        last = np.minimum(k, ties.n_items)[:, None]
        before, total, relevant_before, relevant = ties.at(np.argmax(stops >= last, axis=1))
        places = np.minimum(k - before, total)
        hits[:, column] = relevant_before + ratio(relevant, total) * places
    return hits
