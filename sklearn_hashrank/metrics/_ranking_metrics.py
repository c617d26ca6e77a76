"""Metric functions of the Hamming ranking, whole or cut at k."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .._utils.types import Target
from ._gains import Gain
from ._measure import TieOrder
from ._metric_arguments import RetrievalRun
from ._ranking_measures import Normalize
from ._sums import Discount


def tie_aware_average_precision_score(
    y_true: Target,
    codes: ArrayLike,
    *,
    database: tuple[Target, ArrayLike] | None = None,
    n_bits: int | None = None,
    affinity: Any = "auto",
    k: int | None = None,
    normalize: Normalize = "relevant",
    ties: TieOrder = "expected",
    average: bool = True,
    zero_division: float = np.nan,
    level: float | None = None,
    n_jobs: int | None = None,
) -> float | np.ndarray:
    """Average precision of the Hamming ranking, averaged over all orders of tied items.

    The precisions at the ranks of the relevant items, summed, over the number of relevant items;
    its mean over the queries is the mAP of the hashing literature. Unlike
    :func:`sklearn.metrics.average_precision_score` it is the exact expectation under ties.

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
    normalize : {"relevant", "min", "retrieved"}, default="relevant"
        The denominator when `k` is given: all relevant items; at most k of them; or those among
        the first k (0 where there is none), as in the AP@5000 of papers on hashing.
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
    .. [1] K. He, F. Cakir, S. A. Bargal, S. Sclaroff, "Hashing as tie-aware learning to rank",
       CVPR 2018, proposition 1.
    .. [2] F. McSherry, M. Najork, "Computing information retrieval performance measures
       efficiently in the presence of tied scores", ECIR 2008.

    Examples
    --------
    >>> from sklearn_hashrank.metrics import tie_aware_average_precision_score
    >>> y, codes = ["cat", "cat", "dog"], [[0, 0], [0, 1], [1, 0]]
    >>> tie_aware_average_precision_score(y[:1], codes[:1], database=(y[1:], codes[1:]))
    0.75
    >>> [
    ...     tie_aware_average_precision_score(
    ...         y[:1], codes[:1], database=(y[1:], codes[1:]), ties=ties
    ...     )
    ...     for ties in ("optimistic", "pessimistic")
    ... ]
    [1.0, 0.5]
    """
    run = RetrievalRun(y_true, codes, database, n_bits, affinity, n_jobs)
    return run.measure(
        "average_precision",
        average,
        k=k,
        normalize=normalize,
        ties=ties,
        zero_division=zero_division,
        level=level,
    )


def tie_aware_ndcg_score(
    y_true: Target,
    codes: ArrayLike,
    *,
    database: tuple[Target, ArrayLike] | None = None,
    n_bits: int | None = None,
    affinity: Any = "auto",
    k: int | None = None,
    gain: Gain = "exponential",
    discount: Discount = "log2p1",
    ties: TieOrder = "expected",
    average: bool = True,
    zero_division: float = np.nan,
    n_jobs: int | None = None,
) -> float | np.ndarray:
    """Normalized discounted cumulative gain of the Hamming ranking, averaged over tie orders.

    The discounted cumulative gain over that of the ideal ranking, which is cut at `k` too.

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
    gain : {"exponential", "linear"}, default="exponential"
        Gain of level v: 2 ** v - 1, or v.
    discount : {"log2p1", "log2"}, default="log2p1"
        Discount at rank t: 1 / log2(t + 1); or 1 / log2(t), and 1 at rank 1.
    ties : {"expected", "optimistic", "pessimistic"}, default="expected"
        The mean over all orders of tied items, the best order, or the worst.
    average : bool, default=True
        Whether to return the mean over the queries, or one value for each.
    zero_division : float in [0, 1] or nan, default=nan
        The value of a query that nothing in the database is relevant to. NaN is left out of the
        mean, with one :class:`~sklearn.exceptions.UndefinedMetricWarning`.
    n_jobs : int, default=None
        Threads. None means 1 unless in a :obj:`joblib.parallel_config` context, -1 means all
        processors.

    Returns
    -------
    value : float, or ndarray of shape (n_queries,) with ``average=False``

    References
    ----------
    .. [1] K. He, F. Cakir, S. A. Bargal, S. Sclaroff, "Hashing as tie-aware learning to rank",
       CVPR 2018, proposition 1.
    .. [2] J. Wang, W. Liu, A. X. Sun, Y.-G. Jiang, "Learning hash codes with listwise
       supervision", ICCV 2013, equation 12 (``gain="linear", discount="log2"``).

    Examples
    --------
    >>> from sklearn_hashrank.metrics import tie_aware_ndcg_score
    >>> Y = [[1, 1], [1, 1], [1, 0], [0, 0]]
    >>> codes = [[0, 0], [0, 1], [0, 1], [1, 1]]
    >>> round(tie_aware_ndcg_score(Y[:1], codes[:1], database=(Y[1:], codes[1:])), 4)
    0.8984
    """
    run = RetrievalRun(y_true, codes, database, n_bits, affinity, n_jobs)
    return run.measure(
        "ndcg", average, k=k, gain=gain, discount=discount, ties=ties, zero_division=zero_division
    )


def tie_aware_dcg_score(
    y_true: Target,
    codes: ArrayLike,
    *,
    database: tuple[Target, ArrayLike] | None = None,
    n_bits: int | None = None,
    affinity: Any = "auto",
    k: int | None = None,
    gain: Gain = "exponential",
    discount: Discount = "log2p1",
    ties: TieOrder = "expected",
    average: bool = True,
    zero_division: float = np.nan,
    n_jobs: int | None = None,
) -> float | np.ndarray:
    """Discounted cumulative gain of the Hamming ranking, averaged over all orders of tied items.

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
    gain : {"exponential", "linear"}, default="exponential"
        Gain of level v: 2 ** v - 1, or v.
    discount : {"log2p1", "log2"}, default="log2p1"
        Discount at rank t: 1 / log2(t + 1); or 1 / log2(t), and 1 at rank 1.
    ties : {"expected", "optimistic", "pessimistic"}, default="expected"
        The mean over all orders of tied items, the best order, or the worst.
    average : bool, default=True
        Whether to return the mean over the queries, or one value for each.
    zero_division : float in [0, 1] or nan, default=nan
        The value of a query that nothing in the database is relevant to. NaN is left out of the
        mean, with one :class:`~sklearn.exceptions.UndefinedMetricWarning`.
    n_jobs : int, default=None
        Threads. None means 1 unless in a :obj:`joblib.parallel_config` context, -1 means all
        processors.

    Returns
    -------
    value : float, or ndarray of shape (n_queries,) with ``average=False``

    References
    ----------
    .. [1] K. He, F. Cakir, S. A. Bargal, S. Sclaroff, "Hashing as tie-aware learning to rank",
       CVPR 2018, proposition 1.

    Examples
    --------
    >>> from sklearn_hashrank.metrics import tie_aware_dcg_score
    >>> y, codes = [1, 1, 1, 0], [[0, 0], [0, 0], [1, 1], [0, 1]]
    >>> round(tie_aware_dcg_score(y[:1], codes[:1], database=(y[1:], codes[1:])), 4)
    1.5
    """
    run = RetrievalRun(y_true, codes, database, n_bits, affinity, n_jobs)
    return run.measure(
        "dcg", average, k=k, gain=gain, discount=discount, ties=ties, zero_division=zero_division
    )


def tie_aware_precision_score(
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
    """Relevant share of the first k items, averaged over all orders of tied items.

    It is divided by k even where the database holds fewer than k items.

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
    >>> from sklearn_hashrank.metrics import tie_aware_precision_score
    >>> y, codes = [1, 1, 0, 0], [[0, 0], [0, 1], [1, 0], [1, 1]]
    >>> tie_aware_precision_score(y[:1], codes[:1], database=(y[1:], codes[1:]), k=1)
    0.5
    """
    run = RetrievalRun(y_true, codes, database, n_bits, affinity, n_jobs)
    return run.measure(
        "precision", average, k=k, ties=ties, zero_division=zero_division, level=level
    )


def tie_aware_recall_score(
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
    """Share of the relevant items among the first k, averaged over all orders of tied items.

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
    >>> from sklearn_hashrank.metrics import tie_aware_recall_score
    >>> y, codes = [1, 1, 0, 1], [[0, 0], [0, 1], [1, 0], [1, 1]]
    >>> tie_aware_recall_score(y[:1], codes[:1], database=(y[1:], codes[1:]), k=1)
    0.25
    """
    run = RetrievalRun(y_true, codes, database, n_bits, affinity, n_jobs)
    return run.measure("recall", average, k=k, ties=ties, zero_division=zero_division, level=level)


def tie_aware_f1_score(
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
    """Harmonic mean of precision and recall at k, averaged over all orders of tied items.

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
    >>> from sklearn_hashrank.metrics import tie_aware_f1_score
    >>> y, codes = [1, 1, 0, 0], [[0, 0], [0, 1], [1, 0], [1, 1]]
    >>> tie_aware_f1_score(y[:1], codes[:1], database=(y[1:], codes[1:]), k=1)
    0.5
    """
    run = RetrievalRun(y_true, codes, database, n_bits, affinity, n_jobs)
    return run.measure("f1", average, k=k, ties=ties, zero_division=zero_division, level=level)


def tie_aware_reciprocal_rank_score(
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
    """Inverse rank of the first relevant item, averaged over all orders of tied items.

    With `k`, it is 0 where the first k items hold no relevant one.

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
    >>> from sklearn_hashrank.metrics import tie_aware_reciprocal_rank_score
    >>> y, codes = [1, 1, 0], [[0, 0], [0, 1], [1, 0]]
    >>> tie_aware_reciprocal_rank_score(y[:1], codes[:1], database=(y[1:], codes[1:]))
    0.75
    """
    run = RetrievalRun(y_true, codes, database, n_bits, affinity, n_jobs)
    return run.measure(
        "reciprocal_rank", average, k=k, ties=ties, zero_division=zero_division, level=level
    )
