"""Metric functions of what lies within a Hamming radius."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .._utils.types import Target
from ._measure import TieOrder
from ._metric_arguments import measure_codes

__all__ = [
    "average_cumulative_gain_score",
    "local_group_average_precision_score",
    "lookup_precision_score",
    "lookup_recall_score",
]


def lookup_precision_score(
    y_true: Target,
    codes: ArrayLike,
    *,
    database: tuple[Target, ArrayLike] | None = None,
    n_bits: int | None = None,
    affinity: Any = "auto",
    radius: int = 2,
    ties: TieOrder = "expected",
    average: bool = True,
    zero_division: float = np.nan,
    min_relevance: float | None = None,
    n_jobs: int | None = None,
) -> float | np.ndarray:
    """Relevant share of the items within a Hamming radius.

    With ``radius=2`` it is the PH2 of the hashing literature. The value of a query that finds
    nothing within the radius is 0.

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
    radius : int, default=2
        Largest Hamming distance of the items that count.
    ties : {"expected", "optimistic", "pessimistic"}, default="expected"
        Of no effect: a ball holds all items at a distance or none.
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
    .. [1] J. Wang, S. Kumar, S.-F. Chang, "Semi-supervised hashing for large-scale search",
       PAMI 2012.

    Examples
    --------
    >>> from sklearn_hashrank.metrics import lookup_precision_score
    >>> y, codes = [1, 1, 0, 0], [[0, 0, 0], [0, 0, 1], [0, 1, 1], [1, 1, 1]]
    >>> lookup_precision_score(y[:1], codes[:1], database=(y[1:], codes[1:]))
    0.5
    """
    return measure_codes("lookup_precision", locals())


def lookup_recall_score(
    y_true: Target,
    codes: ArrayLike,
    *,
    database: tuple[Target, ArrayLike] | None = None,
    n_bits: int | None = None,
    affinity: Any = "auto",
    radius: int = 2,
    ties: TieOrder = "expected",
    average: bool = True,
    zero_division: float = np.nan,
    min_relevance: float | None = None,
    n_jobs: int | None = None,
) -> float | np.ndarray:
    """Share of all relevant items that lies within a Hamming radius.

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
    radius : int, default=2
        Largest Hamming distance of the items that count.
    ties : {"expected", "optimistic", "pessimistic"}, default="expected"
        Of no effect: a ball holds all items at a distance or none.
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
    >>> from sklearn_hashrank.metrics import lookup_recall_score
    >>> y, codes = [1, 1, 0, 1], [[0, 0, 0], [0, 0, 1], [0, 1, 1], [1, 1, 1]]
    >>> lookup_recall_score(y[:1], codes[:1], database=(y[1:], codes[1:]))
    0.5
    """
    return measure_codes("lookup_recall", locals())


def average_cumulative_gain_score(
    y_true: Target,
    codes: ArrayLike,
    *,
    database: tuple[Target, ArrayLike] | None = None,
    n_bits: int | None = None,
    affinity: Any = "auto",
    radius: int = 3,
    ties: TieOrder = "expected",
    average: bool = True,
    zero_division: float = np.nan,
    n_jobs: int | None = None,
) -> float | np.ndarray:
    """Mean relevance level of the items within a Hamming radius.

    The value of a query that finds nothing within the radius is 0.

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
    radius : int, default=3
        Largest Hamming distance of the items that count.
    ties : {"expected", "optimistic", "pessimistic"}, default="expected"
        Of no effect: a ball holds all items at a distance or none.
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
    .. [1] J. Wang, W. Liu, A. X. Sun, Y.-G. Jiang, "Learning hash codes with listwise
       supervision", ICCV 2013, equation 13.

    Examples
    --------
    >>> from sklearn_hashrank.metrics import average_cumulative_gain_score
    >>> Y = [[1, 1], [1, 1], [1, 0], [0, 0]]
    >>> codes = [[0, 0], [0, 1], [0, 1], [1, 1]]
    >>> average_cumulative_gain_score(Y[:1], codes[:1], database=(Y[1:], codes[1:]), radius=1)
    1.5
    """
    return measure_codes("average_cumulative_gain", locals())


def local_group_average_precision_score(
    y_true: Target,
    codes: ArrayLike,
    *,
    database: tuple[Target, ArrayLike] | None = None,
    n_bits: int | None = None,
    affinity: Any = "auto",
    radius: int = 2,
    ties: TieOrder = "expected",
    average: bool = True,
    zero_division: float = np.nan,
    min_relevance: float | None = None,
    n_jobs: int | None = None,
) -> float | np.ndarray:
    r"""Precision within a Hamming radius, weighted by how evenly the codes there are used.

    For a query, with :math:`n_k` items within distance :math:`k` of b-bit codes,

    .. math::

       \mathrm{LGAP} = \frac{1}{r + 1} \sum_{k=0}^{r} P(d \le k)\, \varphi_k, \qquad
       \varphi_k = \frac{n_k}{m_k \sum_{i \le k} \binom{b}{i}},

    where :math:`m_k` is the largest number of items that share one code within distance k: the
    mean over radii 0, 1, ... r of the precision, times how full the ball is compared with every
    code in it being as full as the fullest. Its mean over the queries is mLGAP. Perfect precision
    on few codes has a low value. An empty ball counts 0; beyond the length of the codes the ball is
    the whole space, and its term stays the same.

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
    radius : int, default=2
        Largest Hamming distance of the items that count.
    ties : {"expected", "optimistic", "pessimistic"}, default="expected"
        Of no effect: a ball holds all items at a distance or none.
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
    .. [1] P. L. K. Ding, Y. Li, B. Li, "Mean local group average precision (mLGAP): a new
       performance metric for hashing-based retrieval", 2018, equation 10.

    Examples
    --------
    Two relevant items share the query's code. One bit away are two relevant and two irrelevant
    ones, two bits away one relevant and three irrelevant, each time on two codes: the paper's
    figure 6.

    >>> from sklearn_hashrank.metrics import local_group_average_precision_score
    >>> y = [1, 1, 1, 1, 0, 0, 1, 0, 0, 0]
    >>> codes = [
    ...     *[[0, 0, 0, 0]] * 2,
    ...     *[[0, 0, 0, 1], [0, 0, 1, 0]] * 2,
    ...     *[[0, 0, 1, 1], [1, 1, 0, 0]] * 2,
    ... ]
    >>> round(local_group_average_precision_score([1], [[0] * 4], database=(y, codes)), 4)
    0.5424
    """
    return measure_codes("local_group_average_precision", locals())
