"""Measures of the Hamming ranking, whole or cut at k."""

from typing import Any

import numpy as np

from ..measures import Discount, Gain, Normalize, TieOrder, configure_measure
from ._common import Retrieval, documented, score


@documented
def tie_aware_average_precision_score(
    y_true: Any,
    codes: Any,
    *,
    database: Any = None,
    n_bits: int | None = None,
    affinity: Any = "auto",
    k: int | None = None,
    normalize: Normalize = "relevant",
    ties: TieOrder = "expected",
    average: bool = True,
    zero_division: float = np.nan,
    n_jobs: int | None = None,
) -> float | np.ndarray:
    """Average precision of the Hamming ranking, averaged over all orders of tied items.

    The precisions at the ranks of the relevant items, summed, over the number of relevant items;
    its mean over the queries is the mAP of the hashing literature. Unlike
    :func:`sklearn.metrics.average_precision_score` it is the exact expectation under ties.

    Parameters
    ----------
    {parameters}
    {k}
    normalize : {"relevant", "min", "retrieved"}, default="relevant"
        The denominator when `k` is given: all relevant items; at most k of them; or those among
        the first k (0 where there is none), as in the AP@5000 of papers on hashing.
    {options}

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
    return score(
        configure_measure(
            "average_precision", k=k, normalize=normalize, ties=ties, zero_division=zero_division
        ),
        Retrieval(y_true, codes, database, n_bits, affinity, n_jobs),
        average,
    )


@documented
def tie_aware_ndcg_score(
    y_true: Any,
    codes: Any,
    *,
    database: Any = None,
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
    {parameters}
    {k}
    {gain options}
    {options}

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
    return score(
        configure_measure(
            "ndcg", k=k, gain=gain, discount=discount, ties=ties, zero_division=zero_division
        ),
        Retrieval(y_true, codes, database, n_bits, affinity, n_jobs),
        average,
    )


@documented
def tie_aware_dcg_score(
    y_true: Any,
    codes: Any,
    *,
    database: Any = None,
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
    {parameters}
    {k}
    {gain options}
    {options}

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
    return score(
        configure_measure(
            "dcg", k=k, gain=gain, discount=discount, ties=ties, zero_division=zero_division
        ),
        Retrieval(y_true, codes, database, n_bits, affinity, n_jobs),
        average,
    )


@documented
def tie_aware_precision_score(
    y_true: Any,
    codes: Any,
    *,
    database: Any = None,
    n_bits: int | None = None,
    affinity: Any = "auto",
    k: int | None = None,
    ties: TieOrder = "expected",
    average: bool = True,
    zero_division: float = np.nan,
    n_jobs: int | None = None,
) -> float | np.ndarray:
    """Relevant share of the first k items, averaged over all orders of tied items.

    It is divided by k even where the database holds fewer than k items.

    Parameters
    ----------
    {parameters}
    {k}
    {options}

    Examples
    --------
    >>> from sklearn_hashrank.metrics import tie_aware_precision_score
    >>> y, codes = [1, 1, 0, 0], [[0, 0], [0, 1], [1, 0], [1, 1]]
    >>> tie_aware_precision_score(y[:1], codes[:1], database=(y[1:], codes[1:]), k=1)
    0.5
    """
    return score(
        configure_measure("precision", k=k, ties=ties, zero_division=zero_division),
        Retrieval(y_true, codes, database, n_bits, affinity, n_jobs),
        average,
    )


@documented
def tie_aware_recall_score(
    y_true: Any,
    codes: Any,
    *,
    database: Any = None,
    n_bits: int | None = None,
    affinity: Any = "auto",
    k: int | None = None,
    ties: TieOrder = "expected",
    average: bool = True,
    zero_division: float = np.nan,
    n_jobs: int | None = None,
) -> float | np.ndarray:
    """Share of the relevant items among the first k, averaged over all orders of tied items.

    Parameters
    ----------
    {parameters}
    {k}
    {options}

    Examples
    --------
    >>> from sklearn_hashrank.metrics import tie_aware_recall_score
    >>> y, codes = [1, 1, 0, 1], [[0, 0], [0, 1], [1, 0], [1, 1]]
    >>> tie_aware_recall_score(y[:1], codes[:1], database=(y[1:], codes[1:]), k=1)
    0.25
    """
    return score(
        configure_measure("recall", k=k, ties=ties, zero_division=zero_division),
        Retrieval(y_true, codes, database, n_bits, affinity, n_jobs),
        average,
    )


@documented
def tie_aware_f1_score(
    y_true: Any,
    codes: Any,
    *,
    database: Any = None,
    n_bits: int | None = None,
    affinity: Any = "auto",
    k: int | None = None,
    ties: TieOrder = "expected",
    average: bool = True,
    zero_division: float = np.nan,
    n_jobs: int | None = None,
) -> float | np.ndarray:
    """Harmonic mean of precision and recall at k, averaged over all orders of tied items.

    Parameters
    ----------
    {parameters}
    {k}
    {options}

    Examples
    --------
    >>> from sklearn_hashrank.metrics import tie_aware_f1_score
    >>> y, codes = [1, 1, 0, 0], [[0, 0], [0, 1], [1, 0], [1, 1]]
    >>> tie_aware_f1_score(y[:1], codes[:1], database=(y[1:], codes[1:]), k=1)
    0.5
    """
    return score(
        configure_measure("f1", k=k, ties=ties, zero_division=zero_division),
        Retrieval(y_true, codes, database, n_bits, affinity, n_jobs),
        average,
    )


@documented
def tie_aware_reciprocal_rank_score(
    y_true: Any,
    codes: Any,
    *,
    database: Any = None,
    n_bits: int | None = None,
    affinity: Any = "auto",
    k: int | None = None,
    ties: TieOrder = "expected",
    average: bool = True,
    zero_division: float = np.nan,
    n_jobs: int | None = None,
) -> float | np.ndarray:
    """Inverse rank of the first relevant item, averaged over all orders of tied items.

    With `k`, it is 0 where the first k items hold no relevant one.

    Parameters
    ----------
    {parameters}
    {k}
    {options}

    Examples
    --------
    >>> from sklearn_hashrank.metrics import tie_aware_reciprocal_rank_score
    >>> y, codes = [1, 1, 0], [[0, 0], [0, 1], [1, 0]]
    >>> tie_aware_reciprocal_rank_score(y[:1], codes[:1], database=(y[1:], codes[1:]))
    0.75
    """
    return score(
        configure_measure("reciprocal_rank", k=k, ties=ties, zero_division=zero_division),
        Retrieval(y_true, codes, database, n_bits, affinity, n_jobs),
        average,
    )
