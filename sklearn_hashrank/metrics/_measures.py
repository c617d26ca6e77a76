"""Measures of the ranking, whole or cut at k, as functions of ties."""

import math
from collections.abc import Callable
from functools import lru_cache
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from ._gains import Gain, cut_at, ideal_dcg, level_gains
from ._registry import measure_of_package
from ._sums import DISCOUNTS, Discount
from ._ties import Array, Ties, ratio

Normalize = Literal["relevant", "min", "retrieved"]

_NEGLIGIBLE = 40.0  # exp(-40) is far below the rounding error of any measure
_NEAR = 32  # from here on the series of `_harmonic_tail` is exact; below, sums are tabulated
_HARMONIC = np.array([math.fsum(1 / t for t in range(1, n + 1)) for n in range(_NEAR + 1)])


def average_precision_bound(
    ties: Ties, k: int | None, best_first: bool, normalize: Normalize = "relevant"
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
        fewest = np.where(rises, fewest, middle + 1)
        most = np.where(rises, middle, most)
    return extreme(most)


@measure_of_package(
    "tie_aware_average_precision_score",
    short_name="ap",
    label="AP",
    bound=average_precision_bound,
)
def average_precision(ties: Ties, k: int | None = None, normalize: Normalize = "relevant") -> Array:
    """Expected average precision.

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
    return ratio(_precision_sums(ties, k).sum(axis=1), n_counted)


def _precision_sums(ties: Ties, k: int | Array | None) -> Array:
    """Return the expected sum of precisions at each tie's relevant items among the first `k`.

    An item at place t of a tie is relevant with probability n+/n, and then finds a share
    r = (n+ - 1)/(n - 1) of the places ahead of it in the tie relevant: with N and N+ ahead of the
    tie, n+/n * sum over t of (N+ + (t - N - 1) r + 1)/t. Ties without relevant items add nothing.
    """
    arrays = (ties.before, ties.total, ties.relevant_before, ties.relevant)
    before, total, relevant_before, relevant = (
        array.ravel()[ties.holding_relevant] for array in arrays
    )
    places = total if k is None else ties.places(k).ravel()[ties.holding_relevant]
    r = (relevant - 1) / np.maximum(total - 1, 1)
    inverse_ranks = _harmonic(before, before + places)
    ahead = relevant_before + 1 - (before + 1) * r
    sums = np.zeros(ties.total.shape)
    of_ties = relevant / total * (places * r + ahead * inverse_ranks)
    sums.ravel()[ties.holding_relevant] = of_ties
    return sums


def _harmonic_tail(middle: Array) -> Array:
    """Return digamma(x + 1) - log(x + 1/2) for x = middle - 1/2 >= 32, to the last bit."""
    w = 1 / (middle * middle)
    return w * (1 / 24 - w * (7 / 960 - w * (31 / 8064 - w * (127 / 30720))))


def _harmonic(start: Array, stop: Array) -> Array:
    """Sum 1/t over start < t <= stop, to a few ulps of the sum.

    The difference of two digammas would only be good to an ulp of their values: times the rank,
    that costs half of the digits of two relevant items in one tie at rank 10 million.
    """
    near = np.flatnonzero(start < _NEAR)
    of_near = _HARMONIC[np.minimum(stop[near], _NEAR).astype(np.intp)]
    of_near -= _HARMONIC[start[near].astype(np.intp)]
    start, stop = np.maximum(start, _NEAR) + 0.5, np.maximum(stop, _NEAR) + 0.5
    total = np.log1p((stop - start) / start) + (_harmonic_tail(stop) - _harmonic_tail(start))
    total[near] += of_near
    return total


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
    linear = ratio((relevant_before + 1) * inverse_ranks, places)
    quadratic = ratio(places - (before + 1) * inverse_ranks, places * (places - 1))

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


@measure_of_package("tie_aware_ndcg_score", label="NDCG", is_graded=True)
def ndcg(
    ties: Ties,
    k: int | None = None,
    gain: Gain = "exponential",
    discount: Discount = "log2p1",
) -> Array:
    """Expected `dcg` over that of the ideal ranking, which is cut at `k` too."""
    gains = level_gains(ties.levels, gain)
    relevant = ties.levels > 0
    ideal = ideal_dcg(ties.of_level[:, relevant], gains[relevant], k, discount)
    return ratio(_discounted(ties, gains, k, discount), ideal)


@measure_of_package("tie_aware_dcg_score", label="DCG", bounded=False, is_graded=True)
def dcg(
    ties: Ties,
    k: int | None = None,
    gain: Gain = "exponential",
    discount: Discount = "log2p1",
) -> Array:
    """Expected discounted cumulative gain of the first `k` places.

    An item of level v gains 2**v - 1 (``gain="exponential"``) or v (``"linear"``), times 1 over
    log2(rank + 1) (``discount="log2p1"``) or log2(rank), 1 at rank 1 (``"log2"``).
    """
    return _discounted(ties, level_gains(ties.levels, gain), k, discount)


def _discounted(ties: Ties, gains: Array, k: int | None, discount: Discount) -> Array:
    edges = np.concatenate([ties.before, ties.n_items[:, None]], axis=1)
    n_ties = ties.n_ties_until(k)
    discounts = DISCOUNTS[discount].between(cut_at(edges[:, : n_ties + 1], k))
    gain = ties.gain(gains)[:, :n_ties] / np.maximum(ties.total[:, :n_ties], 1)
    return (gain * discounts).sum(axis=1)


@measure_of_package("tie_aware_precision_score")
def precision(ties: Ties, k: int | None = None) -> Array:
    """Expected precision: the relevant share of the first `k` places, filled or not."""
    return ratio(ties.hits(k), ties.n_items if k is None else float(k))


@measure_of_package("tie_aware_recall_score")
def recall(ties: Ties, k: int | None = None) -> Array:
    """Expected recall: the share of all relevant items that is among the first `k`."""
    return ratio(ties.hits(k), ties.n_relevant)


@measure_of_package("tie_aware_f1_score", label="F1")
def f1(ties: Ties, k: int | None = None) -> Array:
    """Expected harmonic mean of precision and recall at `k`."""
    n_places = ties.n_items if k is None else k
    return ratio(2 * ties.hits(k), n_places + ties.n_relevant)


@measure_of_package("tie_aware_reciprocal_rank_score", short_name="rr")
def reciprocal_rank(ties: Ties, k: int | None = None) -> Array:
    """Expected inverse rank of the first relevant item, 0 beyond rank `k`.

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


@measure_of_package("average_precision_at_r_score", short_name="map_r", label="AP@R", takes_k=False)
def average_precision_at_r(ties: Ties, k: int | None = None) -> Array:
    """Expected average precision of the first R places, R relevant items in all."""
    return ratio(_precision_sums(ties, ties.n_relevant[:, None]).sum(axis=1), ties.n_relevant)


@measure_of_package("r_precision_score", short_name="rprec", label="R-precision", takes_k=False)
def r_precision(ties: Ties, k: int | None = None) -> Array:
    """Expected precision of the first R places, where R items are relevant in all."""
    return ratio(ties.hits(ties.n_relevant[:, None]), ties.n_relevant)


@measure_of_package("hit_rate_score", label="hit rate")
def hit_rate(ties: Ties, k: int | None = None) -> Array:
    """Probability that a relevant item is among the first `k`."""
    before, total, _, relevant = ties.at(np.argmax(ties.relevant > 0, axis=1))
    places = total if k is None else np.clip(k - before, 0, total)
    return np.where(relevant > 0, 1 - _chance_of_none(total, relevant, places), 0.0)


@measure_of_package("rank_biased_precision_score", short_name="rbp", label="RBP")
def rank_biased_precision(ties: Ties, k: int | None = None, p: float = 0.8) -> Array:
    """Expected share of relevant items that a patient reader sees.

    The reader goes on to the next rank with probability `p`: rank t counts (1 - p) p ** (t - 1).
    """
    seen = p**ties.before * -np.expm1(ties.places(k) * np.log(p))
    return (ties.relevant_share * seen).sum(axis=1)


@measure_of_package("bpref_score", label="bpref", takes_k=False)
def bpref(ties: Ties, k: int | None = None) -> Array:
    """Expected binary preference: judged irrelevant items ahead of relevant ones.

    Each retrieved relevant item counts 1 less the share of min(R, N) judged irrelevant items
    ahead of it, at most all, where R items are relevant and N judged irrelevant; the sum is
    divided by R. Of m such items in its tie, 0, 1, ... m are ahead with equal probability.
    """
    r, m = ties.n_relevant[:, None], ties.judged_irrelevant
    ahead = np.cumsum(m, axis=1) - m
    n = m.sum(axis=1, keepdims=True)
    if ties.missed is not None:
        n = n + ties.missed[:, ties.levels == 0].sum(axis=1, keepdims=True)
    free = np.clip(r - ahead, 0, m + 1)  # cases in which fewer than R are ahead
    mean = (free * ahead + free * (free - 1) / 2 + (m + 1 - free) * r) / (m + 1)
    return ratio((ties.relevant * (1 - ratio(mean, np.minimum(r, n)))).sum(axis=1), r[:, 0])


# Within a Hamming radius, where tie t is distance t.


@measure_of_package("lookup_precision_score", short_name="ph2", label="precision within radius")
def lookup_precision(ties: Ties, radius: int = 2) -> Array:
    """Relevant share of the items within `radius`, 0 where there are none."""
    return ratio(_within(ties.relevant, radius), _within(ties.total, radius))


@measure_of_package("lookup_recall_score", label="recall within radius")
def lookup_recall(ties: Ties, radius: int = 2) -> Array:
    """Share of all relevant items that lies within `radius`."""
    return ratio(_within(ties.relevant, radius), ties.n_relevant)


@measure_of_package(
    "average_cumulative_gain_score", short_name="acg", label="ACG", bounded=False, is_graded=True
)
def average_cumulative_gain(ties: Ties, radius: int = 3) -> Array:
    """Mean level of the items within `radius`, 0 where there are none."""
    gains = np.einsum("v,qvt->q", ties.levels, ties.counts[:, :, : radius + 1])
    return ratio(gains, _within(ties.total, radius))


@measure_of_package(
    "local_group_average_precision_score", short_name="mlgap", label="LGAP", needs_codes=True
)
def local_group_average_precision(ties: Ties, radius: int = 2) -> Array:
    """Precision within 0, 1, ... `radius`, each times the evenness of the codes there, mean.

    Evenness is the number of items in the ball over what it would hold if each of its codes had
    as many items as the fullest one. An empty ball counts 0. Beyond the length of the codes the
    ball is the whole space, and grows no more.
    """
    assert ties.peaks is not None
    n_bits = ties.total.shape[1] - 1
    last = min(radius, n_bits)
    relevant = np.cumsum(ties.relevant[:, : last + 1], axis=1)
    fullest = np.maximum.accumulate(ties.peaks[:, : last + 1], axis=1)
    # The number of items in the ball cancels: precision is relevant / items.
    terms = ratio(relevant, fullest) * _inverse_ball_sizes(n_bits, last)
    return (terms.sum(axis=1) + (radius - last) * terms[:, -1]) / (radius + 1)


def _within(values: Array, radius: int) -> Array:
    return values[:, : radius + 1].sum(axis=1)


@lru_cache(maxsize=64)
def _inverse_ball_sizes(n_bits: int, radius: int) -> Array:
    """1 / (number of codes within 0, 1, ... `radius`): exact integers, which cannot overflow."""
    inverses, size, n_codes = [], 0, 1
    for distance in range(radius + 1):
        size += n_codes
        inverses.append(1 / size)
        n_codes = n_codes * (n_bits - distance) // (distance + 1)
    return np.array(inverses)
