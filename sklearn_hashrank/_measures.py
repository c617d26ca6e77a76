"""Every tie-aware measure of a ranking as a function of counts, and their registry.

Items at one distance are tied. A measure is the exact expectation over all orders of tied items,
each order equally likely, and needs no more than how many items of each relevance level lie in
each tie [1]_ [2]_. Adding a measure is one function of `Ties` and one line of `MEASURES`.

References
----------
.. [1] F. McSherry and M. Najork, "Computing information retrieval performance measures
   efficiently in the presence of tied scores", ECIR 2008.
.. [2] K. He, F. Cakir, S. A. Bargal and S. Sclaroff, "Hashing as tie-aware learning to rank",
   CVPR 2018.
"""

import math
import threading
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.exceptions import UndefinedMetricWarning

Array = NDArray[np.float64]

TIE_ORDERS = ("expected", "optimistic", "pessimistic")

_CHUNK = 2**17  # counts evaluated at a time; temporaries take about a hundred bytes for each
_NEGLIGIBLE = 40.0  # exp(-40) is far below the rounding error of any measure


@dataclass(frozen=True, eq=False)
class Ties:
    """Counts of items by query, level and tie, and what every measure asks of them.

    Parameters
    ----------
    counts : ndarray of shape (n_queries, n_levels, n_ties)
        Whole numbers of any real dtype; ties in the order of retrieval, empty ones allowed.
    levels : ndarray of shape (n_levels,)
        Ascending, at least 0; an item is relevant when its level is above 0.
    """

    counts: NDArray[Any]
    levels: Array

    @cached_property
    def total(self) -> Array:
        """Items of each tie, (n_queries, n_ties)."""
        return self.counts.sum(axis=1, dtype=np.float64)

    @cached_property
    def relevant(self) -> Array:
        """Relevant items of each tie, (n_queries, n_ties)."""
        return self.counts[:, self.levels > 0].sum(axis=1, dtype=np.float64)

    @cached_property
    def before(self) -> Array:
        """Items ahead of each tie, (n_queries, n_ties)."""
        return np.cumsum(self.total, axis=1) - self.total

    @cached_property
    def relevant_before(self) -> Array:
        """Relevant items ahead of each tie, (n_queries, n_ties)."""
        return np.cumsum(self.relevant, axis=1) - self.relevant

    @cached_property
    def n_items(self) -> Array:
        """Items of each query, (n_queries,)."""
        return self.total.sum(axis=1)

    @cached_property
    def n_relevant(self) -> Array:
        """Relevant items of each query, (n_queries,)."""
        return self.relevant.sum(axis=1)

    def places(self, k: int | None) -> Array:
        """Return how many of the first `k` places belong to each tie, (n_queries, n_ties)."""
        return self.total if k is None else np.clip(k - self.before, 0, self.total)

    def hits(self, k: int | None) -> Array:
        """Return the expected number of relevant items among the first `k`, (n_queries,)."""
        return (_ratio(self.relevant, self.total) * self.places(k)).sum(axis=1)

    def at(self, tie: NDArray[np.intp]) -> tuple[Array, Array, Array, Array]:
        """Return before, total, relevant_before and relevant of one tie of each query."""
        rows = np.arange(len(tie))
        of_all = (self.before, self.total, self.relevant_before, self.relevant)
        before, total, relevant_before, relevant = (values[rows, tie] for values in of_all)
        return before, total, relevant_before, relevant

    def split(self, best_first: bool) -> "Ties":
        """Split every tie into one tie per level, the best or the worst level first."""
        n_queries, n_levels, n_ties = self.counts.shape
        order = range(n_levels)[::-1] if best_first else range(n_levels)
        counts = np.zeros((n_queries, n_levels, n_ties, n_levels), dtype=self.counts.dtype)
        for place, level in enumerate(order):
            counts[:, level, :, place] = self.counts[:, level]
        return Ties(counts.reshape(n_queries, n_levels, n_ties * n_levels), self.levels)


def _ratio(numerator: Array, denominator: Array | float) -> Array:
    """Divide; 0 where the denominator is not positive."""
    shape = np.broadcast_shapes(numerator.shape, np.shape(denominator))
    return np.divide(numerator, denominator, out=np.zeros(shape), where=np.greater(denominator, 0))


_NEAR = 32
_HARMONIC = np.array([math.fsum(1 / t for t in range(1, n + 1)) for n in range(_NEAR + 1)])


def _harmonic_tail(middle: Array) -> Array:
    """Return digamma(x + 1) - log(x + 1/2) for x = middle - 1/2 >= 32, to the last bit."""
    w = 1 / (middle * middle)
    return w * (1 / 24 - w * (7 / 960 - w * (31 / 8064 - w * (127 / 30720))))


def _harmonic(start: Array, stop: Array) -> Array:
    """Sum 1/t over start < t <= stop, to a few ulps of the sum.

    The difference of two digammas would only be good to an ulp of their values: times the rank,
    that costs half of the digits of two relevant items in one tie at rank 10 million.
    """
    near = _HARMONIC[np.minimum(stop, _NEAR).astype(np.intp)]
    near -= _HARMONIC[np.minimum(start, _NEAR).astype(np.intp)]
    start, stop = np.maximum(start, _NEAR) + 0.5, np.maximum(stop, _NEAR) + 0.5
    return near + (
        np.log1p((stop - start) / start) + (_harmonic_tail(stop) - _harmonic_tail(start))
    )


class DiscountSums:
    """Sums of a rank discount over stretches of ranks, from a prefix table that grows on demand.

    A prefix is held as its row's start plus a remainder inside the row, and the start as a whole
    multiple of 2**-20, whose sums are exact, plus a small rest. So a sum over few ranks far down
    the list keeps its digits: the relative error is below 1e-12, and typically 1e-15. The table
    takes 8 bytes for each rank it covers. Reading needs no lock.
    """

    _ROW = 256
    _BLOCK = 128  # rows built at a time

    def __init__(self, discount: Callable[[Array], Array]):
        self._discount = discount
        self._lock = threading.Lock()
        self._table = (np.zeros((0, self._ROW)), np.zeros(1), np.zeros(1))

    def between(self, edges: Array) -> Array:
        """Sum the discount of the ranks e[i] < rank <= e[i + 1], along the last axis."""
        index = edges.astype(np.intp)
        inner, coarse, fine = self._covering(int(index.max(initial=0)))
        row = index // self._ROW
        total = np.diff(coarse[row]) + np.diff(fine[row])
        return total + np.diff(inner.reshape(-1)[index])

    def _covering(self, rank: int) -> tuple[Array, Array, Array]:
        if rank >= self._table[0].size:
            with self._lock:
                if rank >= self._table[0].size:
                    self._table = self._grown(rank)
        return self._table

    def _grown(self, rank: int) -> tuple[Array, Array, Array]:
        old, coarse, fine = self._table
        n_rows = self._BLOCK * (rank // (self._ROW * self._BLOCK) + 1)
        inner = np.empty((n_rows, self._ROW))
        inner[: len(old)] = old
        inner[:, 0] = 0
        sums = np.empty(n_rows - len(old))
        for row in range(len(old), n_rows, self._BLOCK):
            ranks = np.arange(row * self._ROW + 1.0, (row + self._BLOCK) * self._ROW + 1)
            values = self._discount(ranks).reshape(self._BLOCK, self._ROW)
            np.cumsum(values[:, :-1], axis=1, out=inner[row : row + self._BLOCK, 1:])
            sums[row - len(old) : row - len(old) + self._BLOCK] = values.sum(axis=1)
        rounded = np.round(sums * 2.0**20) * 2.0**-20
        coarse = np.append(coarse, coarse[-1] + np.cumsum(rounded))
        fine = np.append(fine, fine[-1] + np.cumsum(sums - rounded))
        return inner, coarse, fine


DISCOUNTS = {
    "log2p1": DiscountSums(lambda rank: 1 / np.log2(rank + 1)),
    "log2": DiscountSums(lambda rank: 1 / np.log2(np.maximum(rank, 2))),
}


def precision(ties: Ties, k: int | None = None) -> Array:
    """Return the expected precision: the relevant share of the first `k` places, filled or not."""
    return _ratio(ties.hits(k), ties.n_items if k is None else float(k))


def recall(ties: Ties, k: int | None = None) -> Array:
    """Return the expected recall: the share of all relevant items that is among the first `k`."""
    return _ratio(ties.hits(k), ties.n_relevant)


def f1(ties: Ties, k: int | None = None) -> Array:
    """Return the expected harmonic mean of precision and recall at `k`."""
    n_places = ties.n_items if k is None else k
    return _ratio(2 * ties.hits(k), n_places + ties.n_relevant)


def average_precision(ties: Ties, k: int | None = None, normalize: str = "relevant") -> Array:
    """Return the expected average precision.

    The precisions at the relevant items among the first `k`, summed and divided by the number
    of relevant items in all (``normalize="relevant"``), by that or `k`, whichever is smaller
    (``"min"``), or by the number of relevant items among the first `k` (``"retrieved"``; 0 where
    there is none). The absolute error stays below 1e-13 for databases of 10 million items.
    """
    if k is not None and normalize == "retrieved":
        return _average_precision_retrieved(ties, k)
    n_counted = ties.n_relevant
    if k is not None and normalize == "min":
        n_counted = np.minimum(k, n_counted)
    return _ratio(_precision_sums(ties, k).sum(axis=1), n_counted)


def _precision_sums(ties: Ties, k: int | None) -> Array:
    """Return the expected sum of precisions at each tie's relevant items among the first `k`.

    An item at place t of a tie is relevant with probability n+/n, and then finds a share
    r = (n+ - 1)/(n - 1) of the places ahead of it in the tie relevant: with N and N+ ahead of the
    tie, n+/n * sum over t of (N+ + (t - N - 1) r + 1)/t.
    """
    places, r = ties.places(k), _ratio(ties.relevant - 1, ties.total - 1)
    inverse_ranks = _harmonic(ties.before, ties.before + places)
    ahead = ties.relevant_before + 1 - (ties.before + 1) * r
    return _ratio(ties.relevant, ties.total) * (places * r + ahead * inverse_ranks)


def _tie_at(ties: Ties, k: int) -> NDArray[np.intp]:
    """Return the tie of each query that holds place `k`, or the last item."""
    last = np.minimum(k, ties.n_items)[:, None]
    return np.argmax(ties.before + ties.total >= last, axis=1)


def _sum_ahead(values: Array, tie: NDArray[np.intp]) -> Array:
    return np.sum(values, axis=1, where=np.arange(values.shape[1]) < tie[:, None])


def _average_precision_retrieved(ties: Ties, k: int) -> Array:
    tie = _tie_at(ties, k)
    before, total, relevant_before, relevant = ties.at(tie)
    places = np.minimum(k - before, total)
    precisions = _sum_ahead(_precision_sums(ties, None), tie)
    inverse_ranks = _harmonic(before, before + places)
    linear = _ratio((relevant_before + 1) * inverse_ranks, places)
    quadratic = _ratio(places - (before + 1) * inverse_ranks, places * (places - 1))

    def average(hits: Array) -> Array:  # given the number of relevant items in those places
        precision_sum = precisions + hits * (linear + (hits - 1) * quadratic)
        return precision_sum / np.maximum(relevant_before + hits, 1)

    return _hypergeometric_mean(average, total, relevant, places)


def _hypergeometric_mean(
    function: Callable[[Array], Array], total: Array, relevant: Array, places: Array
) -> Array:
    """Average a function, with values in [0, 1], of the relevant number among random `places`.

    The probabilities follow from their ratios to the one of the mode, out to where Hoeffding's
    inequality leaves nothing: some sqrt(total) terms, and no factorials.
    """
    irrelevant_rest = total - relevant - places
    mode = np.floor((places + 1) * (relevant + 1) / (total + 2))
    mode = np.clip(mode, np.maximum(0, -irrelevant_rest), np.minimum(places, relevant))
    smallest = np.minimum(
        np.minimum(places, total - places), np.minimum(relevant, total - relevant)
    )
    reach = int(np.sqrt(_NEGLIGIBLE / 2 * smallest.max(initial=0))) + 2
    mean, mass = function(mode), np.ones_like(mode)
    up, down = np.ones_like(mode), np.ones_like(mode)
    for step in range(1, reach + 1):
        above, below = mode + step, mode - step
        up *= (places - above + 1) * (relevant - above + 1) / (above * (irrelevant_rest + above))
        down *= (below + 1) * (irrelevant_rest + below + 1)
        down /= (places - below) * (relevant - below)
        mean += up * function(above) + down * function(below)
        mass += up + down
    return mean / mass


def _average_precision_bound(
    ties: Ties, k: int | None, best_first: bool, normalize: str = "relevant"
) -> Array:
    """Return the largest or smallest average precision over all orders of tied items."""
    split = ties.split(best_first)
    if k is None or normalize != "retrieved":
        return average_precision(split, k, normalize)
    tie = _tie_at(ties, k)
    before, total, relevant_before, relevant = ties.at(tie)
    places = np.minimum(k - before, total)
    precisions = _sum_ahead(_precision_sums(split, None), tie * len(ties.levels))
    fewest = np.maximum(0, relevant + places - total)
    most = np.minimum(relevant, places)

    def extreme(hits: Array) -> Array:  # relevant items first, or last, in those places
        first = before if best_first else before + places - hits
        fraction = (relevant_before - first) * _harmonic(first, first + hits)
        return (precisions + hits + fraction) / np.maximum(relevant_before + hits, 1)

    # One more hit adds a larger precision than the one before it did. So the average falls, if
    # at all, until that addition exceeds it, and rises from there on.
    if best_first:
        return np.maximum(extreme(fewest), extreme(most))
    end = before + places
    while np.any(fewest < most):
        middle = np.floor((fewest + most) / 2)
        added = _harmonic(end - middle, end) + (relevant_before + 1) / np.maximum(end - middle, 1)
        rises = added >= extreme(middle)
        fewest = np.where(rises | (fewest == most), fewest, middle + 1)
        most = np.where(rises, middle, most)
    return extreme(most)


def _gains(levels: Array, gain: str) -> Array:
    if gain == "linear":
        return levels
    with np.errstate(over="ignore"):
        gains = np.exp2(levels) - 1
    if gains[-1] > 1e280:
        raise ValueError(
            "gain='exponential' overflows for levels above 930; gain='linear' does not. "
            f"Got a level of {levels[-1]}."
        )
    return gains


def _cut(edges: Array, k: int | None) -> Array:
    return edges if k is None else np.minimum(edges, k)


def dcg(
    ties: Ties, k: int | None = None, gain: str = "exponential", discount: str = "log2p1"
) -> Array:
    """Return the expected discounted cumulative gain of the first `k` places.

    An item of level v gains 2**v - 1 (``gain="exponential"``) or v (``"linear"``), times 1 over
    log2(rank + 1) (``discount="log2p1"``) or log2(rank), 1 at rank 1 (``"log2"``).
    """
    # Not a matrix product: BLAS may round otherwise for another number of queries or threads.
    gain_sums = np.einsum("v,qvt->qt", _gains(ties.levels, gain), ties.counts)
    edges = np.concatenate([ties.before, ties.n_items[:, None]], axis=1)
    discounts = DISCOUNTS[discount].between(_cut(edges, k))
    return (_ratio(gain_sums, ties.total) * discounts).sum(axis=1)


def ndcg(
    ties: Ties, k: int | None = None, gain: str = "exponential", discount: str = "log2p1"
) -> Array:
    """Return the expected `dcg` over that of the ideal ranking, which is cut at `k` too."""
    relevant = np.flatnonzero(ties.levels > 0)[::-1]
    stops = np.cumsum(ties.counts[:, relevant].sum(axis=2, dtype=np.float64), axis=1)
    edges = np.concatenate([np.zeros((len(stops), 1)), stops], axis=1)
    discounts = DISCOUNTS[discount].between(_cut(edges, k))
    ideal = (discounts * _gains(ties.levels, gain)[relevant]).sum(axis=1)
    return _ratio(dcg(ties, k, gain, discount), ideal)


def reciprocal_rank(ties: Ties, k: int | None = None) -> Array:
    """Return the expected inverse rank of the first relevant item, 0 beyond rank `k`.

    Only the first tie that holds a relevant item counts.
    """
    result = np.zeros(len(ties.total))
    tie = np.argmax(ties.relevant > 0, axis=1)
    before, total, _, relevant = ties.at(tie)
    places = total if k is None else np.clip(k - before, 0, total)
    found = np.flatnonzero((relevant > 0) & (places > 0))
    before, total, relevant, places = (x[found] for x in (before, total, relevant, places))
    result[found] = _mean_inverse_rank(before, total, relevant)
    missed = _chance_of_none(total, relevant, places)
    beyond = np.flatnonzero(missed > 0)
    before, total, relevant, places = (x[beyond] for x in (before, total, relevant, places))
    rest = _mean_inverse_rank(before + places, total - places, relevant)
    result[found[beyond]] -= missed[beyond] * rest
    return result


def _mean_inverse_rank(before: Array, total: Array, relevant: Array) -> Array:
    """Return the mean of 1 / (rank of the first of `relevant` among `total` items in a tie).

    With more than sqrt(total) relevant items the sum over ranks is soon over. With fewer, the
    mean E_p for p relevant items follows downwards from there, all terms positive, by
    ``(before + total - p + 1) E_p = 1 + p (total - p)/(p + 1) E_{p+1}``.
    """
    top = np.minimum(total, np.maximum(relevant, np.ceil(np.sqrt(_NEGLIGIBLE * total))))
    n_terms = np.minimum(total - top + 1, np.ceil(_NEGLIGIBLE * total / top))
    mean, survival = np.zeros_like(total), np.ones_like(total)
    for place in range(1, int(n_terms.max(initial=0)) + 1):
        left = np.maximum(total - place + 1, 1)
        mean += survival * top / (left * (before + place))
        survival *= np.maximum(left - top, 0) / left
    highest = int(top.max(initial=0, where=top > relevant))
    for p in range(highest - 1, int(relevant.min(initial=highest)) - 1, -1):
        step = (1 + p * (total - p) / (p + 1) * mean) / np.maximum(before + total - p + 1, 1)
        mean = np.where((relevant <= p) & (p < top), step, mean)
    return mean


def _chance_of_none(total: Array, relevant: Array, places: Array) -> Array:
    """Return the probability that none of the `relevant` of `total` items is in `places`."""
    few, many = np.minimum(relevant, places), np.maximum(relevant, places)
    possible = (few + many <= total) & (few * many <= _NEGLIGIBLE * total)
    chance = possible.astype(np.float64)
    for item in range(int(few.max(initial=0, where=possible))):
        factor = np.maximum(total - many - item, 0) / np.maximum(total - item, 1)
        chance *= np.where(item < few, factor, 1)
    return chance


@dataclass(frozen=True)
class Measure:
    """A registered measure.

    Parameters
    ----------
    function : callable
        ``function(ties, k, **options)``: the expectation for each query, (n_queries,).
    options : mapping of str to tuple of str
        The values each option may take, its default first.
    bound : callable, optional
        ``bound(ties, k, best_first, **options)``: the largest or smallest value. Needed only
        where sorting the levels inside every tie does not give it.
    """

    function: Callable[..., Array]
    options: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    bound: Callable[..., Array] | None = None


_GAINS = {"gain": ("exponential", "linear"), "discount": ("log2p1", "log2")}

MEASURES = {
    "average_precision": Measure(
        average_precision,
        {"normalize": ("relevant", "min", "retrieved")},
        bound=_average_precision_bound,
    ),
    "ndcg": Measure(ndcg, _GAINS),
    "dcg": Measure(dcg, _GAINS),
    "precision": Measure(precision),
    "recall": Measure(recall),
    "f1": Measure(f1),
    "reciprocal_rank": Measure(reciprocal_rank),
}


def _refuse(parameter: str, owner: str, accepted: str, given: object) -> None:
    raise ValueError(
        f"The {parameter!r} parameter of {owner} must be {accepted}. Got {given!r} instead."
    )


def _among(values: Any) -> str:
    return "a str among {" + ", ".join(repr(value) for value in values) + "}"


def validate_options(
    name: str,
    *,
    k: int | None = None,
    ties: str = "expected",
    zero_division: float = np.nan,
    **options: str,
) -> None:
    """Raise a clear error unless the measure `name` accepts these options.

    Raises
    ------
    ValueError
        If a value, or the name of the measure, is not accepted.
    TypeError
        If the measure has no option of a given name.
    """
    if name not in MEASURES:
        _refuse("name", "a measure", _among(MEASURES), name)
    if k is not None and (isinstance(k, bool) or not isinstance(k, Integral) or k < 1):
        _refuse("k", name, "an int >= 1 or None", k)
    if ties not in TIE_ORDERS:
        _refuse("ties", name, _among(TIE_ORDERS), ties)
    is_real = isinstance(zero_division, Real) and not isinstance(zero_division, bool)
    if not is_real or not (math.isnan(zero_division) or 0 <= zero_division <= 1):
        _refuse("zero_division", name, "a float in the range [0, 1] or nan", zero_division)
    accepted = MEASURES[name].options
    for option, value in options.items():
        if option not in accepted:
            known = ", ".join(repr(known) for known in ("k", "ties", "zero_division", *accepted))
            raise TypeError(f"{name} has no parameter {option!r}. It accepts {known}.")
        if value not in accepted[option]:
            _refuse(option, name, _among(accepted[option]), value)


def _validate_counts(counts: NDArray[Any], levels: Array) -> None:
    if counts.ndim != 3 or 0 in counts.shape[1:] or levels.shape != (counts.shape[1],):
        raise ValueError(
            "counts must have shape (n_queries, n_levels, n_ties), and levels (n_levels,). "
            f"Got shapes {counts.shape} and {levels.shape} instead."
        )
    whole = counts.dtype.kind in "iu" or (counts.dtype.kind == "f" and (counts % 1 == 0).all())
    if not whole or (counts < 0).any():
        raise ValueError("counts must be whole numbers >= 0.")
    if not np.isfinite(levels).all() or levels[0] < 0 or np.any(np.diff(levels) <= 0):
        raise ValueError(f"levels must be finite, >= 0 and ascending. Got {levels} instead.")


def evaluate(
    name: str,
    counts: ArrayLike,
    levels: ArrayLike,
    *,
    k: int | None = None,
    ties: str = "expected",
    zero_division: float = np.nan,
    **options: str,
) -> Array:
    """Evaluate a registered measure of each query.

    Parameters
    ----------
    name : str
        A key of `MEASURES`.
    counts : array-like of shape (n_queries, n_levels, n_ties)
        How many items of each level lie in each tie; ties in the order of retrieval.
    levels : array-like of shape (n_levels,)
        The levels, ascending; an item is relevant when its level is above 0.
    k : int, default=None
        Only the first `k` places count; None: the whole list.
    ties : {"expected", "optimistic", "pessimistic"}, default="expected"
        The mean, the maximum or the minimum over all orders of tied items.
    zero_division : float, default=nan
        The value of a query for which nothing is relevant.
    **options : str
        Further options of the measure, such as ``normalize`` or ``gain``.

    Returns
    -------
    values : ndarray of shape (n_queries,)

    Examples
    --------
    Two tied items, one of them relevant, then another relevant one:

    >>> from sklearn_hashrank._measures import evaluate
    >>> counts = [[[1, 0], [1, 1]]]
    >>> for ties in ("pessimistic", "expected", "optimistic"):
    ...     print(evaluate("average_precision", counts, [0, 1], ties=ties).round(3))
    [0.583]
    [0.708]
    [0.833]
    """
    validate_options(name, k=k, ties=ties, zero_division=zero_division, **options)
    counts, levels = np.asarray(counts), np.asarray(levels, dtype=np.float64)
    _validate_counts(counts, levels)
    per_query = counts[:1].size * (1 if ties == "expected" else len(levels))
    step = max(1, _CHUNK // max(1, per_query))
    values = np.empty(len(counts))
    for start in range(0, len(counts), step):
        chunk = Ties(counts[start : start + step], levels)
        value = _value(MEASURES[name], chunk, k, ties, options)
        values[start : start + step] = np.where(chunk.n_relevant > 0, value, zero_division)
    return values


def _value(
    measure: Measure, chunk: Ties, k: int | None, ties: str, options: Mapping[str, str]
) -> Array:
    if ties == "expected":
        return measure.function(chunk, k, **options)
    best_first = ties == "optimistic"
    if measure.bound is not None:
        return measure.bound(chunk, k, best_first, **options)
    return measure.function(chunk.split(best_first), k, **options)


def mean_score(values: ArrayLike) -> float:
    """Return the mean of the queries' values, leaving out nan, with one warning where there is any.

    Parameters
    ----------
    values : array-like of shape (n_queries,)
        What `evaluate` returns.

    Returns
    -------
    mean : float
        nan when every value is.
    """
    values = np.asarray(values, dtype=np.float64)
    defined = values[~np.isnan(values)]
    if defined.size < values.size:
        warnings.warn(
            f"{values.size - defined.size} of {values.size} queries have no relevant item: their "
            "scores are undefined and left out of the mean. Use the `zero_division` parameter to "
            "give them a value.",
            UndefinedMetricWarning,
            stacklevel=2,
        )
    return float(defined.mean()) if defined.size else math.nan
