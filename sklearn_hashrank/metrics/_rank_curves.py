"""Precision and recall at many ranks at once."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._configured import configure_measure
from ._evaluation import chunks_of
from ._measure import TieOrder
from ._tie_tables import TieTable
from ._ties import Array, Ties, ratio

_N_RANKS = 100  # a line of a picture needs no more


def precision_and_recall(
    table: TieTable, k: ArrayLike | None, ties: TieOrder, zero_division: float
) -> tuple[Array, Array, NDArray[np.int64]]:
    """Return precision and recall, (n_queries, n_ranks), at every rank `k`, and the ranks."""
    checked = configure_measure("precision", ties=ties, zero_division=zero_division)
    k = _default_ranks(table) if k is None else _validated_ranks(k)
    ranks = k.astype(np.float64)
    precision, recall = np.empty((2, table.n_queries, len(ranks)))
    for part, chunk in chunks_of(table, ties):
        in_order = ties in ("expected", "docid")
        order = chunk if in_order else chunk.split(ties == "optimistic")
        hits = _hits(order, ranks)
        undefined = chunk.n_relevant == 0
        for values, of in ((precision, ranks), (recall, chunk.n_relevant[:, None])):
            found = np.clip(ratio(hits, of), 0, 1)
            found[undefined] = checked.zero_division
            values[part] = found
    return precision, recall, k


def _default_ranks(table: TieTable) -> NDArray[np.int64]:
    n_items = max([1, *(int(chunk.n_items.max()) for _, chunk in chunks_of(table, "expected"))])
    ranks = np.geomspace(1, n_items, _N_RANKS)
    return np.unique(np.rint(ranks).astype(np.int64))


def _validated_ranks(k: ArrayLike) -> NDArray[np.int64]:
    ranks = np.asarray(k)
    if ranks.ndim != 1 or not ranks.size or ranks.dtype.kind not in "iu" or ranks.min() < 1:
        raise ValueError(
            "The 'k' parameter of a curve must be None or a 1-d array of ints >= 1. "
            f"Got {k!r} instead."
        )
    return ranks.astype(np.int64)


def _hits(ties: Ties, ranks: Array) -> Array:
    hits = np.empty((len(ties.total), len(ranks)))
    stops = ties.before + ties.total
    for column, k in enumerate(ranks):
        last = np.minimum(k, ties.n_items)[:, None]
        before, total, relevant_before, relevant = ties.at(np.argmax(stops >= last, axis=1))
        places = np.minimum(k - before, total)
        hits[:, column] = relevant_before + ratio(relevant, total) * places
    return hits
