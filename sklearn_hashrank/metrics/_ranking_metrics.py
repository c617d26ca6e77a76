"""Metric functions of the Hamming ranking, whole or cut at k."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .._utils.types import Target
from ._gains import Gain
from ._measure import TieOrder
from ._measures import Normalize
from ._metric_arguments import measure_codes
from ._sums import Discount

__all__ = [
    "average_precision_at_r_score",
    "bpref_score",
    "hit_rate_score",
    "r_precision_score",
    "rank_biased_precision_score",
    "tie_aware_average_precision_score",
    "tie_aware_dcg_score",
    "tie_aware_f1_score",
    "tie_aware_ndcg_score",
    "tie_aware_precision_score",
    "tie_aware_recall_score",
    "tie_aware_reciprocal_rank_score",
]


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
    min_relevance: float | None = None,
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
        Query codes: bits in {0, 1}, signs in {-1, +1}, or packed bytes.
    database : tuple (y_database, database_codes), default=None
        Items to retrieve. None: each row retrieves all other rows.
    n_bits : int, default=None
        Code length, required for packed codes.
    affinity : "auto" or affinity object, default="auto"
        Relevance rule; "auto": by the form of `y`. If not fitted, it is fitted on the database.
    k : int, default=None
        Rank cutoff, possibly inside a tie. None means no cutoff.
    normalize : {"relevant", "min", "retrieved"}, default="relevant"
        The denominator when `k` is given: all relevant items; at most k of them; or those among
        the first k (0 where there is none), as in the AP@5000 of papers on hashing.
    ties : {"expected", "optimistic", "pessimistic"}, default="expected"
        Mean, maximum or minimum over all orders of tied items.
    average : bool, default=True
        Whether to return the mean over the queries, or one value per query.
    zero_division : float in [0, 1] or nan, default=nan
        Value of a query without relevant items; the mean leaves nan out, with one warning.
    min_relevance : float, default=None
        Lowest relevance level that counts as relevant. None: every level above 0.
    n_jobs : int, default=None
        Number of threads; -1: all processors, None: 1 or as :obj:`joblib.parallel_config` says.

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
    return measure_codes("average_precision", locals())


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
        Query codes: bits in {0, 1}, signs in {-1, +1}, or packed bytes.
    database : tuple (y_database, database_codes), default=None
        Items to retrieve. None: each row retrieves all other rows.
    n_bits : int, default=None
        Code length, required for packed codes.
    affinity : "auto" or affinity object, default="auto"
        Relevance rule; "auto": by the form of `y`. If not fitted, it is fitted on the database.
    k : int, default=None
        Rank cutoff, possibly inside a tie. None means no cutoff.
    gain : {"exponential", "linear"}, default="exponential"
        Gain of level v: 2 ** v - 1, or v.
    discount : {"log2p1", "log2"}, default="log2p1"
        Discount at rank t: 1 / log2(t + 1); or 1 / log2(t), and 1 at rank 1.
    ties : {"expected", "optimistic", "pessimistic"}, default="expected"
        Mean, maximum or minimum over all orders of tied items.
    average : bool, default=True
        Whether to return the mean over the queries, or one value per query.
    zero_division : float in [0, 1] or nan, default=nan
        Value of a query without relevant items; the mean leaves nan out, with one warning.
    n_jobs : int, default=None
        Number of threads; -1: all processors, None: 1 or as :obj:`joblib.parallel_config` says.

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
    return measure_codes("ndcg", locals())


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
        Query codes: bits in {0, 1}, signs in {-1, +1}, or packed bytes.
    database : tuple (y_database, database_codes), default=None
        Items to retrieve. None: each row retrieves all other rows.
    n_bits : int, default=None
        Code length, required for packed codes.
    affinity : "auto" or affinity object, default="auto"
        Relevance rule; "auto": by the form of `y`. If not fitted, it is fitted on the database.
    k : int, default=None
        Rank cutoff, possibly inside a tie. None means no cutoff.
    gain : {"exponential", "linear"}, default="exponential"
        Gain of level v: 2 ** v - 1, or v.
    discount : {"log2p1", "log2"}, default="log2p1"
        Discount at rank t: 1 / log2(t + 1); or 1 / log2(t), and 1 at rank 1.
    ties : {"expected", "optimistic", "pessimistic"}, default="expected"
        Mean, maximum or minimum over all orders of tied items.
    average : bool, default=True
        Whether to return the mean over the queries, or one value per query.
    zero_division : float in [0, 1] or nan, default=nan
        Value of a query without relevant items; the mean leaves nan out, with one warning.
    n_jobs : int, default=None
        Number of threads; -1: all processors, None: 1 or as :obj:`joblib.parallel_config` says.

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
    return measure_codes("dcg", locals())


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
    min_relevance: float | None = None,
    n_jobs: int | None = None,
) -> float | np.ndarray:
    """Relevant share of the first k items, averaged over all orders of tied items.

    It is divided by k even where the database holds fewer than k items.

    Parameters
    ----------
    y_true : array-like with n_queries rows
        What `affinity` compares: class labels, label sets, label paths or vectors.
    codes : array-like of shape (n_queries, n_columns)
        Query codes: bits in {0, 1}, signs in {-1, +1}, or packed bytes.
    database : tuple (y_database, database_codes), default=None
        Items to retrieve. None: each row retrieves all other rows.
    n_bits : int, default=None
        Code length, required for packed codes.
    affinity : "auto" or affinity object, default="auto"
        Relevance rule; "auto": by the form of `y`. If not fitted, it is fitted on the database.
    k : int, default=None
        Rank cutoff, possibly inside a tie. None means no cutoff.
    ties : {"expected", "optimistic", "pessimistic"}, default="expected"
        Mean, maximum or minimum over all orders of tied items.
    average : bool, default=True
        Whether to return the mean over the queries, or one value per query.
    zero_division : float in [0, 1] or nan, default=nan
        Value of a query without relevant items; the mean leaves nan out, with one warning.
    min_relevance : float, default=None
        Lowest relevance level that counts as relevant. None: every level above 0.
    n_jobs : int, default=None
        Number of threads; -1: all processors, None: 1 or as :obj:`joblib.parallel_config` says.

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
    return measure_codes("precision", locals())


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
    min_relevance: float | None = None,
    n_jobs: int | None = None,
) -> float | np.ndarray:
    """Share of the relevant items among the first k, averaged over all orders of tied items.

    Parameters
    ----------
    y_true : array-like with n_queries rows
        What `affinity` compares: class labels, label sets, label paths or vectors.
    codes : array-like of shape (n_queries, n_columns)
        Query codes: bits in {0, 1}, signs in {-1, +1}, or packed bytes.
    database : tuple (y_database, database_codes), default=None
        Items to retrieve. None: each row retrieves all other rows.
    n_bits : int, default=None
        Code length, required for packed codes.
    affinity : "auto" or affinity object, default="auto"
        Relevance rule; "auto": by the form of `y`. If not fitted, it is fitted on the database.
    k : int, default=None
        Rank cutoff, possibly inside a tie. None means no cutoff.
    ties : {"expected", "optimistic", "pessimistic"}, default="expected"
        Mean, maximum or minimum over all orders of tied items.
    average : bool, default=True
        Whether to return the mean over the queries, or one value per query.
    zero_division : float in [0, 1] or nan, default=nan
        Value of a query without relevant items; the mean leaves nan out, with one warning.
    min_relevance : float, default=None
        Lowest relevance level that counts as relevant. None: every level above 0.
    n_jobs : int, default=None
        Number of threads; -1: all processors, None: 1 or as :obj:`joblib.parallel_config` says.

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
    return measure_codes("recall", locals())


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
    min_relevance: float | None = None,
    n_jobs: int | None = None,
) -> float | np.ndarray:
    """Harmonic mean of precision and recall at k, averaged over all orders of tied items.

    Parameters
    ----------
    y_true : array-like with n_queries rows
        What `affinity` compares: class labels, label sets, label paths or vectors.
    codes : array-like of shape (n_queries, n_columns)
        Query codes: bits in {0, 1}, signs in {-1, +1}, or packed bytes.
    database : tuple (y_database, database_codes), default=None
        Items to retrieve. None: each row retrieves all other rows.
    n_bits : int, default=None
        Code length, required for packed codes.
    affinity : "auto" or affinity object, default="auto"
        Relevance rule; "auto": by the form of `y`. If not fitted, it is fitted on the database.
    k : int, default=None
        Rank cutoff, possibly inside a tie. None means no cutoff.
    ties : {"expected", "optimistic", "pessimistic"}, default="expected"
        Mean, maximum or minimum over all orders of tied items.
    average : bool, default=True
        Whether to return the mean over the queries, or one value per query.
    zero_division : float in [0, 1] or nan, default=nan
        Value of a query without relevant items; the mean leaves nan out, with one warning.
    min_relevance : float, default=None
        Lowest relevance level that counts as relevant. None: every level above 0.
    n_jobs : int, default=None
        Number of threads; -1: all processors, None: 1 or as :obj:`joblib.parallel_config` says.

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
    return measure_codes("f1", locals())


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
    min_relevance: float | None = None,
    n_jobs: int | None = None,
) -> float | np.ndarray:
    """Inverse rank of the first relevant item, averaged over all orders of tied items.

    With `k`, it is 0 where the first k items hold no relevant one.

    Parameters
    ----------
    y_true : array-like with n_queries rows
        What `affinity` compares: class labels, label sets, label paths or vectors.
    codes : array-like of shape (n_queries, n_columns)
        Query codes: bits in {0, 1}, signs in {-1, +1}, or packed bytes.
    database : tuple (y_database, database_codes), default=None
        Items to retrieve. None: each row retrieves all other rows.
    n_bits : int, default=None
        Code length, required for packed codes.
    affinity : "auto" or affinity object, default="auto"
        Relevance rule; "auto": by the form of `y`. If not fitted, it is fitted on the database.
    k : int, default=None
        Rank cutoff, possibly inside a tie. None means no cutoff.
    ties : {"expected", "optimistic", "pessimistic"}, default="expected"
        Mean, maximum or minimum over all orders of tied items.
    average : bool, default=True
        Whether to return the mean over the queries, or one value per query.
    zero_division : float in [0, 1] or nan, default=nan
        Value of a query without relevant items; the mean leaves nan out, with one warning.
    min_relevance : float, default=None
        Lowest relevance level that counts as relevant. None: every level above 0.
    n_jobs : int, default=None
        Number of threads; -1: all processors, None: 1 or as :obj:`joblib.parallel_config` says.

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
    return measure_codes("reciprocal_rank", locals())


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
    min_relevance: float | None = None,
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
        Query codes: bits in {0, 1}, signs in {-1, +1}, or packed bytes.
    database : tuple (y_database, database_codes), default=None
        Items to retrieve. None: each row retrieves all other rows.
    n_bits : int, default=None
        Code length, required for packed codes.
    affinity : "auto" or affinity object, default="auto"
        Relevance rule; "auto": by the form of `y`. If not fitted, it is fitted on the database.
    ties : {"expected", "optimistic", "pessimistic"}, default="expected"
        Mean, maximum or minimum over all orders of tied items.
    average : bool, default=True
        Whether to return the mean over the queries, or one value per query.
    zero_division : float in [0, 1] or nan, default=nan
        Value of a query without relevant items; the mean leaves nan out, with one warning.
    min_relevance : float, default=None
        Lowest relevance level that counts as relevant. None: every level above 0.
    n_jobs : int, default=None
        Number of threads; -1: all processors, None: 1 or as :obj:`joblib.parallel_config` says.

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
    return measure_codes("average_precision_at_r", locals())


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
    min_relevance: float | None = None,
    n_jobs: int | None = None,
) -> float | np.ndarray:
    """Precision of the first R places, averaged over all orders of tied items.

    R is the number of relevant items of the query. There, precision and recall are equal.

    Parameters
    ----------
    y_true : array-like with n_queries rows
        What `affinity` compares: class labels, label sets, label paths or vectors.
    codes : array-like of shape (n_queries, n_columns)
        Query codes: bits in {0, 1}, signs in {-1, +1}, or packed bytes.
    database : tuple (y_database, database_codes), default=None
        Items to retrieve. None: each row retrieves all other rows.
    n_bits : int, default=None
        Code length, required for packed codes.
    affinity : "auto" or affinity object, default="auto"
        Relevance rule; "auto": by the form of `y`. If not fitted, it is fitted on the database.
    ties : {"expected", "optimistic", "pessimistic"}, default="expected"
        Mean, maximum or minimum over all orders of tied items.
    average : bool, default=True
        Whether to return the mean over the queries, or one value per query.
    zero_division : float in [0, 1] or nan, default=nan
        Value of a query without relevant items; the mean leaves nan out, with one warning.
    min_relevance : float, default=None
        Lowest relevance level that counts as relevant. None: every level above 0.
    n_jobs : int, default=None
        Number of threads; -1: all processors, None: 1 or as :obj:`joblib.parallel_config` says.

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
    return measure_codes("r_precision", locals())


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
    min_relevance: float | None = None,
    n_jobs: int | None = None,
) -> float | np.ndarray:
    """Probability of a relevant item among the first k, over all orders of tied items.

    It is also called success at k.

    Parameters
    ----------
    y_true : array-like with n_queries rows
        What `affinity` compares: class labels, label sets, label paths or vectors.
    codes : array-like of shape (n_queries, n_columns)
        Query codes: bits in {0, 1}, signs in {-1, +1}, or packed bytes.
    database : tuple (y_database, database_codes), default=None
        Items to retrieve. None: each row retrieves all other rows.
    n_bits : int, default=None
        Code length, required for packed codes.
    affinity : "auto" or affinity object, default="auto"
        Relevance rule; "auto": by the form of `y`. If not fitted, it is fitted on the database.
    k : int, default=None
        Rank cutoff, possibly inside a tie. None means no cutoff.
    ties : {"expected", "optimistic", "pessimistic"}, default="expected"
        Mean, maximum or minimum over all orders of tied items.
    average : bool, default=True
        Whether to return the mean over the queries, or one value per query.
    zero_division : float in [0, 1] or nan, default=nan
        Value of a query without relevant items; the mean leaves nan out, with one warning.
    min_relevance : float, default=None
        Lowest relevance level that counts as relevant. None: every level above 0.
    n_jobs : int, default=None
        Number of threads; -1: all processors, None: 1 or as :obj:`joblib.parallel_config` says.

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
    return measure_codes("hit_rate", locals())


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
    min_relevance: float | None = None,
    n_jobs: int | None = None,
) -> float | np.ndarray:
    """Share of relevant items that a patient reader sees, averaged over tie orders.

    The reader goes on to the next rank with probability `p`: rank t counts (1 - p) p ** (t - 1).

    Parameters
    ----------
    y_true : array-like with n_queries rows
        What `affinity` compares: class labels, label sets, label paths or vectors.
    codes : array-like of shape (n_queries, n_columns)
        Query codes: bits in {0, 1}, signs in {-1, +1}, or packed bytes.
    database : tuple (y_database, database_codes), default=None
        Items to retrieve. None: each row retrieves all other rows.
    n_bits : int, default=None
        Code length, required for packed codes.
    affinity : "auto" or affinity object, default="auto"
        Relevance rule; "auto": by the form of `y`. If not fitted, it is fitted on the database.
    k : int, default=None
        Rank cutoff, possibly inside a tie. None means no cutoff.
    p : float, default=0.8
        Probability, between 0 and 1, that the reader goes on to the next rank.
    ties : {"expected", "optimistic", "pessimistic"}, default="expected"
        Mean, maximum or minimum over all orders of tied items.
    average : bool, default=True
        Whether to return the mean over the queries, or one value per query.
    zero_division : float in [0, 1] or nan, default=nan
        Value of a query without relevant items; the mean leaves nan out, with one warning.
    min_relevance : float, default=None
        Lowest relevance level that counts as relevant. None: every level above 0.
    n_jobs : int, default=None
        Number of threads; -1: all processors, None: 1 or as :obj:`joblib.parallel_config` says.

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
    return measure_codes("rank_biased_precision", locals())


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
    min_relevance: float | None = None,
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
        Query codes: bits in {0, 1}, signs in {-1, +1}, or packed bytes.
    database : tuple (y_database, database_codes), default=None
        Items to retrieve. None: each row retrieves all other rows.
    n_bits : int, default=None
        Code length, required for packed codes.
    affinity : "auto" or affinity object, default="auto"
        Relevance rule; "auto": by the form of `y`. If not fitted, it is fitted on the database.
    ties : {"expected", "optimistic", "pessimistic"}, default="expected"
        Mean, maximum or minimum over all orders of tied items.
    average : bool, default=True
        Whether to return the mean over the queries, or one value per query.
    zero_division : float in [0, 1] or nan, default=nan
        Value of a query without relevant items; the mean leaves nan out, with one warning.
    min_relevance : float, default=None
        Lowest relevance level that counts as relevant. None: every level above 0.
    n_jobs : int, default=None
        Number of threads; -1: all processors, None: 1 or as :obj:`joblib.parallel_config` says.

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
    return measure_codes("bpref", locals())
