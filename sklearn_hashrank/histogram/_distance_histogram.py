"""Count a retrieval histogram from distances of any kind."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_array

from .._utils.types import Target
from ..affinity import check_level_indices, fit_affinity
from ..rows import as_numpy
from ._counting import check_rows, refuse_self
from ._histogram import RetrievalHistogram


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
    ties = np.empty(ranked_by.shape, dtype=np.intp)
    for row, of_query in zip(ties, ranked_by):
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


def _check_distances(distances: Any) -> np.ndarray:
    """Return real numbers in the dtype in which they came: rounding would tie some of them."""
    given = as_numpy(distances, "distances")
    if given.ndim != 2:
        raise ValueError(
            "distances must have shape (n_queries, n_database). The order of the arguments is "
            f"(distances, query_y, database_y). Got shape {given.shape}."
        )
    checked = check_array(given, ensure_all_finite=False, dtype="numeric", input_name="distances")
    if given.dtype.kind == "O" and not np.array_equal(given, checked, equal_nan=False):
        raise ValueError(
            "distances must be numbers that numpy holds exactly. Got objects, NaN or integers "
            "that float64 rounds."
        )
    if checked.dtype.kind == "f" and np.isnan(checked).any():
        raise ValueError("distances must be numbers. Got NaN.")
    return checked
