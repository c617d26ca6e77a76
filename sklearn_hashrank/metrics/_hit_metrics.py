"""Metric functions of how many relevant items are among the first ones."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .._utils.types import Target
from ._measure import TieOrder
from ._metric_arguments import RetrievalRun


def average_precision_at_r_score(
    y_true: Target,
    codes: ArrayLike,
    *,
    database: tuple[Target, ArrayLike] | None = None,
    n_bits: int | None = None,
    affinity: Any = "auto",
    ties: TieOrder = "expected",
    average: bool = True,
    zero_division: float = np.nan,
    level: float | None = None,
    n_jobs: int | None = None,
) -> float | np.ndarray:
    """MAP@R of metric learning, averaged over all orders of tied items.

    The precisions at the relevant items among the first R places, over R, where R items are
    relevant in all.

    Parameters
    ----------
    y_true : array-like with n_queries rows
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
        chooses by the form of `y`. An item is relevant when its level is above 0.
    ties : {"expected", "optimistic", "pessimistic"}, default="expected"
        The mean over all orders of tied items, the best order, or the worst.
    average : bool, default=True
        Whether to return the mean over the queries, or one value for each.
    zero_division : float in [0, 1] or nan, default=nan
        The value of a query that nothing in the database is relevant to. NaN is left out of the
        mean, with one :class:`~sklearn.exceptions.UndefinedMetricWarning`.
    level : float, default=None
        The lowest relevance level that is relevant. None: every level above 0.
    n_jobs : int, default=None
        Threads. None means 1 unless in a :obj:`joblib.parallel_config` context, -1 means all
        processors.

    Returns
    -------
    value : float, or ndarray of shape (n_queries,) with ``average=False``

    References
    ----------
    .. [1] K. Musgrave, S. Belongie, S.-N. Lim, "A metric learning reality check", ECCV 2020.

    Examples
    --------
    >>> from sklearn_hashrank.metrics import average_precision_at_r_score
    >>> y, codes = [1, 1, 0, 1], [[0, 0], [0, 1], [1, 0], [1, 1]]
    >>> database = y[1:], codes[1:]
    >>> average_precision_at_r_score(y[:1], codes[:1], database=database)
    0.375
    """
    run = RetrievalRun(y_true, codes, database, n_bits, affinity, n_jobs)
    return run.measure(
        "average_precision_at_r", average, ties=ties, zero_division=zero_division, level=level
    )


def r_precision_score(
    y_true: Target,
    codes: ArrayLike,
    *,
    database: tuple[Target, ArrayLike] | None = None,
    n_bits: int | None = None,
    affinity: Any = "auto",
    ties: TieOrder = "expected",
    average: bool = True,
    zero_division: float = np.nan,
    level: float | None = None,
    n_jobs: int | None = None,
) -> float | np.ndarray:
    """Precision of the first R places, averaged over all orders of tied items.

    R is the number of relevant items of the query. There, precision and recall are equal.

    Parameters
    ----------
    y_true : array-like with n_queries rows
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
        chooses by the form of `y`. An item is relevant when its level is above 0.
    ties : {"expected", "optimistic", "pessimistic"}, default="expected"
        The mean over all orders of tied items, the best order, or the worst.
    average : bool, default=True
        Whether to return the mean over the queries, or one value for each.
    zero_division : float in [0, 1] or nan, default=nan
        The value of a query that nothing in the database is relevant to. NaN is left out of the
        mean, with one :class:`~sklearn.exceptions.UndefinedMetricWarning`.
    level : float, default=None
        The lowest relevance level that is relevant. None: every level above 0.
    n_jobs : int, default=None
        Threads. None means 1 unless in a :obj:`joblib.parallel_config` context, -1 means all
        processors.

    Returns
    -------
    value : float, or ndarray of shape (n_queries,) with ``average=False``

    Examples
    --------
    >>> from sklearn_hashrank.metrics import r_precision_score
    >>> y, codes = [1, 1, 0, 1], [[0, 0], [0, 1], [1, 0], [1, 1]]
    >>> database = y[1:], codes[1:]
    >>> r_precision_score(y[:1], codes[:1], database=database)
    0.5
    """
    run = RetrievalRun(y_true, codes, database, n_bits, affinity, n_jobs)
    return run.measure("r_precision", average, ties=ties, zero_division=zero_division, level=level)


def hit_rate_score(
    y_true: Target,
    codes: ArrayLike,
    *,
    database: tuple[Target, ArrayLike] | None = None,
    n_bits: int | None = None,
    affinity: Any = "auto",
    k: int | None = None,
    ties: TieOrder = "expected",
    average: bool = True,
    zero_division: float = np.nan,
    level: float | None = None,
    n_jobs: int | None = None,
) -> float | np.ndarray:
    """Probability of a relevant item among the first k, over all orders of tied items.

    It is also called success at k.

    Parameters
    ----------
    y_true : array-like with n_queries rows
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
        chooses by the form of `y`. An item is relevant when its level is above 0.
    k : int, default=None
        Only the first k places of the ranking count. None: the whole ranking. It may fall inside
        a tie.
    ties : {"expected", "optimistic", "pessimistic"}, default="expected"
        The mean over all orders of tied items, the best order, or the worst.
    average : bool, default=True
        Whether to return the mean over the queries, or one value for each.
    zero_division : float in [0, 1] or nan, default=nan
        The value of a query that nothing in the database is relevant to. NaN is left out of the
        mean, with one :class:`~sklearn.exceptions.UndefinedMetricWarning`.
    level : float, default=None
        The lowest relevance level that is relevant. None: every level above 0.
    n_jobs : int, default=None
        Threads. None means 1 unless in a :obj:`joblib.parallel_config` context, -1 means all
        processors.

    Returns
    -------
    value : float, or ndarray of shape (n_queries,) with ``average=False``

    Examples
    --------
    >>> from sklearn_hashrank.metrics import hit_rate_score
    >>> y, codes = [1, 1, 0, 1], [[0, 0], [0, 1], [1, 0], [1, 1]]
    >>> database = y[1:], codes[1:]
    >>> hit_rate_score(y[:1], codes[:1], database=database, k=1)
    0.5
    """
    run = RetrievalRun(y_true, codes, database, n_bits, affinity, n_jobs)
    return run.measure(
        "hit_rate", average, k=k, ties=ties, zero_division=zero_division, level=level
    )


def rank_biased_precision_score(
    y_true: Target,
    codes: ArrayLike,
    *,
    database: tuple[Target, ArrayLike] | None = None,
    n_bits: int | None = None,
    affinity: Any = "auto",
    k: int | None = None,
    p: float = 0.8,
    ties: TieOrder = "expected",
    average: bool = True,
    zero_division: float = np.nan,
    level: float | None = None,
    n_jobs: int | None = None,
) -> float | np.ndarray:
    """Share of relevant items that a patient reader sees, averaged over tie orders.

    The reader goes on to the next rank with probability `p`: rank t counts (1 - p) p ** (t - 1).

    Parameters
    ----------
    y_true : array-like with n_queries rows
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
        chooses by the form of `y`. An item is relevant when its level is above 0.
    k : int, default=None
        Only the first k places of the ranking count. None: the whole ranking. It may fall inside
        a tie.
    p : float, default=0.8
        Probability, between 0 and 1, that the reader goes on to the next rank.
    ties : {"expected", "optimistic", "pessimistic"}, default="expected"
        The mean over all orders of tied items, the best order, or the worst.
    average : bool, default=True
        Whether to return the mean over the queries, or one value for each.
    zero_division : float in [0, 1] or nan, default=nan
        The value of a query that nothing in the database is relevant to. NaN is left out of the
        mean, with one :class:`~sklearn.exceptions.UndefinedMetricWarning`.
    level : float, default=None
        The lowest relevance level that is relevant. None: every level above 0.
    n_jobs : int, default=None
        Threads. None means 1 unless in a :obj:`joblib.parallel_config` context, -1 means all
        processors.

    Returns
    -------
    value : float, or ndarray of shape (n_queries,) with ``average=False``

    References
    ----------
    .. [1] A. Moffat, J. Zobel, "Rank-biased precision for measurement of retrieval
       effectiveness", ACM TOIS 27, 2008.

    Examples
    --------
    >>> from sklearn_hashrank.metrics import rank_biased_precision_score
    >>> y, codes = [1, 1, 0, 1], [[0, 0], [0, 1], [1, 0], [1, 1]]
    >>> database = y[1:], codes[1:]
    >>> round(rank_biased_precision_score(y[:1], codes[:1], database=database, p=0.5), 4)
    0.5
    """
    run = RetrievalRun(y_true, codes, database, n_bits, affinity, n_jobs)
    return run.measure(
        "rank_biased_precision",
        average,
        k=k,
        p=p,
        ties=ties,
        zero_division=zero_division,
        level=level,
    )


def bpref_score(
    y_true: Target,
    codes: ArrayLike,
    *,
    database: tuple[Target, ArrayLike] | None = None,
    n_bits: int | None = None,
    affinity: Any = "auto",
    ties: TieOrder = "expected",
    average: bool = True,
    zero_division: float = np.nan,
    level: float | None = None,
    n_jobs: int | None = None,
) -> float | np.ndarray:
    """Binary preference, averaged over all orders of tied items.

    Each relevant item counts 1 less the share of min(R, N) irrelevant items ahead of it, where R
    items are relevant and N irrelevant. It was made for rankings of which only a part is judged:
    see :meth:`RetrievalHistogram.from_run`.

    Parameters
    ----------
    y_true : array-like with n_queries rows
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
        chooses by the form of `y`. An item is relevant when its level is above 0.
    ties : {"expected", "optimistic", "pessimistic"}, default="expected"
        The mean over all orders of tied items, the best order, or the worst.
    average : bool, default=True
        Whether to return the mean over the queries, or one value for each.
    zero_division : float in [0, 1] or nan, default=nan
        The value of a query that nothing in the database is relevant to. NaN is left out of the
        mean, with one :class:`~sklearn.exceptions.UndefinedMetricWarning`.
    level : float, default=None
        The lowest relevance level that is relevant. None: every level above 0.
    n_jobs : int, default=None
        Threads. None means 1 unless in a :obj:`joblib.parallel_config` context, -1 means all
        processors.

    Returns
    -------
    value : float, or ndarray of shape (n_queries,) with ``average=False``

    References
    ----------
    .. [1] C. Buckley, E. M. Voorhees, "Retrieval evaluation with incomplete information", SIGIR
       2004.

    Examples
    --------
    >>> from sklearn_hashrank.metrics import bpref_score
    >>> y, codes = [1, 1, 0, 1], [[0, 0], [0, 1], [1, 0], [1, 1]]
    >>> database = y[1:], codes[1:]
    >>> bpref_score(y[:1], codes[:1], database=database)
    0.25
    """
    run = RetrievalRun(y_true, codes, database, n_bits, affinity, n_jobs)
    return run.measure("bpref", average, ties=ties, zero_division=zero_division, level=level)
