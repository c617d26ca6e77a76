"""Retrieval histograms against one-pair-after-the-other counts, and their invariants."""

import inspect
import weakref

import joblib
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone

from sklearn_hashrank import (
    EuclideanAffinity,
    HierarchicalAffinity,
    LabelAffinity,
    PrecomputedAffinity,
    RetrievalHistogram,
    SharedLabelAffinity,
    retrieval_histogram,
)
from sklearn_hashrank._features import block_rows
from sklearn_hashrank._utils import threads
from sklearn_hashrank.affinity import BaseAffinity
from sklearn_hashrank.affinity._auto import fit_affinity
from sklearn_hashrank.codes import unpack_codes
from sklearn_hashrank.metrics import _counting, tie_aware_average_precision_score
from tests.oracle.histograms import retrieval_counts

KINDS = [
    "labels",
    "strings",
    "label sets",
    "sparse label sets",
    "paths",
    "vectors",
    "sparse vectors",
    "matrix",
    "sparse matrix",
]


def draw_rows(kind, rng, n):
    """Rows of y of one kind, and the affinity that goes with them."""
    if kind == "labels":
        return rng.integers(-2, 2, n), "auto"
    if kind == "strings":
        return rng.choice(["cat", "dog", "a bird"], n), "auto"
    if kind == "label sets":
        return rng.integers(0, 2, (n, 4)), SharedLabelAffinity()
    if kind == "sparse label sets":
        return sparse.csr_matrix(rng.integers(0, 2, (n, 70))), "auto"
    if kind == "paths":
        return rng.integers(0, 2, (n, 3)), HierarchicalAffinity()
    if kind == "vectors":
        return rng.integers(0, 3, (n, 2)) / 4, EuclideanAffinity((40, 10), (1, 3))
    if kind == "sparse vectors":
        return sparse.csc_array(rng.integers(0, 2, (n, 3)) / 4), EuclideanAffinity((40, 10), (1, 3))
    S = np.arange(25).reshape(5, 5) % 4
    form = sparse.csr_matrix if kind == "sparse matrix" else np.asarray
    return rng.integers(0, 5, n), PrecomputedAffinity(form(S))


def codes_with_repeats(rng, n, n_bits):
    distinct = rng.integers(0, 2, (max(1, n // 3), n_bits), dtype=np.uint8)
    return distinct[rng.integers(0, len(distinct), n)]


@st.composite
def retrievals(draw):
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n_bits = draw(st.sampled_from([1, 3, 8, 31, 64, 65, 130]))
    n_queries, n_database = draw(st.integers(1, 6)), draw(st.integers(2, 14))
    kind = draw(st.sampled_from(KINDS))
    (query_y, affinity), (database_y, _) = (
        draw_rows(kind, rng, n_queries),
        draw_rows(kind, rng, n_database),
    )
    return (
        codes_with_repeats(rng, n_queries, n_bits),
        codes_with_repeats(rng, n_database, n_bits),
        query_y,
        database_y,
        fit_affinity(affinity, database_y),
    )


def literal(query_codes, database_codes, query_y, database_y, affinity, levels, exclude_self=False):
    relevance = affinity.pairwise(query_y, database_y)
    return retrieval_counts(query_codes, database_codes, relevance, levels, exclude_self)


@given(retrievals())
def test_counts_equal_literal_ones(retrieval):
    queries, database, query_y, database_y, affinity = retrieval
    h = retrieval_histogram(queries, database, query_y, database_y, affinity=affinity)
    np.testing.assert_array_equal(h.counts, literal(*retrieval, h.levels))
    assert h.n_bits == queries.shape[1]
    assert h.counts.sum() == len(queries) * len(database)


@given(retrievals())
def test_a_row_does_not_retrieve_itself(retrieval):
    _, codes, _, y, affinity = retrieval
    h = retrieval_histogram(codes, codes, y, y, affinity=affinity, exclude_self=True)
    np.testing.assert_array_equal(
        h.counts, literal(codes, codes, y, y, affinity, h.levels, exclude_self=True)
    )
    pairs = ((codes[i : i + 1], y[i : i + 1]) for i in range(len(codes)))
    streamed = retrieval_histogram(codes, pairs, y, affinity=affinity, exclude_self=True)
    np.testing.assert_array_equal(streamed.counts, h.counts)


@given(retrievals(), st.integers(0, 2**32 - 1))
def test_invariants(retrieval, seed):
    """Row order, flipped bits, formats, shards and blocks change nothing but the order of rows."""
    queries, database, query_y, database_y, affinity = retrieval
    options = {"affinity": affinity, "n_bits": queries.shape[1]}
    h = retrieval_histogram(queries, database, query_y, database_y, **options)
    rng = np.random.default_rng(seed)

    p, q = rng.permutation(len(queries)), rng.permutation(len(database))
    permuted = retrieval_histogram(queries[p], database[q], query_y[p], database_y[q], **options)
    np.testing.assert_array_equal(permuted.counts, h.counts[p])

    bit = rng.integers(queries.shape[1])
    flip = np.arange(queries.shape[1]) == bit
    flipped = retrieval_histogram(queries ^ flip, database ^ flip, query_y, database_y, **options)
    np.testing.assert_array_equal(flipped.counts, h.counts)

    packed = np.packbits(database, axis=1)
    for form in (packed, unpack_codes(packed, queries.shape[1], "signs"), database.astype(float)):
        same = retrieval_histogram(
            np.packbits(queries, axis=1), form, query_y, database_y, **options
        )
        np.testing.assert_array_equal(same.counts, h.counts)

    cut = rng.integers(1, len(database))
    shards = [
        retrieval_histogram(queries, database[part], query_y, database_y[part], **options)
        for part in (slice(cut), slice(cut, None))
    ]
    np.testing.assert_array_equal(sum(shards).counts, h.counts)
    blocks = (
        (database[i : i + cut], database_y[i : i + cut]) for i in range(0, len(database), cut)
    )
    np.testing.assert_array_equal(
        retrieval_histogram(queries, blocks, query_y, **options).counts, h.counts
    )


def test_numpy_counts_agree_where_equal_items_are_counted_once_and_where_not():
    """Sizes at which the choice is really made, with several blocks, threads and word counts."""
    rng = np.random.default_rng(0)
    for n_bits, n_distinct in [(12, 100), (64, None), (70, 300)]:
        database = rng.integers(0, 2, (n_distinct or 90_000, n_bits), dtype=np.uint8)
        if n_distinct:
            database = database[rng.integers(0, n_distinct, 90_000)]
        y, queries = rng.integers(0, 5, 90_000), database[:60]
        expected = np.zeros((60, 2, n_bits + 1), dtype=int)
        for i, query in enumerate(queries):
            distance = (query != database).sum(axis=1)
            for level in (0, 1):
                at_level = distance[(y == y[i]) == level]
                expected[i, level] = np.bincount(at_level, minlength=n_bits + 1)
        for n_jobs in (1, 2):
            h = retrieval_histogram(queries, database, y[:60], y, n_jobs=n_jobs)
            np.testing.assert_array_equal(h.counts, expected)


def test_equal_items_are_counted_once_when_that_pays(monkeypatch):
    from sklearn_hashrank._kernels import hamming

    sizes = []
    original = hamming.count_runs
    monkeypatch.setattr(
        hamming,
        "count_runs",
        lambda queries, words, *rest: (
            sizes.append((len(queries), words.shape[1] - hamming.BLOCK)),
            original(queries, words, *rest),
        ),
    )
    rng = np.random.default_rng(0)
    database = rng.integers(0, 256, (90_000, 8), dtype=np.uint8)
    queries, y = database[:200], np.arange(90_000) % 3
    retrieval_histogram(queries, database, y[:200], y, n_bits=64)
    assert sizes == [(200, 90_000)]
    sizes.clear()
    repeated = database[np.arange(90_000) % 40]
    retrieval_histogram(repeated[:200], repeated, y[:200], y, n_bits=64)
    assert sizes == [(120, 120)]  # 40 codes x 3 classes, on both sides


def test_many_levels_and_long_codes():
    """More bins than fit into the lanes of the kernel."""
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 2, (40, 1024), dtype=np.uint8)
    Y = rng.integers(0, 2, (40, 6))
    affinity = SharedLabelAffinity().fit(Y)
    h = retrieval_histogram(codes, codes, Y, Y, affinity=affinity)
    np.testing.assert_array_equal(h.counts, literal(codes, codes, Y, Y, affinity, h.levels))


@pytest.mark.parametrize("kind", KINDS)
def test_threads_and_small_blocks_change_nothing(kind, monkeypatch):
    rng = np.random.default_rng(0)
    codes = codes_with_repeats(rng, 300, 16)
    y, affinity = draw_rows(kind, rng, 300)
    affinity = fit_affinity(affinity, y)
    whole = retrieval_histogram(codes, codes, y, y, affinity=affinity)
    monkeypatch.setattr(threads, "_WORTH_A_TASK", 1)
    monkeypatch.setattr(_counting, "_LEVELS_AT_A_TIME", 500)
    monkeypatch.setattr(type(affinity), "block_rows", 37)
    for n_jobs in (1, 2, -1):
        parts = retrieval_histogram(codes, codes, y, y, affinity=affinity, n_jobs=n_jobs)
        np.testing.assert_array_equal(parts.counts, whole.counts)
    with joblib.parallel_config(backend="loky", n_jobs=2):
        parts = retrieval_histogram(codes, codes, y, y, affinity=affinity)
    np.testing.assert_array_equal(parts.counts, whole.counts)


def test_read_only_memmap_equals_array(tmp_path):
    rng = np.random.default_rng(0)
    for n_bits, offset in [(64, 0), (64, 3), (40, 1)]:
        codes = rng.integers(0, 256, (50, n_bits // 8), dtype=np.uint8)
        y = rng.integers(0, 3, 50)
        (tmp_path / "codes").write_bytes(b"x" * offset + codes.tobytes())
        mapped = np.memmap(tmp_path / "codes", np.uint8, "r", offset, codes.shape)
        expected = retrieval_histogram(codes, codes, y, y, n_bits=n_bits)
        found = retrieval_histogram(mapped, mapped, y, y, n_bits=n_bits)
        np.testing.assert_array_equal(found.counts, expected.counts)


def test_only_one_block_of_an_iterator_is_alive():
    blocks_made = []

    def blocks():
        for seed in range(5):
            block = np.random.default_rng(seed).integers(0, 2, (10, 8), dtype=np.uint8)
            blocks_made.append(weakref.ref(block))
            yield block, np.zeros(10, dtype=int)
            del block
            assert all(made() is None for made in blocks_made)

    h = retrieval_histogram(np.zeros((1, 8)), blocks(), [0])
    assert h.counts.sum() == 50
    assert len(blocks_made) == 5


def test_small_blocks_are_counted_together(monkeypatch):
    """But neither the first, which sets the affinity, nor those that differ in form."""
    monkeypatch.setattr(block_rows, "_MOST_GATHERED_ROWS", 35)
    codes, labels = np.zeros((10, 8), dtype=np.uint8), np.zeros(10, dtype=int)
    blocks = [(codes, labels)] * 6 + [(np.tile(codes, (3, 1)), np.tile(labels, 3))]
    blocks += [(codes, labels), (codes.astype(float), labels), (codes, sparse.csr_array(codes))]
    gathered = list(block_rows.gather(iter(blocks)))
    assert [len(block[0]) for block in gathered] == [10, 30, 20, 30, 10, 10, 10]
    assert sum(y.shape[0] for _, y in gathered) == 120


def test_blocks_stay_in_order(monkeypatch):
    monkeypatch.setattr(block_rows, "_MOST_GATHERED_ROWS", 40)
    rng = np.random.default_rng(0)
    codes, y = rng.integers(0, 2, (200, 16)), rng.integers(0, 3, 200)
    stops = np.cumsum([3, 5, 30, 1, 19, 21, 2, 38, 45, 5, 31])
    blocks = ((codes[i:j], y[i:j]) for i, j in zip([0, *stops], stops))
    found = retrieval_histogram(codes, blocks, y, exclude_self=True)
    expected = retrieval_histogram(codes, codes, y, y, exclude_self=True)
    np.testing.assert_array_equal(found.counts, expected.counts)


def test_the_first_block_decides_what_y_means():
    codes = np.zeros((2, 4))
    paths, query_y = np.array([[0, 0], [0, 2]]), [[0, 1]]
    from_array = retrieval_histogram(codes[:1], codes, query_y, paths)
    from_blocks = retrieval_histogram(codes[:1], iter([(codes, paths)]), query_y)
    np.testing.assert_array_equal(from_array.counts, from_blocks.counts)
    np.testing.assert_array_equal(from_blocks.levels, [0, 1, 2])


def test_an_affinity_that_breaks_its_word_is_refused():
    class Wrong(LabelAffinity):
        def runs(self, queries, groups):
            stops, levels = super().runs(queries, groups)
            return stops, levels + np.uint16(1)

    with pytest.raises(ValueError, match="Wrong gave level index 2, but has 2 levels"):
        retrieval_histogram(BITS, BITS, Y, Y, affinity=Wrong())

    class TooShort(LabelAffinity):
        def runs(self, queries, groups):
            stops, levels = super().runs(queries, groups)
            return stops[:, :-1], levels[:, :-1]

    with pytest.raises(ValueError, match="runs of TooShort must end with the last group"):
        retrieval_histogram(BITS, BITS, Y, Y, affinity=TooShort())


def test_methods_tell_their_options():
    parameters = inspect.signature(RetrievalHistogram.ndcg).parameters
    assert list(parameters) == ["self", "k", "gain", "discount", "ties", "zero_division"]
    assert parameters["gain"].default == "exponential"
    assert 'discount : {"log2p1", "log2"}, default="log2p1"' in RetrievalHistogram.ndcg.__doc__


def test_merging_takes_the_union_of_levels():
    first = RetrievalHistogram(np.ones((2, 2, 3), dtype=int), [0, 1])
    second = RetrievalHistogram(2 * np.ones((2, 2, 3), dtype=int), [0, 5])
    merged = first + second
    np.testing.assert_array_equal(merged.levels, [0, 1, 5])
    np.testing.assert_array_equal(merged.counts[0, :, 0], [3, 1, 2])
    assert repr(merged) == "RetrievalHistogram(n_queries=2, levels=[0.0, 1.0, 5.0], n_bits=2)"


JUDGES = {
    "labels": LabelAffinity(),
    "paths": HierarchicalAffinity(),
    "label sets": SharedLabelAffinity(),
    "distances": EuclideanAffinity((50, 20), (1, 2)),
    "distances, other levels": EuclideanAffinity((50, 20), (1, 3)),
    "distances, other thresholds": EuclideanAffinity((90, 20), (1, 2)),
}


@pytest.mark.parametrize("first", JUDGES)
@pytest.mark.parametrize("second", JUDGES)
def test_histograms_of_other_rules_do_not_merge(first, second):
    y = np.random.default_rng(0).integers(0, 2, (20, 3))
    codes = np.eye(20, dtype=np.uint8)

    def count(affinity, part):
        rows = y[:, 0] if isinstance(affinity, LabelAffinity) else y
        fitted = clone(affinity).fit(rows)
        return retrieval_histogram(codes[:4], codes[part], rows[:4], rows[part], affinity=fitted)

    one, other = count(JUDGES[first], slice(10)), count(JUDGES[second], slice(10, 20))
    if first == second:
        np.testing.assert_array_equal((one + other).counts, count(JUDGES[first], slice(20)).counts)
        return
    names = ".*".join(type(JUDGES[name]).__name__ for name in (first, second))
    with pytest.raises(ValueError, match=names):
        one + other


def test_thresholds_of_shards_of_their_own_do_not_merge():
    y = np.random.default_rng(0).normal(size=(40, 3))
    codes = np.eye(40, dtype=np.uint8)
    shards = [
        retrieval_histogram(codes[:4], codes[part], y[:4], y[part])
        for part in (slice(20), slice(20, 40))
    ]
    with pytest.raises(ValueError, match="EuclideanAffinity.*EuclideanAffinity"):
        sum(shards)


def test_an_affinity_of_ones_own_is_named_by_its_plain_parameters():
    class Near(BaseAffinity):
        def __init__(self, width=1.0):
            self.width = width

        def fit(self, y):
            self.levels_ = np.array([0.0, 1.0])
            return self

        def validate(self, y, name="y"):
            return np.asarray(y, dtype=float)

        def level_indices(self, queries, database):
            return (abs(queries[:, None] - database) < self.width).astype(np.uint16)

    y, codes = np.arange(6), np.eye(6, dtype=np.uint8)

    def count(width):
        return retrieval_histogram(codes, codes, y, y, affinity=Near(width))

    assert (count(2) + count(2)).counts.sum() == 72
    with pytest.raises(ValueError, match="Near.*Near"):
        count(2) + count(3)


def test_histograms_of_other_queries_or_codes_do_not_merge():
    h = RetrievalHistogram(np.ones((2, 1, 3), dtype=int), [0])
    with pytest.raises(ValueError, match="Got 2 queries of 2 bits and 1 queries of 2 bits"):
        h + RetrievalHistogram(h.counts[:1], [0])
    with pytest.raises(ValueError, match="2 queries of 2 bits and 2 queries of 1 bits"):
        h + RetrievalHistogram(h.counts[..., :2], [0])
    with pytest.raises(TypeError):
        h + 1


@pytest.mark.parametrize(
    ("counts", "levels", "message"),
    [
        (np.ones((2, 2)), [0, 1], r"must have shape \(n_queries, n_levels, n_ties\)"),
        (np.ones((2, 2, 3), int), [0], r"Got shapes \(2, 2, 3\) and \(1,\)"),
        (np.ones((2, 1, 3)) / 2, [0], "counts must be whole numbers >= 0"),
        (-np.ones((2, 1, 3), int), [0], "counts must be whole numbers >= 0"),
        (np.ones((2, 2, 3), int), [0, np.nan], "levels must be finite"),
        (np.ones((2, 1, 0), int), [0], "must have shape"),
        (np.ones((2, 2, 3), int), [1, 0], "levels must be finite, >= 0 and ascending"),
        (np.ones((2, 2, 3), int), [-1, 0], "levels must be finite, >= 0 and ascending"),
    ],
)
def test_bad_histograms_are_refused(counts, levels, message):
    with pytest.raises(ValueError, match=message):
        RetrievalHistogram(counts, levels)


BITS = np.eye(4, dtype=np.uint8)
Y = np.array([0, 0, 1, 1])


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        (
            (BITS, BITS, Y[:3], Y),
            {},
            r"query y must have one row per query code, 4. Got shape \(3,",
        ),
        ((BITS, BITS, Y, Y[:3]), {}, r"database y must have one row per database code, 4."),
        ((BITS, BITS, Y), {}, "database_y must have one row per database item. Got None"),
        ((BITS, BITS, None, Y), {}, "query y must have one row per query code. Got None"),
        ((BITS[:0], BITS, Y[:0], Y), {}, "query codes are empty"),
        ((BITS, BITS[:0], Y, Y[:0]), {}, "database codes are empty"),
        ((BITS, iter([]), Y), {}, "the iterator gave no block; at least one"),
        ((BITS, iter([(BITS, Y)]), Y, Y), {}, "database_y must be None"),
        ((BITS, iter([(BITS, Y[:2])]), Y), {}, "database y must have one row"),
        ((BITS, iter([(BITS, Y), (BITS[:, :3], Y)]), Y), {}, "database codes have 3 columns"),
        ((BITS, iter([(BITS, Y), (3 * BITS, Y)]), Y), {}, "only 0 and 1, .* Got 0, 3"),
        ((BITS, iter([BITS]), Y), {}, r"a block must be a pair \(codes, y\). Got ndarray"),
        ((BITS, BITS, Y, Y), {"n_jobs": "2"}, "n_jobs must be an int other than 0, or None"),
        ((BITS, BITS, Y, np.ma.array(Y, mask=Y)), {}, "database y is masked|y is masked"),
        ((np.ma.array(BITS, mask=BITS), BITS, Y, Y), {}, "query codes are masked in places"),
        ((BITS, BITS[:, :3], Y, Y), {}, "3 columns; codes of n_bits=4"),
        ((BITS, BITS, Y, Y), {"n_bits": 0}, "n_bits must be an int >= 1 or None. Got 0"),
        ((BITS, BITS, Y, [0, 0, 1, np.nan]), {}, "y contains NaN"),
        ((BITS, BITS, Y, Y), {"affinity": "labels"}, "affinity must be 'auto' or an affinity"),
        (
            (BITS, iter([(BITS, Y)]), Y * 1.0),
            {"affinity": EuclideanAffinity()},
            "Pass one that was",
        ),
        ((BITS, BITS[::-1], Y, Y), {"exclude_self": True}, "Got different codes in row 0"),
        ((BITS, BITS[:3], Y, Y[:3]), {"exclude_self": True}, "4 queries, 3 database rows"),
        ((BITS[:3], BITS, Y[:3], Y), {"exclude_self": True}, "3 queries and more database rows"),
    ],
)
def test_bad_input_is_refused(arguments, options, message):
    with pytest.raises(ValueError, match=message):
        retrieval_histogram(*arguments, **options)


@settings(max_examples=20)
@given(st.integers(1, 40), st.integers(1, 40), st.integers(0, 2**32 - 1))
def test_equal_rows_are_found(n, n_words, seed):
    from sklearn_hashrank._kernels.hamming import find_equal_rows

    rng = np.random.default_rng(seed)
    rows = rng.integers(0, 2, (n, n_words)).astype(np.uint64) << np.uint64(63)
    groups = rng.integers(0, 2, n).astype(np.int32)
    firsts, repeats, index = find_equal_rows(rows, groups, n)
    keyed = np.column_stack([rows, groups.astype(np.uint64)])
    np.testing.assert_array_equal(keyed[firsts][index], keyed)
    assert len(np.unique(keyed, axis=0)) == len(firsts)
    np.testing.assert_array_equal(repeats, np.bincount(index))
    if len(firsts) > 1:
        assert len(find_equal_rows(rows, groups, len(firsts) - 1)[0]) == 0


def test_labels_are_not_codes():
    codes, y = np.eye(4, dtype=np.uint8), np.array([0, 1, 0, 1])
    for count in (
        lambda: retrieval_histogram(y, y, codes, codes),
        lambda: retrieval_histogram(codes, y, codes, y),
        lambda: retrieval_histogram(codes, iter([(y, codes)]), y),
        lambda: tie_aware_average_precision_score(codes, y),
        lambda: tie_aware_average_precision_score(y, codes, database=(codes, y)),
    ):
        with pytest.raises(ValueError, match=r"codes must be a 2-d array.* Got shape \(4,\)"):
            count()
