"""Affinities: levels by their definition, forms of y, errors."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from sklearn_hashrank import LWHHasher, RSHHasher, TALRLinear, retrieval_histogram
from sklearn_hashrank.affinity import BaseAffinity
from sklearn_hashrank.affinity._auto import auto_affinity, fit_affinity
from sklearn_hashrank.affinity._euclidean import EuclideanAffinity
from sklearn_hashrank.affinity._labels import (
    HierarchicalAffinity,
    LabelAffinity,
    SharedLabelAffinity,
)
from sklearn_hashrank.affinity._neighbors import NeighborAffinity
from sklearn_hashrank.affinity._precomputed import PrecomputedAffinity
from tests.oracle import histograms as oracle


def expand_runs(affinity, queries, database):
    """Level indices of every pair, from `group` and `runs`."""
    groups, index = affinity.group(database)
    if index is None:
        index = np.arange(database.shape[0])
    stops, levels = affinity.runs(queries, groups)
    shape = (queries.shape[0], max(stops.shape[1], levels.shape[1]))
    stops, levels = np.broadcast_to(stops, shape), np.broadcast_to(levels, shape)
    starts = np.concatenate([np.zeros((len(stops), 1), int), stops[:, :-1]], axis=1)
    assert (stops >= starts).all()
    assert (stops[:, -1] == groups.shape[0]).all()
    of_group = np.stack(
        [np.repeat(level, np.diff(np.append(0, s))) for s, level in zip(stops, levels)]
    )
    return of_group[:, index]


def check_all_ways(affinity, query_y, database_y, expected):
    np.testing.assert_array_equal(affinity.pairwise(query_y, database_y), expected)
    queries, database = affinity.validate(query_y), affinity.validate(database_y)
    indices = np.searchsorted(affinity.levels_, expected)
    np.testing.assert_array_equal(expand_runs(affinity, queries, database), indices)
    n = min(queries.shape[0], database.shape[0])
    np.testing.assert_array_equal(
        affinity.paired_level_indices(queries[:n], database[:n]), np.diag(indices)[:n]
    )
    assert indices.max() < affinity.n_reachable_levels(queries) <= len(affinity.levels_)
    assert affinity.runs(queries, database)[1].shape[1] <= affinity.n_runs(database.shape[0])


@given(
    hnp.arrays(np.int64, st.integers(1, 8), elements=st.integers(-3, 3)),
    hnp.arrays(np.int64, st.integers(1, 12), elements=st.integers(-3, 3)),
)
def test_label_affinity(query_y, database_y):
    expected = oracle.same_label(query_y, database_y)
    for form in (
        np.asarray,
        lambda y: y[:, None],
        lambda y: y.astype(str),
        lambda y: y.astype(float),
        lambda y: (y + 3).astype(np.uint8),
        lambda y: y.astype(np.int64) * 10**15,
        lambda y: y.astype(str).astype(object),
        lambda y: pd.Series(y).astype("category"),
        list,
    ):
        affinity = LabelAffinity().fit(form(database_y))
        check_all_ways(affinity, form(query_y), form(database_y), expected)


@given(st.data())
def test_hierarchical_affinity(data):
    depth = data.draw(st.integers(1, 4))
    paths = [
        data.draw(
            hnp.arrays(np.int64, (data.draw(st.integers(1, n)), depth), elements=st.integers(-1, 2))
        )
        for n in (6, 12)
    ]
    expected = oracle.shared_prefix(*paths)
    for form in (np.asarray, lambda y: y.astype(str), lambda y: (y + 1).astype(np.uint64) << 60):
        affinity = HierarchicalAffinity().fit(form(paths[1]))
        check_all_ways(affinity, *map(form, paths), expected)


@given(st.integers(1, 130), st.integers(0, 2**32 - 1), st.floats(0, 1))
def test_shared_label_affinity(n_labels, seed, density):
    rng = np.random.default_rng(seed)
    sets = [(rng.random((n, n_labels)) < density).astype(np.int64) for n in (4, 9)]
    expected = oracle.shared_labels(*sets)
    for form in (
        np.asarray,
        lambda y: y.astype(bool),
        sparse.csr_matrix,
        sparse.csc_array,
        lambda y: sparse.coo_array(y.astype(float)),
    ):
        affinity = SharedLabelAffinity().fit(form(sets[1]))
        check_all_ways(affinity, *map(form, sets), expected)


@given(st.data(), st.integers(1, 3), st.sampled_from([0, 1e6]))
def test_euclidean_affinity_on_a_grid_with_ties(data, n_features, offset):
    """On a grid many pairs lie exactly at a threshold."""
    draw = [
        data.draw(
            hnp.arrays(
                np.int64, (data.draw(st.integers(2, n)), n_features), elements=st.integers(0, 4)
            )
        )
        for n in (5, 9)
    ]
    queries, database = (offset + array / 8 for array in draw)
    percentiles = sorted(data.draw(st.sets(st.integers(1, 100), min_size=3, max_size=3)))[::-1]
    affinity = EuclideanAffinity(percentiles=percentiles, levels=(1, 2, 7)).fit(database)
    expected_thresholds = [oracle.pair_quantile(database, p) for p in percentiles]
    np.testing.assert_array_equal(affinity.thresholds_, expected_thresholds)
    expected = oracle.distance_levels(queries, database, expected_thresholds, (1, 2, 7))
    check_all_ways(affinity, queries, database, expected)


def test_euclidean_affinity_of_real_vectors_dense_and_sparse():
    rng = np.random.default_rng(0)
    y = rng.normal(3, size=(60, 20)) * (rng.random((60, 20)) < 0.4)
    affinity = EuclideanAffinity(percentiles=(20, 5), levels=(1, 4)).fit(y)
    np.testing.assert_allclose(
        affinity.thresholds_, [oracle.pair_quantile(y, p) for p in (20, 5)], rtol=1e-14
    )
    expected = oracle.distance_levels(y[:7], y, affinity.thresholds_, (1, 4))
    check_all_ways(affinity, y[:7], y, expected)
    from_sparse = clone(affinity).fit(sparse.csr_matrix(y))
    np.testing.assert_array_equal(from_sparse.thresholds_, affinity.thresholds_)
    for fitted in (affinity, from_sparse):
        for queries in (y[:7], sparse.csr_matrix(y[:7])):
            for database in (y, sparse.csc_array(y)):
                np.testing.assert_array_equal(fitted.pairwise(queries, database), expected)


def test_euclidean_levels_do_not_depend_on_blocks():
    y = np.random.default_rng(0).integers(0, 3, size=(3000, 5)).astype(np.float32)
    affinity = EuclideanAffinity(percentiles=(40, 5), levels=(1, 2)).fit(y)
    whole = affinity.pairwise(y[:50], y)
    for size in (1, 7, 1024):
        parts = [affinity.pairwise(y[:50], y[s : s + size]) for s in range(0, 3000, size)]
        np.testing.assert_array_equal(np.concatenate(parts, axis=1), whole)


def test_euclidean_affinity_takes_one_dimensional_targets_and_samples_rows():
    y = np.random.default_rng(0).normal(size=4000)
    affinity = EuclideanAffinity(percentiles=(10,), levels=(1,), max_samples=500, random_state=3)
    sampled, again = affinity.fit(y).thresholds_, clone(affinity).fit(y).thresholds_
    np.testing.assert_array_equal(sampled, again)
    exact = clone(affinity).set_params(max_samples=None).fit(y).thresholds_
    assert sampled != exact
    assert sampled == pytest.approx(exact, rel=0.1)


@given(st.integers(0, 2**32 - 1))
def test_precomputed_affinity(seed):
    rng = np.random.default_rng(seed)
    S = rng.choice([0, 0.5, 3], size=(6, 9))
    query_y, database_y = rng.integers(0, 6, 4), rng.integers(0, 9, 12)
    expected = S[np.ix_(query_y, database_y)]
    for form in (np.asarray, sparse.csr_matrix, sparse.csc_array):
        affinity = PrecomputedAffinity(form(S)).fit()
        check_all_ways(affinity, query_y, database_y[:, None], expected)


@pytest.mark.parametrize(
    ("y", "kind"),
    [
        ([0, 1, 1], LabelAffinity),
        (["a", "b"], LabelAffinity),
        ([[0], [1]], LabelAffinity),
        ([1.0, 2.0], LabelAffinity),
        ([-1, 5], LabelAffinity),
        ([True, False], LabelAffinity),
        ([[0, 1], [1, 1]], SharedLabelAffinity),
        (np.zeros((2, 2), bool), SharedLabelAffinity),
        (sparse.csr_matrix([[0, 1]]), SharedLabelAffinity),
        (sparse.csr_matrix([[0], [2]]), LabelAffinity),
        ([[0, 2], [1, 1]], HierarchicalAffinity),
        ([[0, -1], [1, 1]], HierarchicalAffinity),
        ([[0.0, 1.0], [1.0, 1.0]], SharedLabelAffinity),
        ([[0.0, 1.5], [1.0, 1.0]], EuclideanAffinity),
        (np.array([[0, 1], [True, 1]], dtype=object), SharedLabelAffinity),
        (pd.DataFrame({"a": [0, 2], "b": [1, 1]}, dtype="Int64"), HierarchicalAffinity),
    ],
)
def test_auto_goes_by_the_form_of_y(y, kind):
    assert type(auto_affinity(y)) is kind
    fitted = fit_affinity("auto", y)
    assert type(fitted) is kind
    assert fit_affinity(fitted, [[1, 2, 3]]) is fitted


def test_unfitted_affinity_is_cloned_before_it_is_fitted():
    affinity = HierarchicalAffinity()
    fitted = fit_affinity(affinity, [[1, 2]])
    assert fitted is not affinity
    assert not affinity.__sklearn_is_fitted__()
    np.testing.assert_array_equal(fitted.levels_, [0, 1, 2])
    with pytest.raises(NotFittedError, match="HierarchicalAffinity"):
        affinity.pairwise([[1, 2]], [[1, 2]])


@pytest.mark.parametrize(
    ("affinity", "y", "message"),
    [
        ("auto", [0.5, 1.0], "0.5.* affinity=EuclideanAffinity"),
        ("auto", [[0.5], [1.0]], "EuclideanAffinity"),
        ("auto", [0.0, np.nan], "y contains NaN"),
        ("auto", [0.0, np.inf], "y contains NaN"),
        ("auto", np.array(["a", None]), "missing values"),
        ("auto", np.array(["a", np.nan], dtype=object), "missing values"),
        ("auto", pd.array([1, pd.NA]), "missing values"),
        ("auto", [["a", "b"]], "<U1.* affinity=HierarchicalAffinity"),
        ("auto", [[1, -1], [-1, 1]], "-1 and .1.*swapped"),
        ("auto", [[1.0, -1.0]], "-1 and .1.*EuclideanAffinity.*HierarchicalAffinity"),
        ("auto", np.zeros((2, 2, 2)), r"shape \(2, 2, 2\)"),
        ("auto", np.array([1j]), "complex128"),
        ("auto", np.array(["a", 1], dtype=object), "int, str"),
        ("auto", np.array([{1}, {2}]), "set.*MultiLabelBinarizer"),
        ("auto", [["a", "b"], ["a"]], "list.*MultiLabelBinarizer"),
        ("auto", [["a"], "b"], "list, str.*MultiLabelBinarizer"),
        ("auto", [(1, 2), (3,), (4, 5)], "tuple.*MultiLabelBinarizer"),
        ("auto", np.array([0.5, 1], dtype=object), "EuclideanAffinity"),
        ("auto", np.array([2**70, 1], dtype=object), "64 bits"),
        ("auto", np.ma.array([0, 1], mask=[0, 1]), "y is masked"),
        ("auto", 3, "Got array.3."),
        ("labels", [0, 1], "affinity must be .* 'labels'"),
        (LabelAffinity, [0, 1], "affinity must be .*LabelAffinity"),
        (LabelAffinity(), [[0, 2]], r"shape \(1, 2\)"),
        (HierarchicalAffinity(), [0, 1], "label path"),
        (HierarchicalAffinity(), [[0.5, 1]], "non-integral"),
        (SharedLabelAffinity(), [0, 1], "multilabel indicator"),
        (SharedLabelAffinity(), [[0, 2]], "indicator of 0 and 1"),
        (SharedLabelAffinity(), sparse.csr_matrix([[0.5, 1]]), "indicator of 0 and 1"),
        (EuclideanAffinity(), [[1.0]], "n_samples = 1"),
        (EuclideanAffinity(), ["a", "b"], "numeric vectors"),
        (EuclideanAffinity(), sparse.csr_matrix([[0.0, np.nan]]), "contains NaN or infinity"),
        (EuclideanAffinity((5, 1)), [1.0, 2.0], r"\(5, 1\) and \(1, 2, 5, 10\)"),
        (EuclideanAffinity((1, 5), (1, 2)), [1.0, 2.0], "percentiles"),
        (EuclideanAffinity("auto"), [1.0, 2.0], "percentiles.*'auto'"),
        (EuclideanAffinity((101,), (1,)), [1.0, 2.0], r"percentiles .*\(0, 100\]"),
        (EuclideanAffinity((0,), (1,)), [1.0, 2.0], "percentiles"),
        (EuclideanAffinity((5, 1), (2, 1)), [1.0, 2.0], "levels"),
        (EuclideanAffinity((5,), (0,)), [1.0, 2.0], "levels"),
        (EuclideanAffinity((5, np.nan), (1, 2)), [1.0, 2.0], "percentiles"),
        (EuclideanAffinity(max_samples=2.5), [1.0, 2.0], "max_samples .* Got 2.5"),
        (SharedLabelAffinity(), np.zeros((1, 70_000), bool), "65535 .* 70000"),
        (
            EuclideanAffinity(max_samples=1),
            [1.0, 2.0],
            "max_samples .* Got 1",
        ),
        (
            PrecomputedAffinity([[1, -1]]),
            [0],
            "S must be .* -1",
        ),
        (PrecomputedAffinity([[1, np.nan]]), [0], "S must be"),
        (PrecomputedAffinity([1, 2]), [0], r"S must be .* shape \(2,\)"),
        (PrecomputedAffinity(np.arange(400).reshape(20, 20)), [0], "256 .* 400"),
        (PrecomputedAffinity(np.eye(3)), [0, 3], "row numbers of S.* 0 to 3"),
        (PrecomputedAffinity(np.eye(3)), [-1], "-1"),
        (PrecomputedAffinity(np.eye(3)), [0.0], "integer row numbers"),
    ],
)
def test_bad_y_is_refused(affinity, y, message):
    with pytest.raises(ValueError, match=message):
        fit_affinity(affinity, y)


@pytest.mark.parametrize(
    ("affinity", "y", "other", "message"),
    [
        (SharedLabelAffinity(), [[0, 1]], [[0, 1, 1]], "3 labels.* 2"),
        (HierarchicalAffinity(), [[0, 1]], [[0]], "1 labels per path.* 2"),
        (EuclideanAffinity(), [[0.0, 1], [1, 1]], [[0.0]], "1 features.* 2"),
        (LabelAffinity(), ["1"], [1], "dtypes"),
        (LabelAffinity(), [b"a"], ["a"], "<U1 and .S1"),
        (LabelAffinity(), [2**60], [2.0**60], "2..53"),
        (LabelAffinity(), [-1], np.array([2**63], np.uint64), "2..63 - 1"),
        (PrecomputedAffinity(np.ones((2, 3))), [0], [2], "row 2"),
    ],
)
def test_rows_of_another_form_are_refused(affinity, y, other, message):
    fitted = affinity.fit(y)
    with pytest.raises(ValueError, match=message):
        expand_runs(fitted, fitted.validate(other), fitted.validate(y))


def test_extreme_scales_of_vectors():
    y = np.array([[0.0], [1.0], [3.0], [7.0]])
    for scale in (1e-170, 1e-20, 1e20, 1e150):
        affinity = EuclideanAffinity((50, 20), (1, 2)).fit(scale * y)
        expected = np.array([3, 2]) * scale
        np.testing.assert_allclose(affinity.thresholds_, expected, rtol=1e-14)
        np.testing.assert_array_equal(affinity.pairwise(scale * y[:1], scale * y), [[2, 2, 1, 0]])
    constant = EuclideanAffinity((50, 20), (1, 2)).fit(np.ones((300, 3)))
    np.testing.assert_array_equal(constant.thresholds_, 0)
    np.testing.assert_array_equal(
        constant.pairwise(np.ones((1, 3)), [[1, 1, 1], [1, 1, 2]]), [[2, 0]]
    )


def test_duplicate_entries_of_a_sparse_matrix_add_up():
    S = sparse.csr_matrix((np.ones(3), [0, 0, 1], [0, 2, 3]), shape=(2, 2))
    affinity = PrecomputedAffinity(S).fit()
    np.testing.assert_array_equal(affinity.levels_, [0, 1, 2])
    np.testing.assert_array_equal(affinity.pairwise([0, 1], [0, 1]), [[2, 0], [0, 1]])
    assert S.nnz == 3  # the parameter is left alone


def test_unfitted_affinities_say_so():
    for affinity, y in [
        (HierarchicalAffinity(), [[1]]),
        (SharedLabelAffinity(), [[1]]),
        (EuclideanAffinity(), [[1.0]]),
        (PrecomputedAffinity(np.eye(2)), [1]),
    ]:
        with pytest.raises(NotFittedError, match=type(affinity).__name__):
            affinity.validate(y)


def test_an_affinity_needs_three_methods_only():
    class Parity(BaseAffinity):
        """Relevant when both numbers are even or both odd."""

        def fit(self, y):
            self.levels_ = np.array([0.0, 1.0])
            return self

        def validate(self, y, name="y"):
            return np.asarray(y)

        def level_indices(self, queries, database):
            return ((queries[:, None] + database) % 2 == 0).astype(np.uint16)

    check_all_ways(Parity().fit(None), [1, 2], [1, 3, 4], [[1, 1, 0], [0, 0, 1]])


class Near(BaseAffinity):
    """As a user writes it, with the levels and the indices of the test."""

    def __init__(self, make_indices=np.asarray, levels=(0.0, 1.0)):
        self.make_indices = make_indices
        self.levels = levels

    def fit(self, y):
        self.levels_ = np.array(self.levels)
        return self

    def validate(self, y, name="y"):
        return np.asarray(y, dtype=float)

    def level_indices(self, queries, database):
        return self.make_indices(abs(queries[:, None] - database) < 2)


WRONG_INDICES = {
    "negative": (lambda near: -near.astype(int), "Near.* -1.* 2 levels"),
    "too large": (lambda near: 7 * near.astype(int), "Near.* 7.* 2 levels"),
    "too few": (lambda near: near[:, 1:], "uint16.* shape"),
    "flat": (lambda near: near.ravel()[:0], "uint16.* shape"),
    "floats": (lambda near: near * 1.0, "uint16.* float64"),
}
USES = {
    "pairwise": lambda affinity, X, y: affinity.fit(y).pairwise(y, y),
    "count": lambda affinity, X, y: retrieval_histogram(X > 0, X > 0, y, y, affinity=affinity),
    "count the others": lambda affinity, X, y: retrieval_histogram(
        X > 0, X > 0, y, y, affinity=affinity, exclude_self=True
    ),
    "talr": lambda affinity, X, y: TALRLinear(4, affinity=affinity, max_iter=1, random_state=0).fit(
        X, y
    ),
    "rsh": lambda affinity, X, y: RSHHasher(4, affinity=affinity, random_state=0).fit(X, y),
    "lwh": lambda affinity, X, y: LWHHasher(4, affinity=affinity, tol=9, random_state=0).fit(X, y),
}


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("wrong", WRONG_INDICES)
def test_wrong_level_indices_never_reach_a_kernel(use, wrong):
    rng = np.random.default_rng(0)
    make_indices, message = WRONG_INDICES[wrong]
    with pytest.raises(ValueError, match=message):
        USES[use](Near(make_indices), rng.normal(size=(12, 4)), np.arange(12) % 5)


def test_level_indices_may_be_of_any_integer_type():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(12, 4)), np.arange(12) % 5
    for use in USES.values():
        results = [use(Near(make), X, y) for make in (np.uint16, np.int64, np.asarray)]
        arrays = [getattr(each, "counts", getattr(each, "components_", each)) for each in results]
        for array in arrays:
            np.testing.assert_array_equal(array, arrays[0])


@pytest.mark.parametrize("levels", [(1.0, 0.0), (1.0, 2.0), (0.0, np.nan), (0.0, np.inf), ("0",)])
def test_levels_ascend_from_zero(levels):
    with pytest.raises(ValueError, match="levels_ of Near"):
        fit_affinity(Near(levels=levels), [1, 2])


def test_levels_are_set_by_fit():
    class WithoutLevels(LabelAffinity):
        def fit(self, y):
            return self

    with pytest.raises(ValueError, match="levels_ of WithoutLevels .* None"):
        fit_affinity(WithoutLevels(), [1, 2])


@pytest.mark.parametrize(
    ("affinity", "y", "text"),
    [
        ("auto", ["a", "b", "a"], "2 classes of 1 to 2 rows: relevant where the class is the same"),
        ("auto", [3.0, 3.0], "1 class of 2 rows: relevant where the class is the same"),
        ("auto", [1, 2], "2 classes of 1 row: relevant where the class is the same"),
        (
            "auto",
            np.array([[1, 0, 1], [0, 0, 1]], np.float32),
            "3 labels, 1.5 per row: relevant where labels are shared",
        ),
        (
            "auto",
            sparse.csr_array([[1, 0, 1], [0, 0, 1]]),
            "3 labels, 1.5 per row: relevant where labels are shared",
        ),
        (
            "auto",
            [[2, 1], [2, 1], [2, 0]],
            "paths of 2 labels, 2 different ones: relevant where the first labels are the same",
        ),
        (
            EuclideanAffinity((50,), (1,)),
            [[0.0, 0.0], [1.0, 0.0], [5.0, 0.0]],
            "vectors of 2 numbers: relevant within a distance of 4",
        ),
        (
            NeighborAffinity((1, 2)),
            [[0.0, 1.0], [1.0, 0.0], [5.0, 0.0]],
            "vectors of 2 numbers: the 2 nearest rows are relevant, by cosine",
        ),
        (
            NeighborAffinity(1, metric="inner_product"),
            [[0.0, 1.0], [1.0, 0.0]],
            "vectors of 2 numbers: the nearest row is relevant, by inner product",
        ),
        (
            PrecomputedAffinity([[0, 2], [1, 0]]),
            [0, 1],
            "row numbers of a matrix of 2 x 2, with 3 levels: relevant where it is above 0",
        ),
    ],
)
def test_what_was_understood_is_said(affinity, y, text):
    fitted = fit_affinity(affinity, y)
    assert fitted.describe(y) == f"y: {text}"
    assert fitted.describe(y, "labels") == f"labels: {text}"


class Closest(BaseAffinity):
    """An affinity of a user."""

    def fit(self, y):
        self.levels_ = np.array([0.0, 1.0])
        return self

    def validate(self, y, name="y"):
        return np.asarray(y, dtype=float)

    def level_indices(self, queries, database):
        return (abs(queries[:, None] - database) < 2).astype(np.uint16)


def test_affinities_of_users_describe_themselves():
    assert Closest().fit([1]).describe([1, 2, 3]) == "y: 3 rows: compared by Closest()"


@given(st.data())
def test_levels_that_pairs_of_rows_meet(data):
    n = data.draw(st.integers(2, 6))
    integers = hnp.arrays(np.int64, (n, 2), elements=st.integers(0, 2))
    y = data.draw(integers)
    for affinity, rows in (
        (LabelAffinity(), y[:, 0]),
        (HierarchicalAffinity(), y),
        (SharedLabelAffinity(), y > 1),
        (EuclideanAffinity((50, 10), (1, 2)), y),
        (Closest(), y[:, 0] * 2),
    ):
        affinity.fit(rows)
        levels = affinity.pairwise(rows, rows)[~np.eye(n, dtype=bool)]
        found = affinity.levels_met(affinity.validate(rows))
        if levels.any() and not levels.all():
            assert found[0] == 0
            assert len(found) > 1
            assert set(found) <= set(levels)
        else:
            np.testing.assert_array_equal(found, np.unique(levels))


@pytest.mark.parametrize(("width", "words"), [(1, "1 number: "), (2, "2 numbers: ")])
def test_targets_are_counted(width, words):
    y = np.arange(12.0).reshape(-1, width)
    assert words in EuclideanAffinity().fit(y).describe(y)


@pytest.mark.parametrize("form", ["tuples", "arrays", "qrels"])
def test_pairs_with_ids_are_a_matrix(form):
    """Against a matrix that is filled by hand."""
    rng = np.random.default_rng(1)
    for item_ids in (None, [f"d{number}" for number in range(9)]):
        ids = [f"q{number}" for number in rng.permutation(7)]
        items = ids if item_ids is None else item_ids
        first = 0 if item_ids is None else len(ids)
        wanted = np.zeros((first + len(items),) * 2)
        pairs = {}
        for _ in range(20):
            i, j, grade = rng.integers(len(ids)), rng.integers(len(items)), rng.integers(0, 4)
            pairs.setdefault(ids[i], {})[items[j]] = grade
        for query, judged in pairs.items():
            for item, grade in judged.items():
                i, j = ids.index(query), first + items.index(item)
                if i != j:
                    wanted[i, j] = wanted[j, i] = max(wanted[i, j], grade)
        if form != "qrels":
            pairs = [
                (q, item, grade) for q, judged in pairs.items() for item, grade in judged.items()
            ]
            pairs = pairs + pairs[:3] if form == "tuples" else np.array(pairs, dtype=object)
        affinity = PrecomputedAffinity.from_pairs(pairs, ids, item_ids).fit()
        numbers = np.arange(len(wanted))
        np.testing.assert_array_equal(affinity.pairwise(numbers, numbers), wanted)


def test_pairs_of_unknown_rows_are_refused():
    for pairs, ids, message in (
        ([("a", "z")], ["a", "b"], "'z'.* item ids"),
        ([("z", "a")], ["a", "b"], "'z'.* ids"),
        (
            [("1", 2)],
            [1, 2],
            "'1'.* int, not str",
        ),
        ([("a", "b", 1, 2)], ["a", "b"], r"\(query, item\)"),
        (["ab"], ["a", "b"], r"\(query, item\)"),
        ([{"a", "b"}], ["a", "b"], r"\(query, item\)"),
        (pd.DataFrame({"q": ["a"], "i": ["b"]}), ["a", "b"], "itertuples"),
        ([1, 2], [1, 2], r"\(query, item\)"),
        ([("a", "b", np.nan)], ["a", "b"], "grade .* nan"),
        ([("a", "b", "1")], ["a", "b"], "grade .* '1'"),
        ([("a", "b")], ["a", "b", "a"], "ids .* 2 of 3"),
    ):
        with pytest.raises(ValueError, match=message):
            PrecomputedAffinity.from_pairs(pairs, ids)


def test_pairs_and_ids_may_come_from_generators_and_dicts():
    pairs = [("a", "c"), ("c", "b", 2)]
    wanted = PrecomputedAffinity.from_pairs(pairs, ["a", "b", "c"]).fit()
    found = PrecomputedAffinity.from_pairs(iter(pairs), (each for each in "abc")).fit()
    rows = np.arange(3)
    np.testing.assert_array_equal(found.pairwise(rows, rows), wanted.pairwise(rows, rows))
    of_queries = {"a": {"c"}, "c": {"b": 2}, "b": []}
    found = PrecomputedAffinity.from_pairs(of_queries, ["a", "b", "c"]).fit()
    np.testing.assert_array_equal(found.pairwise(rows, rows), wanted.pairwise(rows, rows))


@pytest.mark.parametrize(
    ("pairs", "ids"),
    [
        (5, [0, 1, 2]),
        ([(0, 1)], 3),
        ([(0, 1)], [[0], [1]]),
        ([([0], 1)], [0, 1]),
        ({0: 1}, [0, 1]),
        ({"a": "b"}, ["a", "b"]),
    ],
)
def test_pairs_of_other_kinds_are_refused(pairs, ids):
    with pytest.raises(TypeError):
        PrecomputedAffinity.from_pairs(pairs, ids)
