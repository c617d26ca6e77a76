"""What the metric functions share: their documentation, and how they come by a histogram."""

from typing import Any, NamedTuple

import numpy as np

from .._utils.docs import documented_by
from ..histogram import RetrievalHistogram, retrieval_histogram
from ..measures import ConfiguredMeasure, mean_score

_AVERAGE = """average : bool, default=True
        Whether to return the mean over the queries, or one value for each.
    zero_division : float in [0, 1] or nan, default=nan
        The value of a query that nothing in the database is relevant to. NaN is left out of the
        mean, with one :class:`~sklearn.exceptions.UndefinedMetricWarning`.
    n_jobs : int, default=None
        Threads. None means 1 unless in a :obj:`joblib.parallel_config` context, -1 means all
        processors."""

_FRAGMENTS = {
    "parameters": """y_true : array-like with n_queries rows
        What `affinity` compares: class labels, label sets, label paths or vectors.
    codes : array-like of shape (n_queries, n_columns)
        Codes of the queries: bits in {0, 1}, signs in {-1, +1}, or packed bytes.
    database : tuple (y_database, database_codes), default=None
        The items to retrieve. None: every row is a query against all other rows, itself left out
        by its position.
    n_bits : int, default=None
        Length of a code; needed for packed codes.
    affinity : "auto" or affinity object, default="auto"
        A fitted object is used as it is, an unfitted one is fitted on the database rows; "auto"
        chooses by the form of `y`. An item is relevant when its level is above 0.""",
    "k": """k : int, default=None
        Only the first k places of the ranking count. None: the whole ranking. It may fall inside
        a tie.""",
    "ranks": """k : array-like of int, default=None
        The ranks of the curve, each at least 1. None: about 100, from 1 to the number of items,
        evenly spaced on a logarithmic scale.""",
    "gain options": """gain : {"exponential", "linear"}, default="exponential"
        Gain of level v: 2 ** v - 1, or v.
    discount : {"log2p1", "log2"}, default="log2p1"
        Discount at rank t: 1 / log2(t + 1); or 1 / log2(t), and 1 at rank 1.""",
    "curve options": """ties : {"expected", "optimistic", "pessimistic"}, default="expected"
        The mean over all orders of tied items, the best order, or the worst.
    """
    + _AVERAGE,
    "lookup options": """ties : {"expected", "optimistic", "pessimistic"}, default="expected"
        Without effect: a ball holds all items of a distance or none, so that no order matters.
    """
    + _AVERAGE
    + """

    Returns
    -------
    score : float, or ndarray of shape (n_queries,) with ``average=False``""",
}
_FRAGMENTS["options"] = (
    _FRAGMENTS["curve options"]
    + """

    Returns
    -------
    score : float, or ndarray of shape (n_queries,) with ``average=False``"""
)

documented = documented_by(_FRAGMENTS, indent=4)


class Retrieval(NamedTuple):
    """What every metric function is given to count."""

    y_true: Any
    codes: Any
    database: Any
    n_bits: int | None
    affinity: Any
    n_jobs: int | None

    def histogram(self, average: bool, keep_codes: bool = False) -> RetrievalHistogram:
        """Count, after a look at the arguments that all metric functions have."""
        if not isinstance(average, (bool, np.bool_)):
            raise ValueError(f"average must be True or False. Got {average!r} instead.")
        exclude_self = self.database is None
        database = (self.y_true, self.codes) if exclude_self else self.database
        if not isinstance(database, (tuple, list)) or len(database) != 2:
            raise ValueError(
                f"database must be None or a tuple (y_database, database_codes). Got {database!r}."
            )
        return retrieval_histogram(
            self.codes,
            database[1],
            self.y_true,
            database[0],
            affinity=self.affinity,
            n_bits=self.n_bits,
            exclude_self=exclude_self,
            keep_codes=keep_codes,
            n_jobs=self.n_jobs,
        )


def score(measure: ConfiguredMeasure, retrieval: Retrieval, average: bool) -> float | np.ndarray:
    """Evaluate a measure, whose options are checked before anything is counted."""
    histogram = retrieval.histogram(average, measure.measure.needs_codes)
    values = histogram.measure(measure)
    return mean_score(values, stacklevel=4) if average else values
