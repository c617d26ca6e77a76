"""Semi-supervised hashing."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.datasets import load_digits, make_blobs

from sklearn_hashrank import EuclideanAffinity, PCAHasher, SSHHasher, retrieval_histogram
from sklearn_hashrank.affinity._labels import LabelAffinity
from sklearn_hashrank.hashers.ssh import SignedSimilarity
from tests.oracle import projections as oracle


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(X))
    X, y = X[order], y[order]
    return X[:500], y[:500], X[500:900], y[500:900]


def similarity(y):
    S = np.where(y[:, None] == y, 1.0, -1.0)
    np.fill_diagonal(S, 0)
    return S


def in_units(X):
    """Centered rows divided by the root mean square of their lengths."""
    X = X - X.mean(axis=0)
    return X / np.sqrt(np.mean(np.sum(X**2, axis=1)))


@pytest.mark.parametrize("eta", [0.2, 0.01])
@pytest.mark.parametrize("copies", [1, 3])
def test_directions_are_those_of_the_paper(digits, eta, copies):
    """Also where eigenvectors are found one by one, as of three times 64 features."""
    X, y = np.tile(digits[0], copies), digits[1]
    X = X + np.random.default_rng(0).normal(size=X.shape)
    hasher = SSHHasher(12, eta=eta, random_state=0).fit(X, y)
    expected = oracle.sequential_directions(in_units(X), in_units(X), similarity(y), 12, eta).T
    found = hasher.components_ / np.linalg.norm(hasher.components_, axis=1, keepdims=True)
    assert_allclose(np.abs(np.sum(found * expected, axis=1)), 1, atol=1e-6)
    codes = in_units(X) @ expected.T > 0
    assert oracle.up_to_whole_bits(hasher.predict(X), codes) == 0


@pytest.mark.parametrize("scale", [1.0, 1e-3, 1e6])
def test_raw_steps_are_those_of_the_features_as_they_are(digits, scale):
    X, y = digits[0] * scale, digits[1]
    rows = X - X.mean(axis=0)
    expected = oracle.sequential_directions(rows, rows, similarity(y), 12, 0.2)
    hasher = SSHHasher(12, step_size="raw").fit(X + 5 * scale, y)
    assert oracle.up_to_whole_bits(hasher.predict(X + 5 * scale), rows @ expected > 0) == 0
    step = np.mean(np.sum(rows**2, axis=1))
    same = SSHHasher(12, step_size=step).fit(X, y)
    assert oracle.up_to_whole_bits(same.predict(X), rows @ expected > 0) == 0


@pytest.mark.parametrize("step_size", [0.3, 5])
def test_a_step_multiplies_the_updates(digits, step_size):
    X, y = digits[:2]
    rows = in_units(X)
    expected = oracle.sequential_directions(rows, rows, similarity(y), 8, 0.2, step_size)
    found = SSHHasher(8, step_size=step_size).fit(X, y).predict(X)
    assert oracle.up_to_whole_bits(found, rows @ expected > 0) == 0


@pytest.mark.parametrize("orthogonal", [False, True])
def test_many_features_need_no_covariance_matrix(orthogonal):
    rng = np.random.default_rng(0)
    y = np.arange(150) % 3
    X = rng.normal(size=(150, 1100)) * (rng.random((150, 1100)) < 0.05)
    X[:, 0] += y
    X = sparse.csr_array(X)
    hasher = SSHHasher(4, orthogonal=orthogonal, random_state=0).fit(X, y)
    rows = in_units(X.toarray())
    if orthogonal:
        M = rows.T @ rows / 150 + 0.2 * rows.T @ similarity(y) @ rows / 150
        expected = np.linalg.eigh(M)[1][:, ::-1][:, :4]
    else:
        expected = oracle.sequential_directions(rows, rows, similarity(y), 4, 0.2)
    found = hasher.components_ / np.linalg.norm(hasher.components_, axis=1, keepdims=True)
    assert_allclose(np.abs(np.sum(found.T * expected, axis=0)), 1, atol=1e-6)


def test_orthogonal_directions_are_the_first_eigenvectors(digits):
    X, y = digits[:2]
    hasher = SSHHasher(8, orthogonal=True, random_state=0).fit(X, y)
    rows = in_units(X)
    M = rows.T @ rows / len(X) + 0.2 * rows.T @ similarity(y) @ rows / len(X)
    expected = np.linalg.eigh(M)[1][:, ::-1][:, :8]
    found = hasher.components_ / np.linalg.norm(hasher.components_, axis=1, keepdims=True)
    assert_allclose(np.abs(np.sum(found.T * expected, axis=0)), 1, atol=1e-8)
    with pytest.raises(ValueError, match="n_bits=65 .*n_features = 64"):
        SSHHasher(65, orthogonal=True).fit(X, y)


def test_products_of_similarities_need_no_pairs(digits):
    X, y = digits[:2]
    affinity = LabelAffinity().fit(y)
    S = SignedSimilarity(affinity, affinity.validate(y))
    assert_array_equal(S.to_dense(), similarity(y))
    assert_allclose(S @ X, similarity(y) @ X)
    near = EuclideanAffinity().fit(X)
    S = SignedSimilarity(near, near.validate(X))
    assert_allclose(S @ X, S.to_dense() @ X)
    assert_array_equal(S.to_dense(), S.to_dense().T)


@pytest.mark.learning
def test_sequential_bits_are_better_and_may_exceed_the_features(digits):
    X, y, Z, z = digits
    scores = {
        orthogonal: SSHHasher(48, orthogonal=orthogonal, random_state=0).fit(X, y).score(Z, z)
        for orthogonal in (False, True)
    }
    assert scores[False] > scores[True] + 0.1
    assert scores[False] > PCAHasher(48).fit(X, y).score(Z, z) + 0.2
    assert SSHHasher(80, random_state=0).fit(X, y).score(Z, z) > 0.5


@pytest.mark.learning
def test_rows_without_labels_teach_their_variance_only(digits):
    X, y, Z, z = digits
    some = np.where(np.arange(500) < 100, y, -1)
    hasher = SSHHasher(8, random_state=0).fit(X, some)
    rows = in_units(X)
    expected = oracle.sequential_directions(rows, rows[:100], similarity(y[:100]), 8, 0.2)
    codes = (rows @ expected > 0)[:100]
    assert oracle.up_to_whole_bits(hasher.predict(X[:100]), codes) == 0
    assert_array_equal(hasher.y_, y[:100])
    assert_array_equal(hasher.codes_, np.packbits(hasher.predict(X[:100]), axis=1))
    assert hasher.score(Z, z) > 0.35
    column = SSHHasher(8, random_state=0).fit(X, some[:, None])
    assert_array_equal(column.components_, hasher.components_)


def test_one_class_beside_rows_without_labels_is_refused(digits):
    X, y = digits[:2]
    signs = np.where(y < 5, -1, 1)
    with pytest.raises(ValueError, match=r"two classes or more beside -1.* Got \[-1, 1\]"):
        SSHHasher(4).fit(X, signs)
    with pytest.raises(ValueError, match=r"two classes or more beside -1.* Got \[-1\]"):
        SSHHasher(4, affinity=LabelAffinity()).fit(X, np.full(500, -1))


def test_labeled_rows_are_sampled(digits):
    X, y = digits[:2]
    hasher = SSHHasher(8, n_labeled=60, random_state=3).fit(X, y)
    sample = np.sort(np.random.RandomState(3).permutation(500)[:60])
    rows = in_units(X)
    expected = oracle.sequential_directions(rows, rows[sample], similarity(y[sample]), 8, 0.2)
    assert oracle.up_to_whole_bits(hasher.predict(X), rows @ expected > 0) == 0
    assert len(hasher.codes_) == 500


@pytest.mark.learning
def test_label_sets_and_distances_are_similarities_too():
    X, y = make_blobs(150, n_features=5, centers=4, random_state=0)
    label_sets = np.eye(4, dtype=int)[y]
    by_label = SSHHasher(6, random_state=0).fit(X, y)
    assert_allclose(
        SSHHasher(6, random_state=0).fit(X, label_sets).components_, by_label.components_
    )
    near = SSHHasher(6, random_state=0).fit(X)
    assert isinstance(near.affinity_, EuclideanAffinity)
    score = retrieval_histogram(near.predict(X), near.predict(X), y, y).average_precision().mean()
    assert score > 0.7


@pytest.mark.parametrize("n_features", [5, 200])
@pytest.mark.filterwarnings("ignore:all rows of X are equal")
def test_equal_rows_have_equal_codes(n_features):
    X = np.full((40, n_features), 0.1)
    hasher = SSHHasher(4, random_state=0).fit(X, np.arange(40) % 2)
    assert len(np.unique(hasher.codes_, axis=0)) == 1


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_bits_beyond_the_rank_are_zero(dtype):
    X = np.tile(np.random.default_rng(0).normal(size=(300, 6)), (1, 5)).astype(dtype)
    hasher = SSHHasher(12, random_state=0).fit(X, np.arange(300) % 7)
    varies = np.ptp(X.astype(float) @ hasher.components_.T, axis=0) > 1e-5
    assert varies.sum() >= 6
    assert not varies.all()
    assert_array_equal(hasher.components_.any(axis=1), varies)
    assert not hasher.predict(X)[:, ~varies].any()


def test_orthogonal_directions_without_variance_have_no_bit():
    """Rounding would choose the bits, and choose others for a row that is encoded alone."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(20, 60)), np.arange(20) % 4
    hasher = SSHHasher(40, orthogonal=True, random_state=0).fit(X, y)
    varies = np.ptp(hasher.decision_function(X), axis=0) > 1e-6
    assert varies.sum() < len(X)
    assert_array_equal(hasher.components_.any(axis=1), varies)
    alone = np.concatenate([hasher.predict(row[None]) for row in X])
    assert_array_equal(alone, hasher.predict(X))
