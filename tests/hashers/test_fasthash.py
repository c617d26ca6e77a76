"""FastHasher: losses, boosted trees, any classifier, files."""

import functools

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_digits
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

from sklearn_hashrank import FastHasher, load_hasher, save_hasher
from sklearn_hashrank.hashers._boosted_trees import BinnedFeatures
from sklearn_hashrank.hashers.fasthash import pair_coefficients
from tests.oracle.two_step import pair_loss, total_loss

LOSSES = ["hinge", "ksh", "bre"]


@functools.cache
def digits():
    return load_digits(return_X_y=True)


@functools.cache
def small():
    rng = np.random.default_rng(0)
    y = np.arange(90) % 3
    return rng.normal(size=(90, 6)) + 2 * rng.normal(size=(3, 6))[y], y


def fit(**options):
    X, y = small()
    return FastHasher(6, n_estimators=5, random_state=0).set_params(**options).fit(X, y)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("n_before", [0, 1, 2, 5])
def test_coefficients_are_differences_of_the_loss(loss, n_before):
    r = n_before + 1
    for kind in (1, -1):
        for h in range(r):
            [found] = pair_coefficients(loss, np.array([kind]), np.array([h]), n_before)
            equal, differing = (pair_loss(loss, kind > 0, h + new, r) for new in (0, 1))
            assert found == pytest.approx(4 * r**2 * (equal - differing))
            assert found == round(found)


@pytest.mark.parametrize("loss", LOSSES)
def test_bits_lower_the_loss_of_codes(loss):
    """With a classifier that makes no error, codes are those of the first step."""
    X, y = small()
    hasher = fit(loss=loss, estimator=KNeighborsClassifier(1))
    assert (hasher.training_errors_ == 0).all()
    kinds = np.where(y[:, None] == y, 1, -1)
    random = np.random.default_rng(0).integers(0, 2, (90, 6))
    found = total_loss(loss, kinds, hasher.predict(X))
    perfect = total_loss(loss, kinds, np.array([[0, 0, 1], [0, 1, 0], [1, 0, 0]])[y])
    assert found <= 1.01 * perfect < 0.7 * total_loss(loss, kinds, random)


def boost(n_trees=1, depth=3, few=0, rows=90, weights=None):
    X, y = small()
    X, targets = X[:rows], np.where(y[:rows] == 0, 1.0, -1.0)
    weights = np.ones(rows) if weights is None else weights
    options = {"n_estimators": n_trees, "max_depth": depth, "max_features": 6}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sklearn_hashrank.hashers._boosted_trees._FEW_ROWS", few)
        random_state = np.random.RandomState(0)
        trees, scores = BinnedFeatures(X).boost(targets, weights, random_state, **options)
    return X, targets, trees, scores


@pytest.mark.parametrize("depth", [1, 2, 3])
def test_a_tree_is_that_of_scikit_learn(depth):
    X, targets, _, scores = boost(depth=depth, rows=60)
    tree = DecisionTreeClassifier(max_depth=depth, random_state=0).fit(X, targets)
    np.testing.assert_array_equal(np.sign(scores), tree.predict(X))


def test_votes_are_those_of_ada_boost():
    """The sum of votes by the literal recursion, from the trees that were grown."""
    X, targets, trees, scores = boost(n_trees=6, depth=2)
    weights, total = np.full(90, 1 / 90), np.zeros(90)
    assert len(trees.tree_starts) == 6
    for root in trees.tree_starts:
        said = np.array([walk(trees, root, row) for row in X])
        wrong = weights[np.sign(said) != targets].sum()
        vote = 0.5 * np.log((1 - wrong) / wrong)
        np.testing.assert_allclose(np.abs(said), vote)
        weights = weights * np.exp(-targets * said)
        weights /= weights.sum()
        total += said
    np.testing.assert_allclose(scores, total)
    np.testing.assert_allclose(trees.scores(X, None)[:, 0], total)


def walk(trees, root, row):
    node = root
    while trees.child[node]:
        is_right = row[trees.feature[node]] > trees.threshold[node]
        node = root + trees.child[node] + is_right
    return trees.value[node]


def test_heavy_rows_are_learned_first():
    weights = np.full(90, 0.01)
    weights[5] = 10.0
    _, targets, _, scores = boost(depth=1, weights=weights)
    assert np.sign(scores[5]) == targets[5]


@pytest.mark.parametrize("n_values", [1, 2, 64, 65, 500])
def test_bins_keep_the_order_of_values(n_values):
    column = np.random.default_rng(0).permutation(np.repeat(np.arange(n_values), 3))
    binned = BinnedFeatures(np.c_[column, column].astype(np.float32))
    [bins, _] = binned.columns.astype(int)
    assert (np.diff(bins[np.argsort(column)]) >= 0).all()
    assert bins.max() + 1 == binned.n_bins[0] == min(n_values, 64)
    sizes = np.bincount(bins)
    assert sizes.max() <= 2.1 * sizes.mean()
    edges = binned.edges[0]
    np.testing.assert_array_equal(bins, (column[:, None] > edges).sum(axis=1))


def test_large_sparse_rows_lose_the_emptiest_features(monkeypatch):
    monkeypatch.setattr("sklearn_hashrank.hashers._boosted_trees._MOST_NUMBERS", 10)
    X = np.array([[0, 1, 2], [0, 0, 3], [0, 5, 6], [0, 0, 0], [1, 0, 1]], dtype=float)
    np.testing.assert_array_equal(BinnedFeatures(sparse.csr_array(X)).kept, [1, 2])


def test_a_short_code_is_the_start_of_a_long_one():
    X, _ = small()
    np.testing.assert_array_equal(fit(n_bits=9).predict(X)[:, :4], fit(n_bits=4).predict(X))


def test_scale_and_offset_do_not_matter():
    X, y = digits()
    X, y = X[:400], y[:400]
    hasher = FastHasher(8, n_estimators=20, random_state=0)
    codes = hasher.fit(X, y).predict(X)
    np.testing.assert_array_equal(hasher.fit(1000 * X + 7, y).predict(1000 * X + 7), codes)


def test_more_bits_than_the_losses_ask_for():
    """Two classes are told apart by one bit; the others are not all equal."""
    X, y = small()
    hasher = FastHasher(12, n_estimators=5, random_state=0).fit(X, y == 0)
    codes = hasher.predict(X)
    assert ((codes.mean(axis=0) > 0.1) & (codes.mean(axis=0) < 0.9)).all()


@pytest.mark.learning
@pytest.mark.parametrize("code_step", ["graph-cut", "spectral"])
@pytest.mark.parametrize("loss", LOSSES)
def test_codes_are_good(code_step, loss):
    X, y = digits()
    hasher = FastHasher(12, n_estimators=20, loss=loss, code_step=code_step, random_state=0)
    assert hasher.fit(X[:900], y[:900]).score(X[900:], y[900:]) > 0.65


@pytest.mark.learning
@pytest.mark.parametrize(
    "estimator", [LinearSVC(), DecisionTreeClassifier(max_depth=8), KNeighborsClassifier(3)]
)
def test_any_classifier_learns_the_bits(estimator):
    X, y = digits()
    hasher = FastHasher(10, estimator=estimator, random_state=0).fit(X[:500], y[:500])
    assert len(hasher.estimators_) == 10
    assert not hasattr(hasher, "trees_")
    assert hasher.score(X[500:], y[500:]) > 0.5
    assert not hasattr(hasher.set_params(estimator=None, n_estimators=2).fit(X, y), "estimators_")


def test_other_classifiers_are_refused_by_files(tmp_path):
    X, _ = small()
    hasher = fit(estimator=LinearSVC())
    with pytest.raises(ValueError, match="estimator.*sklearn.svm"):
        save_hasher(tmp_path / "hasher.npz", hasher)
    hasher = fit()
    save_hasher(tmp_path / "hasher.npz", hasher)
    loaded = load_hasher(tmp_path / "hasher.npz")
    np.testing.assert_array_equal(loaded.decision_function(X), hasher.decision_function(X))


def test_threads_change_nothing():
    X, _ = digits()
    hasher = FastHasher(4, n_estimators=5, random_state=0).fit(*digits())
    expected = hasher.decision_function(X)
    np.testing.assert_array_equal(hasher.set_params(n_jobs=2).decision_function(X), expected)


@pytest.mark.learning
@pytest.mark.parametrize("y", ["label sets", "distances", None])
def test_any_relevance_teaches(y):
    X, labels = digits()
    X, labels = X[:300], labels[:300]
    sets = np.c_[labels % 2, labels % 2 == 0, labels < 3].astype(int)
    y = {"label sets": sets, "distances": X, None: None}[y]
    hasher = FastHasher(8, n_estimators=10, random_state=0).fit(X, y)
    random = np.random.default_rng(0).permutation(len(X))
    assert hasher.score(X, y) > 1.3 * hasher.score(X[random], X if y is None else y)


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("child", lambda a: np.where(a > 0, 10**6, a), "without a place in its tree"),
        ("child", lambda a: np.where(a > 0, 1, a), "without a place in its tree"),
        ("feature", lambda a: a + 6, "without a place in its tree or its features"),
        ("feature", lambda a: a - 7, "without a place in its tree or its features"),
        ("value", lambda a: a[:-1], "do not fit together"),
        ("threshold", lambda a: a.astype(np.float32), "do not fit together"),
        ("tree_starts", lambda a: a + 1, "do not fit together"),
        ("tree_starts", lambda a: a[::-1].copy(), "do not fit together"),
        ("bit_starts", lambda a: a[:-1], "trees of 6 bits"),
        ("bit_starts", lambda a: a + 1, "trees of 6 bits"),
    ],
)
def test_arrays_that_are_no_trees_are_refused(tmp_path, name, change, message):
    hasher = fit()
    array = getattr(hasher.trees_, name)
    changed = change(array).astype(array.dtype if name != "threshold" else np.float32)
    hasher.trees_ = hasher.trees_._replace(**{name: changed})
    with pytest.raises(ValueError, match=message):
        save_hasher(tmp_path / "hasher.npz", hasher)
