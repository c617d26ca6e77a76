"""Counts of the ties of any distances, for the measures of rankings."""

from typing import Any

import numpy as np
from sklearn.utils import check_array

from ..affinity import check_level_indices, fit_affinity
from ._counting import check_rows, refuse_self
from ._histogram import RetrievalHistogram


def distance_histogram(
    distances: Any,
    query_y: Any,
    database_y: Any = None,
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
        Distance of every pair, smaller ones first. Infinite ones come last.
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
        Tie t of a query holds the items at the t-th of its distances, in ascending order. The
        measures of rankings mean what they always do. Those within a Hamming radius do not, and
        histograms of shards cannot be added.

    Examples
    --------
    >>> from sklearn_hashrank.histogram import distance_histogram
    >>> h = distance_histogram([[0.5, 0.1, 0.5]], [7], [7, 7, 8])
    >>> h.counts
    array([[[0, 1],
            [1, 1]]])
    >>> h.average_precision()
    array([0.91666667])
    """
    distances = check_array(
        distances, ensure_all_finite=False, dtype=[np.float64, np.float32], input_name="distances"
    )
    if np.isnan(distances).any():
        raise ValueError("distances must be numbers. Got NaN.")
    n_queries, n_database = distances.shape
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
    ties = np.empty(distances.shape, dtype=np.intp)
    for row, of_query in zip(ties, distances):
        row[:] = np.unique(of_query, return_inverse=True)[1]
    n_ties = int(ties.max(initial=0)) + 1
    counts = np.empty((n_queries, n_levels, n_ties), dtype=np.int64)
    for i, row in enumerate(ties):
        query = slice(i, i + 1)
        levels = affinity.level_indices(queries[query], database)
        [levels] = check_level_indices(affinity, levels, (1, n_database), n_levels)
        bins = levels.astype(np.intp) * n_ties + row
        if exclude_self:
            bins = np.delete(bins, i)
        counts[i] = np.bincount(bins, minlength=n_levels * n_ties).reshape(n_levels, n_ties)
    return RetrievalHistogram(counts, affinity.levels_[:n_levels])
