"""Count a retrieval histogram from distances of any kind."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .._utils.types import Target
from ..affinity._auto import fit_affinity
from ..affinity._level_checks import check_level_indices
from ._counting import check_rows, refuse_self
from ._histogram import RetrievalHistogram
from ._rankings import Rankings, as_numbers, exact_numbers, tie_numbers


def distance_histogram(
    distances: ArrayLike,
    query_y: Target,
    database_y: Target | None = None,
    *,
    affinity: Any = "auto",
    exclude_self: bool = False,
) -> RetrievalHistogram:
    """Count, for each query, the database items of each level at each of its distances.

    Use it to rank by other distances than Hamming's, such as
    :func:`~sklearn_hashrank.codes.spherical_distances`, or Euclidean ones. Items at equal distances
    are tied, and the measures are means over the orders of tied items, as ever.

    Parameters
    ----------
    distances : array-like of shape (n_queries, n_database)
        Distance of every pair, smaller ones first. Infinite ones come last. Integers are compared
        as they are, of whatever size.
    query_y : array-like with n_queries rows
        What `affinity` compares: labels, label sets, label paths or vectors.
    database_y : array-like with n_database rows, default=None
        The same for the database. None: the queries are the database.
    affinity : "auto" or affinity object, default="auto"
        A fitted object is used as it is, an unfitted one is fitted on the database rows; "auto"
        chooses by their form.
    exclude_self : bool, default=False
        The queries are the database, in the same order, and no row retrieves itself.

    Returns
    -------
    histogram : RetrievalHistogram
        Ties come in ascending order of the distances of a query; neighboring ones without a
        relevant item are one. Measures within a Hamming radius are refused, and histograms of
        shards cannot be added.

    See Also
    --------
    sklearn_hashrank.RetrievalHistogram.from_scores : The same from relevance and scores.

    Examples
    --------
    >>> from sklearn_hashrank.metrics import distance_histogram
    >>> h = distance_histogram([[0.5, 0.1, 0.5]], [7], [7, 7, 8])
    >>> h.counts
    array([[[0, 1],
            [1, 1]]])
    >>> h.average_precision()
    array([0.91666667])
    """
    ranked_by = _check_distances(distances)
    n_queries, n_database = ranked_by.shape
    query_y = check_rows(query_y, n_queries, "query")
    is_self = database_y is None
    if (is_self or exclude_self) and n_queries != n_database:
        refuse_self(f"distances of {n_queries} queries and {n_database} database rows")
    database_y = query_y if is_self else check_rows(database_y, n_database, "database")
    affinity = fit_affinity(affinity, database_y)
    queries = affinity.validate(query_y, "query y")
    database = affinity.validate(database_y, "database y")
    n_levels = affinity.n_reachable_levels(queries)
    affinity, queries = affinity.of_queries(queries, bool(exclude_self))
    items, numbers = [], []
    for i in range(n_queries):
        of_query = affinity.level_indices(queries[i : i + 1], database)
        [of_query] = check_level_indices(affinity, of_query, (1, n_database), n_levels)
        if exclude_self:
            of_query = np.delete(of_query, i)
        items.append(np.flatnonzero(affinity.levels_[of_query]))
        numbers.append(of_query[items[-1]])
    if exclude_self:
        ranked_by = ranked_by[~np.eye(n_database, dtype=bool)].reshape(n_queries, n_database - 1)
    starts = np.arange(n_queries + 1) * ranked_by.shape[1]
    scores = as_numbers(ranked_by).reshape(-1)
    if scores.dtype.kind == "O":
        scores = tie_numbers(scores, starts, 0.0)
    relevant_starts = np.concatenate([[0], np.cumsum([len(of_query) for of_query in items])])
    nothing = np.zeros(0, dtype=np.int64)
    relevant = np.concatenate([nothing, *(of + start for of, start in zip(items, starts))])
    indices = np.concatenate([nothing, *numbers]).astype(np.int64)
    levels = affinity.levels_[:n_levels]
    if levels[0] > 0:  # what lies between relevant items is at level 0
        levels, indices = np.concatenate([[0.0], levels]), indices + 1
    rankings = Rankings(
        levels,
        scores,
        starts,
        scores[relevant],
        relevant_starts.astype(np.int64),
        indices,
        None,
        None,
        np.zeros((0, 2), dtype=np.int64),
    )
    return RetrievalHistogram.from_ties(rankings.table(is_descending=False), None)


def _check_distances(distances: Any) -> np.ndarray:
    given = exact_numbers(distances, "distances")
    if given.ndim != 2:
        raise ValueError(
            "distances must have shape (n_queries, n_database). The order of the arguments is "
            f"(distances, query_y, database_y). Got shape {given.shape}."
        )
    if np.any(given != given):
        raise ValueError("distances must be numbers. Got NaN.")
    return given
