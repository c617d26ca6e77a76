"""Whether two rankings of the same queries differ by more than the choice of the queries."""

from dataclasses import dataclass
from itertools import product
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_random_state

from .._utils.parameters import is_int

Values = NDArray[np.float64]
TestMethod = Literal["randomization", "student", "wilcoxon", "bootstrap"]

_CELLS = 1 << 22  # resampled numbers held at a time


@dataclass(frozen=True)
class PairedTest:
    """The result of :func:`paired_test`.

    Parameters
    ----------
    statistic : float
        Mean of `a` minus mean of `b`, over the queries that have a value.
    pvalue : float
        Two-sided: how likely so large a difference is if no query prefers either.
    confidence_interval : tuple of float
        Bounds of the difference; of the pseudo-median with ``"wilcoxon"``.
    n_queries : int
        Queries that have a value.
    method : str
        The test.

    Examples
    --------
    >>> from sklearn_hashrank.metrics import paired_test
    >>> result = paired_test([0.9, 0.8, 0.7, 0.9], [0.5, 0.6, 0.6, 0.6])
    >>> round(result.statistic, 3), result.pvalue
    (0.25, 0.125)
    """

    statistic: float
    pvalue: float
    confidence_interval: tuple[float, float]
    n_queries: int
    method: str


def paired_test(
    a: ArrayLike,
    b: ArrayLike,
    *,
    method: TestMethod = "randomization",
    confidence: float = 0.95,
    n_resamples: int = 9999,
    random_state: Any = None,
) -> PairedTest:
    """Test whether two systems differ on the same queries.

    Pass the values of a measure for each query: what a metric returns with ``average=False``, or
    a method of the histogram. Compare one system with several others by correcting the p-values
    with :func:`holm_correction`, and all systems with each other by
    :func:`randomized_tukey_hsd`.

    Parameters
    ----------
    a, b : array-like of shape (n_queries,)
        Values of the two systems, of the same queries in the same order. A query that is NaN in
        both, because nothing is relevant to it, is left out.
    method : {"randomization", "student", "wilcoxon", "bootstrap"}, default="randomization"
        ``"randomization"`` changes the signs of the differences, all ways where they are no more
        than `n_resamples`. ``"student"`` is the paired t-test, ``"wilcoxon"`` the signed-rank test
        (queries without a difference are left out), ``"bootstrap"`` samples queries.
    confidence : float, default=0.95
        Coverage of the interval, between 0 and 1.
    n_resamples : int, default=9999
        Random changes of sign, or samples of the queries.
    random_state : int, RandomState or None, default=None
        Controls the changes of sign and the samples.

    Returns
    -------
    result : PairedTest
        With `statistic`, `pvalue` and `confidence_interval`, named as in scipy. The interval of
        ``"randomization"`` holds the differences that the test does not reject: quantiles of the
        means of random halves.

    References
    ----------
    .. [1] M. D. Smucker, J. Allan, B. Carterette, "A comparison of statistical significance tests
       for information retrieval evaluation", CIKM 2007.
    .. [2] J. A. Hartigan, "Using subsample values as typical values", JASA 64, 1969.

    Examples
    --------
    >>> from sklearn_hashrank.metrics import paired_test
    >>> ours, theirs = [0.9, 0.8, 0.7, 0.9, 0.6], [0.5, 0.6, 0.6, 0.6, 0.5]
    >>> result = paired_test(ours, theirs)
    >>> result.pvalue
    0.0625
    >>> [round(end, 2) for end in result.confidence_interval]
    [0.1, 0.4]
    """
    if method not in get_args(TestMethod):
        raise ValueError(f"method must be one of {get_args(TestMethod)}. Got {method!r} instead.")
    if not isinstance(confidence, (float, np.floating)) or not 0 < confidence < 1:
        raise ValueError(f"confidence must be a float between 0 and 1. Got {confidence!r}.")
    _check_resamples(n_resamples)
    values = _defined([_one_system(a, "a"), _one_system(b, "b")])
    difference = values[0] - values[1]
    mean = float(difference.mean())
    if not difference.any():
        return PairedTest(0.0, 1.0, (0.0, 0.0), difference.size, method)
    random = check_random_state(random_state)
    p_value, low, high = _TESTS[method](difference, (1 - confidence) / 2, n_resamples, random)
    return PairedTest(mean, float(p_value), (float(low), float(high)), difference.size, method)


def _randomization(d: Values, tail: float, n: int, random: Any) -> tuple[float, float, float]:
    """Flip signs; a flip rejects a shift beyond the mean of the flipped differences."""
    from scipy import stats

    batch = max(1, _CELLS // d.size)
    found = stats.permutation_test(
        (d,),
        _mean,
        permutation_type="samples",
        vectorized=True,
        n_resamples=n,
        batch=batch,
        random_state=random,
    )
    if d.size < 62 and 2**d.size <= n:
        chosen = np.array(list(product((0.0, 1.0), repeat=d.size))[1:])
        means = (chosen @ d) / chosen.sum(axis=1)
    else:
        means = np.empty(n)
        for start in range(0, n, batch):
            shape = min(batch, n - start), d.size
            chosen = random.randint(0, 2, shape, dtype=np.uint8).astype(np.float64)
            n_chosen = chosen.sum(axis=1)
            part = np.divide(
                chosen @ d, n_chosen, where=n_chosen > 0, out=np.full(shape[0], d.mean())
            )
            means[start : start + batch] = part
    return found.pvalue, *_ends(means, tail)


def _ends(means: Values, tail: float) -> tuple[float, float]:
    """Return order statistics that leave at most `tail` outside on each side."""
    place = int(np.floor((means.size + 1) * tail))
    ordered = np.sort(means)
    last = means.size - 1
    return ordered[min(max(place - 1, 0), last)], ordered[max(min(means.size - place, last), 0)]


def _student(d: Values, tail: float, n: int, random: Any) -> tuple[float, float, float]:
    from scipy import stats

    error = d.std(ddof=1) / np.sqrt(d.size)
    reach = stats.t.ppf(1 - tail, d.size - 1) * error
    with np.errstate(divide="ignore"):
        p_value = 2 * stats.t.sf(abs(d.mean()) / error, d.size - 1)
    return p_value, d.mean() - reach, d.mean() + reach


def _wilcoxon(d: Values, tail: float, n: int, random: Any) -> tuple[float, float, float]:
    """Test ranks; the interval is of the pseudo-median, between two means of two differences."""
    from scipy import stats

    p_value = stats.wilcoxon(d).pvalue
    n_means = d.size * (d.size + 1) / 2
    spread = np.sqrt(n_means * (2 * d.size + 1) / 12)
    place = int(max(np.floor(n_means / 2 + stats.norm.ppf(tail) * spread), 0))
    ordered = np.sort(d)
    return p_value, _mean_of_two(ordered, place), -_mean_of_two(-ordered[::-1], place)


def _mean_of_two(ordered: Values, place: int) -> float:
    """Return the mean of two differences, one twice allowed, that `place` others fall short of."""
    low, high = ordered[0], ordered[-1]
    numbers = np.arange(ordered.size)
    while True:
        middle = low + (high - low) / 2
        if not low < middle < high:
            break
        partners = np.searchsorted(ordered, 2 * middle - ordered, side="right")
        if np.maximum(partners - numbers, 0).sum() > place:
            high = middle
        else:
            low = middle
    partners = np.searchsorted(ordered, 2 * low - ordered, side="right")
    return float(low if np.maximum(partners - numbers, 0).sum() > place else high)


def _bootstrap(d: Values, tail: float, n: int, random: Any) -> tuple[float, float, float]:
    from scipy import stats

    found = stats.bootstrap(
        (d,),
        _mean,
        vectorized=True,
        n_resamples=n,
        batch=max(1, _CELLS // d.size),
        confidence_level=1 - 2 * tail,
        method="percentile",
        random_state=random,
    )
    centered = np.abs(found.bootstrap_distribution - d.mean())
    farther = np.count_nonzero(centered >= abs(d.mean()) * (1 - 1e-12))
    return (farther + 1) / (n + 1), *found.confidence_interval


def _mean(values: Values, axis: int) -> Any:
    return np.mean(values, axis=axis)


_TESTS = {
    "randomization": _randomization,
    "student": _student,
    "wilcoxon": _wilcoxon,
    "bootstrap": _bootstrap,
}


def holm_correction(p_values: ArrayLike) -> Values:
    """Correct the p-values of several tests by Holm's method.

    Compare what it returns with the level, such as .05: then the chance of even one false
    difference is at most the level.

    Parameters
    ----------
    p_values : array-like of shape (n_tests,)
        Of tests on the same queries, in any order.

    Returns
    -------
    corrected : ndarray of shape (n_tests,)
        In the same order.

    References
    ----------
    .. [1] S. Holm, "A simple sequentially rejective multiple test procedure", Scandinavian
       Journal of Statistics 6, 1979.

    Examples
    --------
    >>> from sklearn_hashrank.metrics import holm_correction
    >>> holm_correction([0.01, 0.04, 0.03])
    array([0.03, 0.06, 0.06])
    """
    p = np.asarray(p_values, dtype=np.float64)
    if p.ndim != 1 or not ((p >= 0) & (p <= 1)).all():
        raise ValueError(f"p_values must be numbers between 0 and 1, 1-d. Got {p_values!r}.")
    order = np.argsort(p, kind="stable")
    corrected = np.empty_like(p)
    corrected[order] = np.minimum(
        np.maximum.accumulate(p[order] * np.arange(p.size, 0, -1, dtype=np.float64)), 1
    )
    return corrected


def randomized_tukey_hsd(
    values: ArrayLike, *, n_resamples: int = 9999, random_state: Any = None
) -> Values:
    """Compare all systems with each other, on the same queries.

    Under the hypothesis that all systems are alike, their values for a query can be exchanged.
    The p-value of two systems is how often the best and the worst of exchanged systems are at
    least as far apart as the two are. It is corrected for the number of systems already.
    :func:`scipy.stats.tukey_hsd` assumes that groups are independent, which systems on the same
    queries are not.

    Parameters
    ----------
    values : array-like of shape (n_systems, n_queries)
        Values of a measure. A query that is NaN in all systems is left out.
    n_resamples : int, default=9999
        Random exchanges.
    random_state : int, RandomState or None, default=None
        Controls the exchanges.

    Returns
    -------
    p_values : ndarray of shape (n_systems, n_systems)
        Symmetric, with 1 on the diagonal.

    References
    ----------
    .. [1] B. Carterette, "Multiple testing in statistical analysis of systems-based information
       retrieval experiments", ACM TOIS 30, 2012.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_hashrank.metrics import randomized_tukey_hsd
    >>> rng = np.random.default_rng(0)
    >>> values = rng.uniform(size=50) * 0.5 + np.array([[0.3], [0.3], [0.5]])
    >>> values += rng.normal(size=values.shape) * 0.05
    >>> p = randomized_tukey_hsd(values, random_state=0)
    >>> bool(p[0, 1] > 0.05), bool(p[0, 2] < 0.001)
    (True, True)
    """
    _check_resamples(n_resamples)
    given = np.asarray(values, dtype=np.float64)
    if given.ndim != 2 or len(given) < 2:
        raise ValueError(
            "values must have shape (n_systems, n_queries), with two systems or more. "
            f"Got shape {given.shape}."
        )
    of_queries = np.ascontiguousarray(_defined(list(given)).T)
    n_queries, n_systems = of_queries.shape
    means = of_queries.mean(axis=0)
    random = check_random_state(random_state)
    ranges = np.empty(n_resamples)
    batch = max(1, _CELLS // of_queries.size)
    for start in range(0, n_resamples, batch):
        size = min(batch, n_resamples - start)
        order = np.argsort(random.random_sample((size, n_queries, n_systems)), axis=2)
        exchanged = np.take_along_axis(of_queries[None], order, axis=2).mean(axis=1)
        ranges[start : start + size] = np.ptp(exchanged, axis=1)
    distances = np.abs(means[:, None] - means)
    ordered = np.sort(ranges)
    rounding = 1e-15 * np.abs(of_queries).max()  # of means, which may be far from 0
    n_below = np.searchsorted(ordered, distances * (1 - 1e-12) - rounding)
    return (n_resamples - n_below + 1) / (n_resamples + 1)


def _one_system(values: ArrayLike, name: str) -> Values:
    try:
        found = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        found = None
    if found is None or found.ndim != 1:
        given = type(values).__name__ if found is None else f"shape {found.shape}"
        raise ValueError(
            f"{name} must hold one value for each query, shape (n_queries,), as metrics return "
            "them with average=False and a histogram h by h.measure('ap'). "
            f"Got {given}."
        )
    return found


def _defined(systems: list[Values]) -> Values:
    """Return the values of the queries that have one, of systems on the same queries."""
    sizes = [values.size for values in systems]
    if len(set(sizes)) > 1:
        raise ValueError(f"values must be of the same queries. Got {sizes} values.")
    values = np.array(systems)
    undefined = np.isnan(values)
    if (undefined.any(axis=0) != undefined.all(axis=0)).any():
        query = int(np.flatnonzero(undefined.any(axis=0) != undefined.all(axis=0))[0])
        raise ValueError(
            "values must be of the same queries: a query with a value in one system has one in "
            f"all. Query {query} is NaN in some of them only."
        )
    values = values[:, ~undefined[0]]
    if values.shape[1] < 2:
        raise ValueError(f"a test needs two queries with a value. Got {values.shape[1]}.")
    if not np.isfinite(values).all():
        raise ValueError("values must be finite numbers, or NaN. Got an infinite one.")
    return values


def _check_resamples(n_resamples: Any) -> None:
    if not is_int(n_resamples, 1):
        raise ValueError(f"n_resamples must be an int >= 1. Got {n_resamples!r} instead.")
