"""Lookups within a radius, code usage and curves, from codes."""

import itertools
import math
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sklearn_hashrank.codes._counts as code_counts_module
from sklearn_hashrank import RetrievalHistogram, retrieval_histogram
from sklearn_hashrank._utils import threads
from sklearn_hashrank.affinity._labels import HierarchicalAffinity
from sklearn_hashrank.codes._counts import CodeCounter
from sklearn_hashrank.metrics import (
    average_cumulative_gain_score,
    code_usage,
    local_group_average_precision_score,
    lookup_precision_score,
    lookup_recall_score,
    precision_recall_curve,
    tie_aware_average_precision_score,
)
from sklearn_hashrank.metrics._measure import MEASURES
from tests.oracle.lookups import LOOKUPS, code_statistics

RADII = [0, 1, 2, 5, 200]


def flipped(rng, center, n, n_flips):
    """Codes around one, repeated, so that balls are neither empty nor full."""
    codes = np.tile(center, (n, 1))
    for code in codes:
        n_bits = len(code)
        code[rng.integers(0, n_bits, rng.integers(0, n_flips + 1))] ^= 1
    return codes[rng.integers(0, n, n)]


@st.composite
def retrievals(draw):
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n_bits = draw(st.sampled_from([1, 2, 5, 8, 64, 65, 130]))
    n_queries, n_database = draw(st.integers(1, 5)), draw(st.integers(1, 25))
    codes = flipped(rng, rng.integers(0, 2, n_bits), n_queries + n_database, min(n_bits, 5))
    y = rng.integers(0, 3, (n_queries + n_database, 2))
    return codes[:n_queries], codes[n_queries:], y[:n_queries], y[n_queries:]


def literal_values(name, queries, database, query_y, database_y, radius, exclude_self=False):
    levels = HierarchicalAffinity().fit(database_y).pairwise(query_y, database_y)
    values = []
    for i, query in enumerate(queries):
        others = [j for j in range(len(database)) if not (exclude_self and i == j)]
        of_query = [float(levels[i, j]) for j in others]
        if not any(of_query):
            values.append(np.nan)
            continue
        codes = [tuple(database[j].tolist()) for j in others]
        values.append(LOOKUPS[name](tuple(query.tolist()), codes, of_query, radius))
    return values


@pytest.mark.parametrize("name", LOOKUPS)
@settings(max_examples=30)
@given(retrieval=retrievals(), radius=st.sampled_from(RADII))
def test_lookup_measures_equal_their_definitions(name, retrieval, radius):
    queries, database, query_y, database_y = retrieval
    options = {"affinity": HierarchicalAffinity(), "keep_codes": True}
    h = retrieval_histogram(queries, database, query_y, database_y, **options)
    expected = literal_values(name, *retrieval, radius)
    np.testing.assert_allclose(h.measure(name, radius=radius), expected, rtol=1e-12)
    expected = literal_values(name, database, database, database_y, database_y, radius, True)
    h = retrieval_histogram(
        database, database, database_y, database_y, exclude_self=True, **options
    )
    np.testing.assert_allclose(h.measure(name, radius=radius), expected, rtol=1e-12)


@settings(max_examples=60)
@given(retrievals(), st.integers(0, 2**32 - 1))
def test_every_measure_of_shards_and_blocks_is_that_of_the_whole(retrieval, seed):
    """The fullest code of a union is neither the sum nor the maximum over the shards."""
    queries, database, query_y, database_y = retrieval
    affinity = HierarchicalAffinity().fit(database_y)
    options = {"affinity": affinity, "n_bits": queries.shape[1], "keep_codes": True}
    whole = retrieval_histogram(queries, database, query_y, database_y, **options)
    step = int(np.random.default_rng(seed).integers(1, len(database) + 1))
    parts = [slice(i, i + step) for i in range(0, len(database), step)]
    shards = sum(
        retrieval_histogram(queries, database[part], query_y, database_y[part], **options)
        for part in parts
    )
    blocks = ((database[part], database_y[part]) for part in parts)
    streamed = retrieval_histogram(queries, blocks, query_y, **options)
    for h in (shards, streamed, pickle.loads(pickle.dumps(shards))):
        for name in MEASURES:
            np.testing.assert_array_equal(h.measure(name), whole.measure(name))
        usage, expected = h.code_usage(), whole.code_usage()
        np.testing.assert_array_equal(usage.codes, expected.codes)
        np.testing.assert_array_equal(usage.counts, expected.counts)


def test_a_shard_without_the_queries_joins_one_with_them():
    rng = np.random.default_rng(0)
    codes, y = flipped(rng, np.zeros(8, dtype=int), 60, 3), rng.integers(0, 2, 60)
    own = retrieval_histogram(
        codes[:20], codes[:20], y[:20], y[:20], exclude_self=True, keep_codes=True
    )
    rest = retrieval_histogram(codes[:20], codes[20:], y[:20], y[20:], keep_codes=True)
    whole = retrieval_histogram(codes, codes, y, y, exclude_self=True, keep_codes=True)
    for h in (own + rest, rest + own):
        np.testing.assert_array_equal(
            h.local_group_average_precision(), whole.local_group_average_precision()[:20]
        )


def test_the_papers_example():
    """Figure 6 and equations 12 to 15: 4 bits, two items on each of five codes."""
    codes = np.repeat([[0, 0, 0, 0], [0, 0, 0, 1], [0, 0, 1, 0], [0, 0, 1, 1], [1, 1, 0, 0]], 2, 0)
    y = [1, 1, 1, 1, 0, 0, 1, 0, 0, 0]
    h = retrieval_histogram([[0] * 4], codes, [1], y, keep_codes=True)
    value = (1 + 4 / 6 * 6 / (2 * 5) + 5 / 10 * 10 / (2 * 11)) / 3
    np.testing.assert_allclose(h.local_group_average_precision(), value, rtol=1e-15)
    assert round(value, 4) == 0.5424


@pytest.mark.parametrize("n_bits", [1, 12, 64, 1024])
@pytest.mark.parametrize("n_items", [1, 50])
def test_one_code_for_all_items(n_bits, n_items):
    codes, y = np.ones((n_items + 1, n_bits), dtype=int), np.zeros(n_items + 1)
    y[1::2] = 1
    arguments = (y[1:2], codes[:1]), {"database": (y[1:], codes[1:])}
    share = np.mean(y[1:] == 1)
    assert lookup_precision_score(*arguments[0], **arguments[1]) == share
    assert lookup_recall_score(*arguments[0], **arguments[1]) == 1
    assert average_cumulative_gain_score(*arguments[0], **arguments[1]) == share
    balls = [sum(math.comb(n_bits, i) for i in range(k + 1)) for k in range(3)]
    expected = sum(share / ball for ball in balls) / 3
    score = local_group_average_precision_score(*arguments[0], **arguments[1])
    assert score == pytest.approx(expected, rel=1e-14)
    usage = code_usage(codes)
    assert (usage.n_items, usage.n_distinct, usage.collision_rate) == (n_items + 1, 1, 1)
    assert usage.entropy == 0
    assert usage.occupancy == 2.0**-n_bits
    np.testing.assert_array_equal(usage.bit_correlation, np.eye(n_bits))


@pytest.mark.parametrize("n_bits", [1, 3, 64, 1023, 1024, 1100])
def test_radii_up_to_and_beyond_the_length_of_the_codes(n_bits):
    rng = np.random.default_rng(0)
    codes, y = rng.integers(0, 2, (30, n_bits)), np.arange(30) % 2
    h = retrieval_histogram(codes, codes, y, y, keep_codes=True)
    precision, recall = (
        h.measure(f"lookup_{which}", radius=n_bits) for which in ("precision", "recall")
    )
    np.testing.assert_array_equal(precision, 0.5)
    np.testing.assert_array_equal(recall, 1)
    np.testing.assert_array_equal(h.average_cumulative_gain(radius=n_bits), 0.5)
    at_end = h.local_group_average_precision(radius=n_bits)
    assert np.all((at_end > 0) & (at_end <= 1))
    for more in (1, 7, 10**15):
        for name in ("lookup_precision", "lookup_recall", "average_cumulative_gain"):
            whole, beyond = (h.measure(name, radius=r) for r in (n_bits, n_bits + more))
            np.testing.assert_array_equal(whole, beyond)
        beyond = h.local_group_average_precision(radius=n_bits + more)
        last = 15 / (int(h.kept_codes.counts.max()) * 2**n_bits)
        expected = (at_end * (n_bits + 1) + more * last) / (n_bits + more + 1)
        np.testing.assert_allclose(beyond, expected, rtol=1e-12)


@pytest.mark.parametrize("radius", [np.int8(127), np.uint8(255), np.int64(300)])
def test_a_radius_may_be_any_int(radius):
    rng = np.random.default_rng(0)
    codes, y = rng.integers(0, 2, (30, 300)), np.arange(30) % 2
    h = retrieval_histogram(codes, codes, y, y, keep_codes=True)
    for name in LOOKUPS:
        same = h.measure(name, radius=radius), h.measure(name, radius=int(radius))
        np.testing.assert_array_equal(*same)


@pytest.mark.parametrize("name", LOOKUPS)
def test_an_empty_ball_scores_zero_and_only_no_relevant_item_is_undefined(name):
    codes, y = np.array([[0, 0, 0, 0, 0], [1, 1, 1, 1, 1]]), [1, 1]
    h = retrieval_histogram(codes[:1], codes[1:], y[:1], y[1:], keep_codes=True)
    assert h.measure(name, radius=4, zero_division=1) == 0
    assert h.measure(name, radius=5, zero_division=1) > 0
    h = retrieval_histogram(codes[:1], codes[:1], [2], [1], keep_codes=True)
    assert np.isnan(h.measure(name))
    assert h.measure(name, zero_division=0.5) == 0.5


def test_a_query_alone_with_its_code_has_an_empty_ball():
    codes, y = np.array([[0, 0, 0], [1, 1, 1], [1, 1, 1]]), [0, 0, 0]
    values = local_group_average_precision_score(y, codes, radius=0, average=False)
    np.testing.assert_array_equal(values, [0, 1, 1])


def test_measures_of_codes_need_them_kept():
    h = retrieval_histogram([[0]], [[0]], [0], [0])
    kept = retrieval_histogram([[0]], [[0]], [0], [0], keep_codes=True)
    for without in (h, h + kept, kept + h, RetrievalHistogram([[[1, 1]]], [1])):
        assert without.kept_codes is None
        with pytest.raises(ValueError, match=r"local_group.* retrieval_histogram\(..., keep_codes"):
            without.local_group_average_precision()
        with pytest.raises(ValueError, match="code_usage needs to know how many items share a"):
            without.code_usage()
    with pytest.raises(ValueError, match="Got other query codes"):
        kept + retrieval_histogram([[1]], [[0]], [0], [0], keep_codes=True)
    with pytest.raises(ValueError, match="keep_codes must be True or False. Got 'yes' instead"):
        retrieval_histogram([[0]], [[0]], [0], [0], keep_codes="yes")
    with pytest.raises(ValueError, match="'radius' .* an int >= 0. Got 1.5"):
        kept.local_group_average_precision(radius=1.5)


def test_kept_codes_are_the_callers_no_more():
    codes = np.zeros((3, 8), dtype=np.uint8)
    h = retrieval_histogram(codes, codes, [0] * 3, [0] * 3, n_bits=64, keep_codes=True)
    before = h.local_group_average_precision()
    codes[:] = 255
    np.testing.assert_array_equal(h.local_group_average_precision(), before)
    assert h.code_usage().codes.max() == 0


def test_threads_and_small_blocks_change_nothing(monkeypatch):
    rng = np.random.default_rng(0)
    codes, y = flipped(rng, rng.integers(0, 2, 70), 500, 6), rng.integers(0, 3, 500)
    expected = local_group_average_precision_score(y, codes, average=False)
    monkeypatch.setattr(threads, "_WORTH_A_TASK", 1)
    monkeypatch.setattr(code_counts_module, "_ROWS_WORTH_A_MERGE", 10)
    for n_jobs in (1, 2):
        values = local_group_average_precision_score(y, codes, average=False, n_jobs=n_jobs)
        np.testing.assert_array_equal(values, expected)
    counter = CodeCounter()
    words = np.packbits(codes[:, :64], axis=1).view(np.uint64)
    for start in range(0, 500, 7):
        counter.add(words[start : start + 7])
    of_code = dict(zip(*(array.ravel().tolist() for array in counter.finish())))
    distinct, counts = np.unique(words, return_counts=True)
    assert of_code == dict(zip(distinct.tolist(), counts.tolist()))


# Code usage


@settings(max_examples=60)
@given(retrievals())
def test_code_usage_equals_its_definition(retrieval):
    codes = np.concatenate(retrieval[:2])
    usage = code_usage(codes)
    found = usage.n_distinct, usage.occupancy, usage.collision_rate, usage.entropy
    expected = code_statistics([tuple(code) for code in codes.tolist()])
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)
    distinct, counts = np.unique(codes, axis=0, return_counts=True)
    np.testing.assert_array_equal(usage.codes, np.packbits(distinct, axis=1))
    np.testing.assert_array_equal(usage.counts, counts)
    np.testing.assert_allclose(usage.bit_balance, codes.mean(axis=0))
    varying = np.ptp(codes, axis=0) > 0
    correlation = np.corrcoef(codes[:, varying].T.astype(float), dtype=np.float64)
    np.testing.assert_allclose(
        usage.bit_correlation[np.ix_(varying, varying)],
        np.atleast_2d(correlation)[: varying.sum()],
        atol=1e-9,
    )
    np.testing.assert_array_equal(usage.bit_correlation[~varying], np.eye(codes.shape[1])[~varying])


def test_code_usage_of_blocks_and_formats():
    rng = np.random.default_rng(0)
    codes = flipped(rng, rng.integers(0, 2, 12), 100, 3)
    packed = np.packbits(codes, axis=1)
    expected = code_usage(codes)
    for same in (2 * codes - 1, packed, (codes[i : i + 9] for i in range(0, 100, 9))):
        usage = code_usage(same, n_bits=12)
        np.testing.assert_array_equal(usage.codes, expected.codes)
        np.testing.assert_array_equal(usage.counts, expected.counts)
    assert repr(code_usage([[0], [1]])) == (
        "CodeUsage(n_items=2, n_bits=1, n_distinct=2, occupancy=1, collision_rate=0, entropy=1)"
    )
    with pytest.raises(ValueError, match="codes are empty"):
        code_usage(iter([]))
    with pytest.raises(ValueError, match="codes are empty"):
        code_usage(np.empty((0, 3)))


# Curves


@settings(max_examples=60)
@given(retrievals(), st.sampled_from(["expected", "optimistic", "pessimistic"]))
def test_curves_are_precision_and_recall_at_each_rank(retrieval, ties):
    queries, database, query_y, database_y = retrieval
    h = retrieval_histogram(queries, database, query_y, database_y, affinity=HierarchicalAffinity())
    precision, recall, k = h.precision_recall_curve(k=range(1, 30), ties=ties)
    for values, name in ((precision, "precision"), (recall, "recall")):
        expected = [h.measure(name, k=rank, ties=ties) for rank in k.tolist()]
        np.testing.assert_allclose(values.T, expected, rtol=1e-13, atol=1e-15)


def test_curves_are_averaged_over_the_queries_that_have_relevant_items():
    rng = np.random.default_rng(0)
    codes, y = rng.integers(0, 2, (300, 6)), rng.integers(0, 4, 300)
    y[0] = 9
    arguments = {"y_true": y, "codes": codes}
    with pytest.warns(UserWarning, match="1 of 300 queries have no relevant item") as caught:
        precision, recall, k = precision_recall_curve(**arguments)
    assert [warning.filename for warning in caught] == [__file__]
    each_precision, each_recall, _ = precision_recall_curve(**arguments, average=False)
    assert np.isnan(each_precision[0]).all()
    assert np.isnan(each_recall[0]).all()
    np.testing.assert_allclose(precision, each_precision[1:].mean(axis=0))
    np.testing.assert_allclose(recall, each_recall[1:].mean(axis=0))
    assert (k[0], k[-1]) == (1, 299)
    assert recall[-1] == 1
    assert np.all(np.diff(recall) >= 0)
    _, few, ranks = precision_recall_curve(**arguments, k=[3, 299], zero_division=0)
    np.testing.assert_array_equal(ranks, [3, 299])
    np.testing.assert_allclose(few[1], 299 / 300)


@pytest.mark.parametrize("k", [[], [0], [1.5], 3, [[1]], ["a"], [True]])
def test_ranks_of_a_curve_must_be_positive_ints(k):
    with pytest.raises(ValueError, match="'k' parameter of a curve must be None or a 1-d array"):
        precision_recall_curve([0, 0], [[0], [1]], k=k)


# Proposition 1 of the mLGAP paper


def is_perfect(distances, classes):
    """Whether every code finds all of its class before any other: AP of 1, whatever the ties."""
    for row, own in zip(distances, classes):
        same = classes == own
        if row[same].max() >= row[~same].min():
            return False
    return True


def finest_perfect_classes(distances):
    """The finest parts of codes that may be perfect classes of two codes or more; one if none are.

    A class holds the nearest other codes of each of its codes, and then whatever is as near as its
    own farthest. Any perfect classes are unions of these.
    """
    n = len(distances)
    alone = distances + n * np.eye(n, dtype=int)
    reach = alone.min(axis=1)
    while True:
        joined = distances <= reach[:, None]
        joined |= joined.T
        for _ in range(n.bit_length()):
            joined = joined @ joined
        farther = np.where(joined, distances, 0).max(axis=1)
        if joined.all() or np.array_equal(farther, reach):
            return np.unique(joined.argmax(axis=1), return_inverse=True)[1]
        reach = farther


def partitions(n):
    """Every way to leave codes unused (0) or give them classes 1, 2, ..."""
    if n == 0:
        yield ()
        return
    for head in partitions(n - 1):
        for own in range(max(head, default=0) + 2):
            yield (*head, own)


def all_codes(n_bits):
    codes = np.array(list(itertools.product([0, 1], repeat=n_bits)))
    return codes, (codes[:, None] != codes).sum(axis=2)


def test_perfect_classes_of_several_codes_use_half_of_the_codes_at_most():
    """By enumeration of all uses of 2 and 3 bits, and of all uses above half of 4 bits."""
    _, distances = all_codes(3)
    best = 0
    for classes in map(np.array, partitions(8)):
        used = np.flatnonzero(classes)
        sizes = np.bincount(classes[used])[1:]
        if (
            len(sizes) >= 2
            and sizes.min() >= 2
            and is_perfect(distances[used][:, used], classes[used])
        ):
            best = max(best, len(used))
    assert best == 4  # of 8
    for n_bits, largest in ((2, 0), (3, 4), (4, 8)):
        n_codes = 2**n_bits
        _, distances = all_codes(n_bits)
        sizes = [
            n_used
            for n_used in range(max(largest, 2), n_codes + 1)
            for used in itertools.combinations(range(1, n_codes), n_used - 1)
            if finest_perfect_classes(distances[np.ix_((0, *used), (0, *used))]).any()
        ]
        assert max(sizes, default=0) == largest <= n_codes / 2


def test_classes_of_two_codes_use_half_of_the_codes_at_every_length():
    """Words of even parity, each with a last bit of 0 and of 1."""
    for n_bits in range(3, 9):
        words, _ = all_codes(n_bits - 1)
        even = words[words.sum(axis=1) % 2 == 0]
        codes = np.column_stack([np.repeat(even, 2, axis=0), np.tile([0, 1], len(even))])
        y = np.repeat(np.arange(len(even)), 2)
        assert is_perfect((codes[:, None] != codes).sum(axis=2), y)
        assert code_usage(codes).occupancy == 0.5
        assert tie_aware_average_precision_score(y, codes) == 1


def test_fewer_or_wider_perfect_classes_use_fewer_codes():
    """By enumeration of all uses of 4 bits, of which no more than 8 codes can be in use.

    Bits may change places, so that the code nearest to the first one may be taken to be 1, 3 or 7.
    """
    _, distances = all_codes(4)
    most = {}
    for nearest in (1, 3, 7):
        farther = np.flatnonzero(distances[0] >= distances[0, nearest])
        rest = itertools.chain.from_iterable(
            itertools.combinations(farther[farther != nearest], n_more) for n_more in range(2, 7)
        )
        for others in rest:
            used = 0, nearest, *others
            among = distances[np.ix_(used, used)]
            finest = finest_perfect_classes(among)
            if not finest.any():
                continue
            for union in map(np.array, partitions(finest.max() + 1)):
                classes = union[finest]
                n_classes = classes.max()
                if 0 in classes or n_classes < 2 or not is_perfect(among, classes):
                    continue
                diameters = [
                    among[np.ix_(classes == own, classes == own)].max()
                    for own in range(1, n_classes + 1)
                ]
                at = n_classes, min(diameters)
                most[at] = max(most.get(at, 0), len(used))
    assert most == {(4, 1): 8, (3, 1): 6, (2, 1): 4, (2, 2): 4}


def test_of_two_perfect_classes_none_fills_more_than_half_of_a_half():
    """The step of the proof: the halves of 4 bits by one of them, each class of them closed."""
    codes, distances = all_codes(4)
    for half in (codes[:, i] == value for i in range(4) for value in (0, 1)):
        inside = np.flatnonzero(half)
        for one_class in itertools.combinations(inside, 5):
            farthest = distances[np.ix_(one_class, one_class)].max(axis=1)
            assert np.sum(farthest == 3) >= 2
            assert not np.any((distances[list(one_class)] > farthest[:, None]).all(axis=0))


def test_perfect_classes_of_one_code_each_may_use_every_code():
    """The proposition's assumption is needed; and mLGAP tells the two apart."""
    codes, _ = all_codes(3)
    codes, y = np.repeat(codes, 4, axis=0), np.repeat(np.arange(8), 4)
    assert tie_aware_average_precision_score(y, codes) == 1
    assert code_usage(codes).occupancy == 1
    two_codes = np.isin(np.arange(8), [0, 1, 6, 7])[y]
    y_of_two = y[two_codes] // 4
    assert tie_aware_average_precision_score(y_of_two, codes[two_codes]) == 1
    assert code_usage(codes[two_codes]).occupancy == 0.5
    one_code = np.repeat([[0, 0, 0], [1, 1, 1]], 8, axis=0)
    assert tie_aware_average_precision_score(y_of_two, one_code) == 1
    dispersed, collapsed = (
        local_group_average_precision_score(y_of_two, these, radius=1)
        for these in (codes[two_codes], one_code)
    )
    assert dispersed > collapsed
