import inspect
import math
import time
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import digamma
from sklearn import metrics
from sklearn.exceptions import UndefinedMetricWarning

from sklearn_hashrank import RetrievalHistogram
from sklearn_hashrank.metrics import _evaluation
from sklearn_hashrank.metrics._configured import configure_measure
from sklearn_hashrank.metrics._evaluation import mean_value
from sklearn_hashrank.metrics._gains import ideal_dcg, level_gains
from sklearn_hashrank.metrics._measure import MEASURES, TIE_ORDERS
from sklearn_hashrank.metrics._sums import DISCOUNTS, DiscountSums
from sklearn_hashrank.metrics._tie_tables import DenseTies
from sklearn_hashrank.metrics._ties import ratio
from tests.naming import naming
from tests.oracle.lookups import LOOKUPS, coded, peaks
from tests.oracle.rankings import LITERAL, mean_max_min

MILLIONS = 3_000_000
LEVELS = [(0, 1), (0, 1, 2, 5), (0, 0.25, 1.5), (1, 3), (0.5,)]


def values_of(option):
    """Every value of an option, or several numbers."""
    return (option, 0.3, 0.95) if isinstance(option, float) else option


EVERY_MEASURE = [
    pytest.param(name, dict(zip(measure.options, values)), id="-".join([name, *map(str, values)]))
    for name, measure in MEASURES.items()
    for values in product(*map(values_of, measure.options.values()))
]


def evaluate(name, counts, levels, peaks=None, **options):
    """Evaluate counts of any dtype, and ties that are no distances."""
    peaks = None if peaks is None else np.asarray(peaks)
    configured = configure_measure(name, **options)
    table = DenseTies(np.asarray(counts), np.asarray(levels, dtype=float), peaks)
    return _evaluation.evaluate(configured, table)


def evaluate_at(name, counts, levels, k=None, **options):
    """Evaluate with `k` as the cut-off or as the radius; of each tie, all items share a code."""
    measure = MEASURES[name]
    if measure.takes_k and (k is not None or measure.radius is None):
        options[measure.cut] = k
    if measure.needs_codes:
        options.setdefault("peaks", np.asarray(counts).sum(axis=1))
    return evaluate(name, counts, levels, **options)


def mean_and_bounds(name, ties, k, **options):
    """By definition: over all orders of tied items, or of the items within a radius."""
    if name not in LOOKUPS:
        return mean_max_min(name, ties, k, **options)
    return (LOOKUPS[name](*coded(ties), **({} if k is None else {"radius": k})),) * 3


def counts_of(ties, levels):
    """Counts (n_levels, n_ties) of one query from the levels in each tie."""
    return np.array([[tie.count(level) for tie in ties] for level in levels])


def one_each(ranking, levels):
    """Counts (1, n_levels, n) of a ranking without ties."""
    return counts_of([[level] for level in ranking], levels)[None]


@st.composite
def tied_rankings(draw, max_items=7):
    """Levels, and the levels of the items in each tie; something is relevant."""
    levels = draw(st.sampled_from(LEVELS))
    items = draw(st.lists(st.sampled_from(levels), max_size=max_items - 1))
    items.insert(draw(st.integers(0, len(items))), draw(st.sampled_from(levels[-2:])))
    if not any(items):
        items[0] = levels[-1]
    n_ties = draw(st.integers(1, 4))
    which = draw(st.lists(st.integers(0, n_ties - 1), min_size=len(items), max_size=len(items)))
    return levels, [[v for v, w in zip(items, which) if w == tie] for tie in range(n_ties)]


cutoffs = st.none() | st.integers(1, 10)


def test_every_measure_has_a_literal_version_and_defaults_as_registered():
    assert {*LITERAL, *LOOKUPS} == set(MEASURES)
    for name, measure in MEASURES.items():
        parameters = inspect.signature(measure.function).parameters
        defaults = {name: parameters[name].default for name in list(parameters)[1:]}
        options = {name: values_of(values)[0] for name, values in measure.options.items()}
        assert defaults == {measure.cut: measure.radius} | options
        assert measure.function.__doc__
        assert (measure.radius is None) == (name in LITERAL)
    assert len({measure.short_name for measure in MEASURES.values()}) == len(MEASURES)


@pytest.mark.parametrize(("name", "options"), EVERY_MEASURE)
@settings(max_examples=30, deadline=None)
@given(ranking=tied_rankings(), k=cutoffs, dtype=st.sampled_from([int, float, "f4", "u2", "i1"]))
def test_expectation_and_bounds_are_those_of_all_orders(name, options, ranking, k, dtype):
    levels, ties = ranking
    counts = counts_of(ties, levels)[None].astype(dtype)
    mean, largest, smallest = mean_and_bounds(name, ties, k, **options)
    if MEASURES[name].needs_codes:
        options = options | {"peaks": [peaks(*coded(ties)[:2])]}
    for order, literal in zip(TIE_ORDERS, (mean, largest, smallest)):
        value = evaluate_at(name, counts, levels, k=k, ties=order, **options)
        assert_allclose(value, [literal], rtol=1e-12, atol=1e-12, err_msg=order)


@pytest.mark.parametrize(("name", "options"), EVERY_MEASURE)
@pytest.mark.parametrize("k", [None, 6, 700, 10**6])
def test_bounds_enclose_the_expectation_and_meet_without_ties(name, options, k):
    rng = np.random.default_rng(0)
    levels = [0, 0.5, 2]
    counts = rng.integers(0, 30, size=(40, 3, 20))
    low, mean, high = (
        evaluate_at(name, counts, levels, k=k, ties=ties, **options)
        for ties in ("pessimistic", "expected", "optimistic")
    )
    assert (low <= mean + 1e-14).all()
    assert (mean <= high + 1e-14).all()
    whole_list = k is None or k > counts.sum(axis=(1, 2)).max()
    is_constant = whole_list and name in ("precision", "recall", "f1")
    is_constant |= name in LOOKUPS or (name == "hit_rate" and (k is None or k > 100))
    assert is_constant == (low == high).all()

    of_each = np.eye(3, dtype=int)[rng.integers(0, 3, size=(40, 25))].transpose(0, 2, 1)
    low, mean, high = (
        evaluate_at(name, of_each, levels, k=k, ties=ties, zero_division=0, **options)
        for ties in ("pessimistic", "expected", "optimistic")
    )
    assert_allclose(low, mean, rtol=1e-13)
    assert_allclose(high, mean, rtol=1e-13)


@pytest.mark.parametrize(("name", "options"), EVERY_MEASURE)
def test_only_the_counts_of_levels_in_ties_matter(name, options, monkeypatch):
    rng = np.random.default_rng(1)
    shards = rng.integers(0, 6, size=(3, 12, 3, 9))
    counts, order = shards.sum(axis=0), rng.permutation(12)
    for ties, k in product(TIE_ORDERS, (None, 30)):

        def values(counts, levels=(0, 1, 3), ties=ties, k=k):
            return evaluate_at(name, counts, levels, k=k, ties=ties, **options)

        with naming(f"{ties}, k={k}"), monkeypatch.context() as patch:
            whole = values(counts)
            assert_array_equal(values(counts[order]), whole[order])
            if name not in LOOKUPS:  # to which an empty tie is a distance
                with_empty_ties = np.insert(counts, [0, 0, 4, 9], 0, axis=2)
                assert_allclose(values(with_empty_ties), whole, rtol=1e-14)
            with_unused_levels = np.insert(counts, [1, 2, 3], 0, axis=1)
            assert_allclose(values(with_unused_levels, (0, 0.5, 1, 2, 3, 7)), whole, rtol=1e-14)
            patch.setattr(_evaluation, "_CHUNK", 100)
            assert_array_equal(values(counts), whole)
            assert values(counts[:0]).shape == (0,)


@settings(max_examples=30, deadline=None)
@given(ranking=tied_rankings(), cut=st.integers(0, 7), k=cutoffs)
def test_histograms_of_shards_add_up(ranking, cut, k):
    levels, ties = ranking
    shards = [tie[:cut] for tie in ties], [tie[cut:] for tie in ties]
    counts = sum(counts_of(shard, levels) for shard in shards)[None]
    mean, _, _ = mean_max_min("average_precision", ties, k)
    assert_allclose(evaluate("average_precision", counts, levels, k=k), mean, atol=1e-12)


@pytest.mark.parametrize("k", [None, 1, 4, 12])
def test_without_ties_values_are_those_of_scikit_learn(k):
    rng = np.random.default_rng(2)
    n = 12
    for _ in range(20):
        ranking = rng.choice([0, 0, 1, 2, 3], size=n).tolist()
        ranking[rng.integers(n)] = 1
        scores = -np.arange(n)
        counts, levels = one_each(ranking, [0, 1, 2, 3]), [0, 1, 2, 3]
        relevant = np.array(ranking) > 0
        retrieved = np.arange(n) < (n if k is None else k)
        expected = {
            ("ndcg", "linear"): metrics.ndcg_score([ranking], [scores], k=k),
            ("dcg", "linear"): metrics.dcg_score([ranking], [scores], k=k),
            ("precision",): metrics.precision_score(relevant, retrieved),
            ("recall",): metrics.recall_score(relevant, retrieved),
            ("f1",): metrics.f1_score(relevant, retrieved),
        }
        if k is None:
            expected["average_precision",] = metrics.average_precision_score(relevant, scores)
        for (name, *gain), value in expected.items():
            options = {"gain": gain[0]} if gain else {}
            assert_allclose(evaluate(name, counts, levels, k=k, **options), value, rtol=1e-12)
        alone = np.zeros(n, dtype=int)
        alone[rng.integers(n)] = 1
        assert_allclose(
            evaluate("reciprocal_rank", one_each(alone.tolist(), [0, 1]), [0, 1]),
            metrics.label_ranking_average_precision_score([alone], [scores]),
        )


@settings(max_examples=60, deadline=None)
@given(ranking=tied_rankings(max_items=20).filter(lambda r: sum(map(len, r[1])) > 1), k=cutoffs)
def test_scikit_learn_averages_dcg_over_ties_as_we_do(ranking, k):
    levels, ties = ranking
    items = [(level, -place) for place, tie in enumerate(ties) for level in tie]
    y, scores = zip(*items)
    value = evaluate("dcg", counts_of(ties, levels)[None], levels, k=k, gain="linear")
    assert_allclose(value, metrics.dcg_score([y], [scores], k=k), rtol=1e-12)


def test_scikit_learn_does_not_average_average_precision_over_ties():
    assert_allclose(evaluate("average_precision", [[[1], [1]]], [0, 1]), 0.75, rtol=1e-15)
    assert metrics.average_precision_score([0, 1], [1, 1]) == 0.5


@pytest.mark.parametrize("case", ["c1", "c2"])
def test_values_of_the_talr_authors_code(case):
    reference = np.load(Path(__file__).parents[1] / "data" / "talr_reference_rankings.npz")
    queries, database, binary, graded = (reference[f"{case}_{x}"] for x in ("Hq", "Hd", "Ab", "Am"))
    distances = (queries[:, None] != database).sum(axis=2)

    def counts_at(ranks, affinity, levels):
        at_rank = ranks[:, None, None, :] == np.arange(ranks.max() + 1)[:, None]
        of_level = affinity[:, None, None, :] == np.array(levels)[:, None, None]
        return (at_rank & of_level).sum(axis=3)

    tied = counts_at(distances, binary, [0, 1])
    value = evaluate("average_precision", tied, [0, 1])
    assert_allclose(value, reference[f"{case}_tieAP"], rtol=0, atol=1e-12)

    levels = [0, 1, 2, 5, 10]
    tied = counts_at(distances, graded, levels)
    stable = np.argsort(np.argsort(distances, axis=1, kind="stable"), axis=1)
    computed = [
        evaluate("ndcg", tied, levels),
        evaluate("ndcg", counts_at(stable, graded, levels), levels),
        evaluate("ndcg", tied, levels, ties="optimistic"),
        evaluate("ndcg", tied, levels, ties="pessimistic"),
    ]
    columns = [reference[f"{case}_tieNDCG"], *reference[f"{case}_NDCG_r_o_p"].T]
    assert_allclose(computed, columns, rtol=0, atol=1e-6)


# Large databases


def exact_average_precision(counts, k=None):
    """AP of (2, n_ties) counts from its formula for each rank, in rational numbers."""
    total, before, ahead = Fraction(0), 0, 0
    for n, relevant in zip(counts.sum(axis=0).tolist(), counts[1].tolist()):
        for place in range(n):
            t = before + place + 1
            if k is not None and t > k:
                break
            others = Fraction(place * (relevant - 1), n - 1) if n > 1 else 0
            total += Fraction(relevant, n) * (ahead + 1 + others) / t
        before, ahead = before + n, ahead + relevant
    return total / ahead


def summed_average_precision(counts, k):
    """The same in long doubles."""
    ahead = np.longdouble(0)
    total, before = np.longdouble(0), 0
    for n, relevant in zip(counts.sum(axis=0).tolist(), counts[1].tolist()):
        r = np.longdouble(relevant - 1) / max(n - 1, 1)
        for start in range(0, max(min(n, k - before), 0), 2**18):
            place = np.arange(start, min(start + 2**18, n, k - before), dtype=np.longdouble)
            total += np.sum((ahead + 1 + place * r) / (before + 1 + place)) * relevant / n
        before, ahead = before + n, ahead + relevant
    return float(total / ahead)


@pytest.mark.parametrize("n_ties", [1, 7, 300])
def test_average_precision_equals_rational_arithmetic(n_ties):
    rng = np.random.default_rng(n_ties)
    for k in (None, 20, 33, 450):
        counts = rng.multinomial(600, rng.dirichlet(np.ones(2 * n_ties))).reshape(2, n_ties)
        exact = float(exact_average_precision(counts, k))
        assert_allclose(evaluate("average_precision", [counts], [0, 1], k=k), exact, atol=2e-15)


@pytest.mark.parametrize(("n_ties", "share"), [(1, 0.1), (2, 1e-6), (65, 1e-5), (65, 0.3)])
def test_average_precision_of_millions_is_within_the_stated_error(n_ties, share):
    rng = np.random.default_rng(n_ties)
    both = np.stack([rng.dirichlet(np.ones(n_ties)) * s for s in (1 - share, share)])
    counts = np.ceil(MILLIONS * both).astype(int)
    for k in (MILLIONS // 3, 2 * MILLIONS):
        value = evaluate("average_precision", [counts], [0, 1], k=k)
        assert_allclose(value, summed_average_precision(counts, k), rtol=0, atol=1e-13)


def test_average_precision_of_few_items_at_any_depth():
    for before, total in product((0, 1, 30, 31, 32, 33, 1000, MILLIONS), (1, 2, 3, 40)):
        counts = np.array([[before, 0], [0, total]])
        exact = sum(Fraction(i, before + i) for i in range(1, total + 1)) / total
        value = evaluate("average_precision", [counts], [0, 1])
        # The ranks cancel against a sum of inverse ranks: absolute, not relative precision.
        assert_allclose(value, float(exact), rtol=0, atol=2e-14, err_msg=f"{before}, {total}")


def table_of(term, n):
    return np.concatenate([[0], np.cumsum(term(np.arange(1.0, n + 1)))])


@pytest.mark.parametrize("discount", ["log2p1", "log2"])
def test_discount_sums_keep_their_digits_at_any_depth(discount):
    def term(t):
        shifted = t + 1 if discount == "log2p1" else np.maximum(t, 2)
        return 1 / np.log2(shifted)

    sums = DiscountSums(DISCOUNTS[discount].discount)
    for start, stop in [(0, 1), (0, 3), (255, 257), (256, 256), (300, 40_000)]:
        exact = math.fsum(term(np.arange(start + 1.0, stop + 1)))
        assert_allclose(sums.between(np.array([start, stop])), exact, rtol=2e-13)
    assert sums._covering(0)[0].nbytes < 2**20  # no more than is needed
    row = MILLIONS // 256 * 256
    for start, stop in [(row - 1, row + 1), (row - 1, row), (row, row + 1), (row - 5000, row)]:
        exact = math.fsum(term(np.arange(start + 1.0, stop + 1)))
        assert_allclose(sums.between(np.array([start, stop])), exact, rtol=1e-12)
    assert_allclose(DISCOUNTS[discount].prefix(300)[:301], table_of(term, 300), rtol=1e-14)
    exact = math.fsum(map(math.fsum, np.array_split(term(np.arange(1.0, MILLIONS + 1)), 100)))
    at_once = DiscountSums(DISCOUNTS[discount].discount)
    for table in (sums, at_once):  # grown, or built at once
        assert_allclose(table.between(np.array([0, MILLIONS])), exact, rtol=1e-15)


def test_discount_sums_grow_safely_and_once_in_threads():
    edges = np.random.default_rng(0).integers(0, 3_000_000, size=(200, 2))
    edges.sort(axis=1)
    expected = DISCOUNTS["log2p1"].between(edges)
    built = []

    def discount(ranks):
        built.append(ranks[0])
        time.sleep(1e-4)  # lets another thread in
        return 1 / np.log2(ranks + 1)

    shared = DiscountSums(discount)
    with ThreadPoolExecutor(8) as pool:
        values = np.concatenate(list(pool.map(shared.between, edges)))
    assert_allclose(values, expected[:, 0], rtol=1e-12)
    assert len(set(built)) == len(built)


def test_dcg_and_ndcg_of_millions():
    counts = np.array([[[MILLIONS // 2, MILLIONS // 2 - 2], [0, 1], [0, 1]]])
    ranks = np.arange(MILLIONS // 2 + 1, MILLIONS + 1)
    mean_discount = math.fsum(1 / np.log2(ranks + 1)) / ranks.size
    value = evaluate("dcg", counts, [0, 1, 2])
    assert_allclose(value, 4 * mean_discount, rtol=1e-13)
    ideal = 3 + 1 / math.log2(3)
    value = evaluate("ndcg", counts, [0, 1, 2])
    assert_allclose(value, 4 * mean_discount / ideal, rtol=1e-13)
    last = np.array([[[MILLIONS - 1, 0], [0, 1]]])
    value = evaluate("ndcg", last, [0, 1], ties="pessimistic")
    assert_allclose(value, 1 / math.log2(MILLIONS + 1), rtol=1e-12)


@pytest.mark.parametrize("before", [0, 1, 50, 10_000])
def test_reciprocal_rank_equals_rational_arithmetic(before):
    n = 300
    for relevant, places in product((1, 2, 3, 17, 100, 299, 300), (None, 1, 7, 150, 299)):
        orders = math.comb(n, relevant)
        exact = Fraction(0)
        for i in range(1, min(n - relevant + 1, places or n) + 1):
            exact += Fraction(math.comb(n - i, relevant - 1), orders * (before + i))
        counts = [[[before, n - relevant, 5], [0, relevant, 5]]]
        k = None if places is None else before + places
        value = evaluate("reciprocal_rank", counts, [0, 1], k=k)
        case = f"{relevant} relevant, {places} places"
        assert_allclose(value, float(exact), rtol=1e-13, atol=1e-16, err_msg=case)


def exact_reciprocal_rank_of_few(relevant, before, n_terms):
    """One or two relevant items: the sum over the rank of the first one, in closed form."""
    inverse_ranks = digamma(before + n_terms + 1) - digamma(before + 1)
    if relevant == 1:  # every place is as likely
        return inverse_ranks / MILLIONS
    # The first of two is at place i with probability 2 (MILLIONS - i) / (MILLIONS (MILLIONS - 1)).
    terms = (MILLIONS + before) * inverse_ranks - n_terms
    return 2 * terms / (MILLIONS * (MILLIONS - 1))


def exact_reciprocal_rank_of_many(relevant, before, n_terms):
    """The same sum, term by term; terms become negligible after few of them."""
    n_terms = min(n_terms, 50 * MILLIONS // relevant + 1)
    exact, survival = np.longdouble(0), np.longdouble(1)
    for start in range(1, n_terms + 1, 2**18):
        i = np.arange(start, min(start + 2**18, n_terms + 1), dtype=np.longdouble)
        left = MILLIONS - i + 1
        survivals = survival * np.cumprod((left - relevant) / left)
        ahead = np.concatenate([[survival], survivals[:-1]])
        exact += np.sum(ahead * relevant / left / (before + i))
        survival = survivals[-1]
    return float(exact)


@pytest.mark.parametrize("relevant", [1, 2, 1000, MILLIONS - 3])
@pytest.mark.parametrize(("before", "k"), [(0, None), (0, 1_000_000), (300_000, 300_050)])
def test_reciprocal_rank_of_millions(relevant, before, k):
    n_terms = min(MILLIONS - relevant + 1, MILLIONS if k is None else k - before)
    exact = exact_reciprocal_rank_of_few if relevant <= 2 else exact_reciprocal_rank_of_many
    counts = [[[before, MILLIONS - relevant], [0, relevant]]]
    value = evaluate("reciprocal_rank", counts, [0, 1], k=k)
    assert_allclose(value, exact(relevant, before, n_terms), rtol=1e-12, atol=1e-16)


def exact_retrieved(before, ahead, precisions, n, relevant, places):
    """The expectation over the number of relevant items among the `places`, term by term."""
    total = Fraction(0)
    for hits in range(max(0, relevant + places - n), min(relevant, places) + 1):
        if ahead + hits == 0:
            continue
        value = Fraction(precisions)
        for place in range(places):
            others = Fraction(place * (hits - 1), places - 1) if places > 1 else 0
            value += Fraction(hits, places) * (ahead + 1 + others) / (before + place + 1)
        chance = math.comb(relevant, hits) * math.comb(n - relevant, places - hits)
        total += value / (ahead + hits) * Fraction(chance, math.comb(n, places))
    return total


@pytest.mark.parametrize(("n", "relevant"), [(60, 1), (60, 59), (200, 3), (200, 90), (200, 180)])
@pytest.mark.parametrize("places", [1, 13, 59])
@pytest.mark.parametrize("ahead", [0, 4])
def test_average_precision_of_the_retrieved_equals_rational_arithmetic(n, relevant, places, ahead):
    exact = exact_retrieved(ahead, ahead, ahead, n, relevant, places)
    counts = [[[0, n - relevant], [ahead, relevant]]]
    value = evaluate("average_precision", counts, [0, 1], k=ahead + places, normalize="retrieved")
    assert_allclose(value, float(exact), rtol=1e-13)


def test_average_precision_of_the_retrieved_of_millions():
    # Of one tie: hits of places relevant make a mean precision that is linear in the hits.
    n, relevant, places = MILLIONS, 30_000, 100
    h = math.fsum(1 / t for t in range(1, places + 1))
    linear, quadratic = h / places, (places - h) / (places * (places - 1))
    none = math.exp(math.fsum(math.log1p(-relevant / (n - i)) for i in range(places)))
    some = 1 - none
    exact = linear * some + quadratic * (places * relevant / n - some)
    counts = [[[n - relevant], [relevant]]]
    value = evaluate("average_precision", counts, [0, 1], k=places, normalize="retrieved")
    assert_allclose(value, exact, rtol=1e-12)
    # Half of ten million, half of them relevant: no chance of none.
    places = n // 2
    h = math.log(places) + np.euler_gamma + 1 / (2 * places)
    linear, quadratic = h / places, (places - h) / (places * (places - 1))
    value = evaluate("average_precision", [[[n // 2], [n // 2]]], [0, 1], k=places)
    retrieved = evaluate(
        "average_precision", [[[n // 2], [n // 2]]], [0, 1], k=places, normalize="retrieved"
    )
    assert_allclose(retrieved, linear + quadratic * (places / 2 - 1), rtol=1e-12)
    assert_allclose(value, retrieved / 2, rtol=1e-6)


@pytest.mark.parametrize("seed", range(20))
def test_bounds_of_average_precision_of_the_retrieved_search_all_hits(seed):
    rng = np.random.default_rng(seed)
    before, n = rng.integers(0, 1500, size=2) + 1
    ahead, relevant = rng.integers(0, before + 1), rng.integers(1, n + 1)
    places = rng.integers(1, n + 1)
    counts = np.array([[[before - ahead, n - relevant], [ahead, relevant]]])
    if seed % 2:  # precisions that fall from 1 to little make both ends of the search matter
        counts = np.insert(counts, [1], [[[800], [0]]], axis=2)

    def averages(best_first):
        flags = []
        for irrelevant, positive in counts[0, :, :-1].T:
            parts = [np.ones(positive), np.zeros(irrelevant)]
            flags += parts if best_first else parts[::-1]
        for hits in range(max(0, relevant + places - n), min(relevant, places) + 1):
            parts = [np.ones(hits), np.zeros(places - hits)]
            flag = np.concatenate(flags + (parts if best_first else parts[::-1]))
            ranks = np.arange(1, flag.size + 1)
            yield (flag * np.cumsum(flag) / ranks).sum() / max(flag.sum(), 1)

    k = int(counts[0, :, :-1].sum() + places)
    for ties, extreme in (("optimistic", max), ("pessimistic", min)):
        value = evaluate("average_precision", counts, [0, 1], k=k, ties=ties, normalize="retrieved")
        assert_allclose(value, extreme(averages(ties == "optimistic")), rtol=1e-12)


@pytest.mark.parametrize(("name", "options"), EVERY_MEASURE)
def test_millions_neither_overflow_nor_leave_the_unit_interval(name, options):
    half = MILLIONS // 2
    counts = [
        [[MILLIONS - 1, 0], [1, 0]],
        [[1, 0], [MILLIONS - 1, 0]],
        [[half, 0], [half, 0]],
        [[half, half - 1], [0, 1]],
        [[0, half], [half, 0]],
    ]
    for k in (None, 1000, 2_654_321, 10**12):
        found = {
            ties: evaluate_at(name, counts, [0, 1], k=k, ties=ties, **options)
            for ties in TIE_ORDERS
        }
        for ties, values in found.items():
            with naming(f"{ties}, k={k}"):
                assert np.isfinite(values).all()
                assert (values >= 0).all()
                if MEASURES[name].bounded:
                    assert (values <= 1 + 1e-14).all()
        assert_allclose(found["optimistic"][4], found["expected"][4], rtol=1e-12)


# Levels of any size


@pytest.mark.parametrize("scale", [1e-300, 1e-18, 1e-9, 1e-3, 1.0])
def test_ideal_rankings_of_tiny_levels_are_perfect(scale):
    levels = np.array([0, 1, 2]) * scale
    best, worst = one_each([2, 2, 1, 0, 0], [0, 1, 2]), one_each([0, 0, 1, 2, 2], [0, 1, 2])
    assert_allclose(evaluate("ndcg", best, levels), 1, rtol=1e-15)
    if scale < 1e-6:  # 2**v - 1 is v ln 2 for small v
        value = evaluate("ndcg", worst, levels)
        assert_allclose(value, evaluate("ndcg", worst, levels, gain="linear"), rtol=1e-8)


def test_gains_of_levels():
    assert_array_equal(level_gains(np.arange(60.0)), 2.0 ** np.arange(60) - 1)
    small = np.array([0, 1e-18, 1e-5, 0.5, 0.999999])
    series = [
        math.fsum((v * math.log(2)) ** i / math.factorial(i) for i in range(1, 25)) for v in small
    ]
    assert_allclose(level_gains(small), series, rtol=1e-14)
    assert_array_equal(level_gains(small, "linear"), small)
    for levels in (small, np.array([0, 0.25, 1, 3, 10]), np.array([0.5])):
        scaled = level_gains(levels, scaled=True)
        assert_allclose(scaled * 2 ** levels.max(), level_gains(levels), rtol=1e-15)
    assert_array_equal(level_gains(np.array([0, 1999.0, 2000.0]), scaled=True), [0, 0.5, 1])


@pytest.mark.parametrize("discount", DISCOUNTS)
@pytest.mark.parametrize("k", [None, 1, 4, 100])
def test_the_ideal_is_the_dcg_of_the_best_ranking(discount, k):
    rng = np.random.default_rng(0)
    levels, n_items = np.array([0, 0.5, 2]), rng.integers(0, 6, (20, 3))
    n_items[:, 2] += 1
    gains = level_gains(levels)
    best = np.zeros((20, 3, 3), dtype=int)
    for place, level in enumerate((2, 1, 0)):
        best[:, level, place] = n_items[:, level]
    expected = evaluate("dcg", best, levels, k=k, discount=discount)
    assert_allclose(ideal_dcg(n_items, gains, k, discount), expected, rtol=1e-14)
    shuffled = [1, 2, 0]
    again = ideal_dcg(n_items[:, shuffled], gains[shuffled], k, discount)
    assert_allclose(again, expected, rtol=1e-14)


def test_ratios_keep_their_precision():
    ones = np.ones(2, dtype=np.float32)
    assert ratio(ones, ones).dtype == ratio(ones, 2.0).dtype == np.float32
    assert ratio(np.array([1, 2]), np.array([2, 0])).tolist() == [0.5, 0]


# Undefined values and errors


@pytest.mark.parametrize(("name", "options"), EVERY_MEASURE)
def test_queries_without_relevant_items_take_zero_division(name, options):
    for ties, k in product(TIE_ORDERS, (None, 2, 100)):
        with naming(f"{ties}, k={k}"):
            counts = [[[2, 3], [0, 0]], [[0, 0], [1, 2]], [[0, 0], [0, 0]]]
            values = evaluate_at(name, counts, [0, 1], k=k, ties=ties, **options)
            assert_array_equal(np.isnan(values), [True, False, True])
            for zero_division in (0, 1.0, np.float32(0.25)):
                values = evaluate_at(
                    name, counts, [0, 1], k=k, ties=ties, zero_division=zero_division, **options
                )
                assert_array_equal(values[[0, 2]], zero_division)
            assert np.isnan(
                evaluate_at(name, np.array(counts)[:, :1], [0], k=k, ties=ties, **options)
            ).all()


def test_mean_value_warns_once_of_undefined_queries():
    assert mean_value([0.25, 0.75]) == 0.5
    with pytest.warns(UndefinedMetricWarning, match="2 of 4 queries have no relevant") as caught:
        assert mean_value([np.nan, 0.25, 0.75, np.nan]) == 0.5
    assert len(caught) == 1
    assert caught[0].filename == __file__
    with pytest.warns(UndefinedMetricWarning, match="1 of 1 queries"):
        assert math.isnan(mean_value([np.nan]))
    assert math.isnan(mean_value([]))


@pytest.mark.parametrize("k", [0, -3, 2.0, True, "3", np.bool_(True), np.nan])
def test_k_must_be_a_positive_int_or_none(k):
    message = rf"The 'k' parameter of ndcg must be an int >= 1 or None. Got {k!r} instead."
    with pytest.raises(ValueError) as error:
        evaluate("ndcg", [[[1], [1]]], [0, 1], k=k)
    assert str(error.value) == message


@pytest.mark.parametrize("k", [3, np.int8(3), np.uint64(3)])
def test_k_may_be_any_int(k):
    assert_allclose(evaluate("f1", [[[3, 200], [2, 100]]], [0, 1], k=k), 2 * 6 / 5 / 105)


@pytest.mark.parametrize("zero_division", [-0.1, 1.5, "warn", None, True, np.inf])
def test_zero_division_must_be_in_the_unit_interval_or_nan(zero_division):
    with pytest.raises(ValueError) as error:
        configure_measure("recall", zero_division=zero_division)
    assert str(error.value) == (
        "The 'zero_division' parameter of recall must be a float in the range [0, 1] or nan. "
        f"Got {zero_division!r} instead."
    )


@pytest.mark.parametrize(
    ("name", "options", "kind", "message"),
    [
        (
            "precision",
            {"ties": "random"},
            ValueError,
            "The 'ties' parameter of precision must be a str among {'expected', 'optimistic', "
            "'pessimistic', 'docid'}. Got 'random' instead.",
        ),
        (
            "average_precision",
            {"normalize": None},
            ValueError,
            "The 'normalize' parameter of average_precision must be a str among {'relevant', "
            "'min', 'retrieved'}. Got None instead.",
        ),
        (
            "dcg",
            {"discount": "log"},
            ValueError,
            "The 'discount' parameter of dcg must be a str among {'log2p1', 'log2'}. "
            "Got 'log' instead.",
        ),
        (
            "recall",
            {"gain": "linear"},
            TypeError,
            "recall has no parameter 'gain'. It accepts 'k', 'ties', 'zero_division', "
            "'min_relevance'.",
        ),
        (
            "ndcg",
            {"normalize": "min"},
            TypeError,
            "ndcg has no parameter 'normalize'. It accepts 'k', 'gain', 'discount', 'ties', "
            "'zero_division'.",
        ),
        (
            "lookup_recall",
            {"k": 2},
            TypeError,
            "lookup_recall has no parameter 'k'. It accepts 'radius', 'ties', 'zero_division', "
            "'min_relevance'.",
        ),
        (
            "average_cumulative_gain",
            {"radius": -1},
            ValueError,
            "The 'radius' parameter of average_cumulative_gain must be an int >= 0. "
            "Got -1 instead.",
        ),
        (
            "lookup_precision",
            {"radius": None},
            ValueError,
            "The 'radius' parameter of lookup_precision must be an int >= 0. Got None instead.",
        ),
    ],
)
def test_messages_name_what_was_given_and_what_is_accepted(name, options, kind, message):
    with pytest.raises(kind) as error:
        evaluate(name, [[[1], [1]]], [0, 1], **options)
    assert str(error.value) == message


@pytest.mark.parametrize(
    ("counts", "levels", "message"),
    [
        ([[1], [1]], [0, 1], r"counts must have shape .* Got shapes \(2, 1\) and \(2,\) instead"),
        ([[[1], [1]]], [0, 1, 2], r"Got shapes \(1, 2, 1\) and \(3,\) instead"),
        ([[]], [], r"Got shapes"),
        ([[[], []]], [0, 1], r"Got shapes \(1, 2, 0\) and \(2,\) instead"),
        ([[[1], [-1]]], [0, 1], "whole numbers >= 0"),
        ([[[1.5], [1]]], [0, 1], "whole numbers >= 0"),
        ([[[np.nan], [1]]], [0, 1], "whole numbers >= 0"),
        ([[["1"], ["1"]]], [0, 1], "whole numbers >= 0"),
        ([[[1], [1]]], [1, 0], r"levels must be finite, >= 0 and ascending\. Got \[1\. 0\.\]"),
        ([[[1], [1]]], [0, 0], "ascending"),
        ([[[1], [1]]], [-1, 0], ">= 0"),
        ([[[1], [1]]], [0, np.inf], "finite"),
    ],
)
def test_counts_and_levels_are_checked(counts, levels, message):
    with pytest.raises(ValueError, match=message):
        RetrievalHistogram(counts, levels)


@pytest.mark.parametrize("name", ["dcg", "ndcg"])
def test_exponential_gain_of_huge_levels_is_refused(name):
    with pytest.raises(ValueError, match=r"gain='exponential' overflows .* Got a level of 2000\."):
        evaluate(name, [[[1], [1]]], [0, 2000])
    assert np.isfinite(evaluate(name, [[[1], [10**7]]], [0, 900])).all()
    assert_allclose(
        evaluate(name, [[[0], [1]]], [0, 2000], gain="linear"), {"dcg": 2000}.get(name, 1)
    )
