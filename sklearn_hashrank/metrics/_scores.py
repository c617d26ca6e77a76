"""Rankings from arrays of scores: dense, sparse, or one array for each query."""

import reprlib
from collections.abc import Sequence
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from .._utils.parameters import is_finite
from ._rankings import (
    ById,
    Integers,
    Rankings,
    as_numbers,
    exact_numbers,
    tie_numbers,
    without_objects,
)
from ._tie_tables import RaggedTies

ScoreOrder = Literal["similarity", "distance"]
NaNScores = Literal["error", "last"]

_FEW_LEVELS = 1000


def check_one_of(name: str, given: object, accepted: Any) -> None:
    """Check a policy, a str among those of a Literal."""
    if not isinstance(given, str) or given not in get_args(accepted):
        raise ValueError(f"{name} must be one of {get_args(accepted)}. Got {given!r} instead.")


def check_tolerance(tolerance: Any) -> None:
    """Check how far apart scores may be that tie."""
    if not is_finite(tolerance) or not 0 <= tolerance < np.inf:
        raise ValueError(f"tolerance must be a finite number >= 0. Got {tolerance!r} instead.")


def check_ids(what: str, ids: Sequence[Any], n: int) -> None:
    """Check that each query, or each item, has a name of its own."""
    if len(ids) != n or len(set(ids)) < n:
        raise ValueError(
            f"{what}_ids must hold {n} different names. "
            f"Got {len(ids)} names, {len(set(ids))} of them different."
        )


def table_of_scores(
    relevance: Any,
    scores: Any,
    order: ScoreOrder,
    tolerance: float,
    nan: NaNScores,
    groups: Any,
    item_ids: Sequence[Any] | None,
    n_jobs: int | None,
) -> RaggedTies:
    """Check relevance and scores, and count ties; :meth:`RetrievalHistogram.from_scores`."""
    check_one_of("order", order, ScoreOrder)
    check_one_of("nan", nan, NaNScores)
    check_tolerance(tolerance)
    missed: list[Any] = []
    if sparse.issparse(scores):
        if groups is not None:
            raise ValueError("groups needs relevance and scores that are 1-d. Got sparse scores.")
        flat, starts, items, of_items, missed = _of_sparse(relevance, scores)
    else:
        flat, starts, items, of_items = _of_arrays(relevance, scores, groups)
    is_descending = order == "similarity"
    flat = without_nan(flat, starts, nan, is_descending)
    if tolerance > 0 or flat.dtype.kind == "O":
        flat = tie_numbers(flat, starts, tolerance)
    levels, numbers = _numbered(of_items)
    places_of_missed = np.zeros((0, 2), dtype=np.int64)
    if len(missed) and len(missed[0]):
        levels = np.union1d(levels, missed[1])
        numbers = np.searchsorted(levels, of_items)
        places_of_missed = np.stack([missed[0], np.searchsorted(levels, missed[1]) + 1], axis=1)
    levels = np.concatenate([[0.0], levels.astype(np.float64)])
    by_id = _by_item_ids(item_ids, items, numbers + 1, starts, scores)
    rankings = Rankings(
        levels,
        flat,
        starts,
        flat[items],
        np.searchsorted(items, starts),
        numbers.astype(np.int64) + 1,
        None,
        None,
        places_of_missed,
    )
    return rankings.table(is_descending, by_id, n_jobs)


def _numbered(levels: Any) -> tuple[Any, Integers]:
    """Return the distinct levels, ascending, and the index of each; small integers are counted."""
    highest = levels.max(initial=0)
    if levels.dtype.kind not in "iu" or highest > _FEW_LEVELS:
        return np.unique(levels, return_inverse=True)
    present = np.zeros(int(highest) + 1, dtype=bool)
    present[levels] = True
    return np.flatnonzero(present), (np.cumsum(present) - 1)[levels]


def _of_arrays(relevance: Any, scores: Any, groups: Any) -> tuple[Any, Integers, Integers, Any]:
    """Return flat scores, where queries begin, and the relevant items with their levels."""
    is_list = groups is None and isinstance(scores, (list, tuple))
    if is_list and len({np.shape(each) for each in scores}) > 1:
        if not isinstance(relevance, (list, tuple)):
            raise ValueError(
                "relevance must be a list with one array for each query, as scores are. "
                f"Got {type(relevance).__name__}."
            )
        of_queries = [exact_numbers(each, "scores") for each in scores]
        levels = [_levels(each) for each in relevance]
        shapes, of_levels = ([each.shape for each in of] for of in (of_queries, levels))
        if shapes != of_levels or any(len(shape) != 1 for shape in shapes):
            at = next((i for i, (a, b) in enumerate(zip(shapes, of_levels)) if a != b), 0)
            raise ValueError(
                "relevance and scores must hold one 1-d array for each query, of one number for "
                f"each item. Got {len(levels)} and {len(of_queries)} arrays, and for query {at} "
                f"shapes {of_levels[at : at + 1]} and {shapes[at : at + 1]}."
            )
        starts = np.concatenate([[0], np.cumsum([len(each) for each in of_queries])])
        if len({each.dtype for each in of_queries}) > 1:  # of which numpy would make floats
            of_queries = [each.astype(object) for each in of_queries]
        flat, of_all = np.concatenate(of_queries), np.concatenate(levels)
        flat = without_objects(flat) if flat.dtype.kind == "O" else flat
    else:
        flat, of_all = exact_numbers(scores, "scores"), _levels(relevance)
        if flat.shape != of_all.shape or flat.ndim != (2 if groups is None else 1):
            form = "(n_queries, n_items)" if groups is None else "(n_items,) with groups"
            raise ValueError(
                f"relevance and scores must have one shape, {form}. The order of the arguments is "
                f"(relevance, scores). Got shapes {of_all.shape} and {flat.shape}."
            )
        if groups is None:
            starts = np.arange(flat.shape[0] + 1) * flat.shape[1]
        else:
            sizes = np.asarray(groups)
            if sizes.ndim != 1 or sizes.dtype.kind not in "iu" or (sizes < 0).any():
                raise ValueError(f"groups must be whole numbers >= 0, 1-d. Got {groups!r}.")
            starts = np.concatenate([[0], np.cumsum(sizes)])
            if starts[-1] != len(flat):
                raise ValueError(
                    f"groups must add up to the number of items, {len(flat)}. Got {starts[-1]}."
                )
        flat, of_all = flat.reshape(-1), of_all.reshape(-1)
    items = np.flatnonzero(of_all != 0)
    levels_of_items = of_all[items]
    _check_levels(levels_of_items)
    return as_numbers(flat), starts.astype(np.int64), items, levels_of_items


def _of_sparse(relevance: Any, scores: Any) -> tuple[Any, Integers, Integers, Any, list[Any]]:
    """Take the stored scores for what was retrieved; other relevant items are missed."""
    scores = _without_duplicates(scores, "scores")
    if sparse.issparse(relevance):
        relevance = _without_duplicates(relevance, "relevance")
    else:
        relevance = sparse.csr_matrix(relevance)
    if relevance.shape != scores.shape or scores.ndim != 2:
        raise ValueError(
            "relevance and scores must have one shape, (n_queries, n_items). "
            f"Got shapes {relevance.shape} and {scores.shape}."
        )
    _check_levels(relevance.data)
    relevance.eliminate_zeros()
    width = scores.shape[1]
    stored, judged = (
        np.repeat(np.arange(m.shape[0]), np.diff(m.indptr)) * width + m.indices
        for m in (scores, relevance)
    )
    at = np.searchsorted(stored, judged)
    found = at < len(stored)
    found[found] = stored[at[found]] == judged[found]
    missed = [judged[~found] // max(1, width), relevance.data[~found]]
    return (
        as_numbers(scores.data),
        scores.indptr.astype(np.int64),
        at[found],
        relevance.data[found],
        missed,
    )


def _without_duplicates(matrix: Any, name: str) -> Any:
    """Copy a sparse matrix, whose items a conversion between formats would silently add up."""
    stored = matrix.tocoo()
    rows = stored.tocsr(copy=True)
    rows.sum_duplicates()
    if rows.nnz < stored.nnz:
        raise ValueError(f"{name} must hold each item of a query once. Got duplicates.")
    return rows


def _levels(relevance: Any) -> NDArray[Any]:
    levels = exact_numbers(relevance, "relevance")
    if levels.dtype.kind == "O":
        raise ValueError(
            f"relevance must be numbers that float64 holds. Got {reprlib.repr(relevance)}."
        )
    return levels


def _check_levels(levels: NDArray[Any]) -> None:
    # The minimum and the maximum are NaN where any level is.
    if levels.size and not (levels.min() >= 0 and levels.max() < np.inf):
        raise ValueError(
            "relevance must be finite numbers >= 0. The order of the arguments is "
            f"(relevance, scores). Got {levels[~((levels >= 0) & (levels < np.inf))][0]}."
        )


def without_nan(
    scores: NDArray[Any],
    starts: Integers,
    nan: NaNScores,
    is_descending: bool,
    names: Sequence[Any] | None = None,
) -> NDArray[Any]:
    """Refuse NaN, or let it come last."""
    missing = scores != scores
    if not missing.any():
        return scores
    if nan == "error":
        first = int(np.argmax(missing))
        query = int(np.searchsorted(starts, first, side="right")) - 1
        name = query if names is None else names[query]
        raise ValueError(
            f"scores must be numbers. Got NaN for {missing.sum():,} of {scores.size:,} items, "
            f"first for item {first - starts[query]} of query {name!r}. nan='last' ranks them last."
        )
    scores = scores.copy()
    scores[missing] = -np.inf if is_descending else np.inf
    return scores


def _by_item_ids(
    item_ids: Sequence[Any] | None,
    items: Integers,
    numbers: Integers,
    starts: Integers,
    scores: Any,
) -> ById | None:
    """Order items by their names, the last in the alphabet first."""
    if item_ids is None:
        return None
    columns = None
    if sparse.issparse(scores):
        n_items, columns = scores.shape[1], scores.tocsr().sorted_indices().indices
    else:
        sizes = np.diff(starts)
        n_items = sizes.max(initial=0)
        if (sizes != n_items).any():
            raise ValueError("item_ids needs scores of the same items for all queries.")
    check_ids("item", item_ids, n_items)
    if not all(isinstance(name, str) for name in item_ids):
        raise ValueError("item_ids must be str: trec_eval orders tied items by their names.")
    place = np.empty(n_items, dtype=np.int64)
    place[sorted(range(n_items), key=lambda i: item_ids[i], reverse=True)] = np.arange(n_items)
    level_of = np.zeros(starts[-1], dtype=np.int64)
    level_of[items] = numbers

    def by_id(query: int, tied: Integers) -> tuple[Integers, NDArray[np.bool_]]:
        flat = tied + starts[query]
        order = np.argsort(place[tied if columns is None else columns[flat]])
        return level_of[flat[order]], np.ones(len(tied), dtype=bool)

    return by_id
