"""The feature space against its literal formulas, and the way back from it."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.datasets import load_digits, load_iris
from sklearn.decomposition import PCA

from sklearn_hashrank._features.centered_rows import CenteredRows, column_means
from sklearn_hashrank._features.moments import Moments
from sklearn_hashrank._features.principal_directions import leading_directions
from sklearn_hashrank._features.scaling import distance_scales, feature_scales, in_one_unit
from sklearn_hashrank._features.space import Basis, FeatureSpace, fit_into

RNG = np.random.default_rng(0)
ROWS = RNG.poisson(1.0, size=(60, 7)) * np.array([1, 2, 3, 5, 10, 20, 50.0])
ROWS[:, 3] = 5  # constant
FORMATS = {
    "dense": np.asarray,
    "csr": sparse.csr_array,
    "matrix": sparse.csr_matrix,
}
every_format = pytest.mark.parametrize("make", FORMATS.values(), ids=FORMATS)
every_dtype = pytest.mark.parametrize("dtype", [np.float64, np.float32])


def literal_deviations(X):
    """Of every feature, None where it does not vary."""
    deviations = [float(np.sqrt(np.mean((x - x.mean()) ** 2))) for x in X.T]
    return [d if d > 1e-9 * abs(x.mean()) else None for d, x in zip(deviations, X.T)]


def literal_in_one_unit(deviations):
    """The most features, of at most a tenth, each of 100 times the variance of all the others."""
    n = len(deviations)
    order = sorted(range(n), key=lambda k: -deviations[k])
    for n_hiding in range(min(max(1, n // 10), n - 1), 0, -1):
        others = [deviations[k] for k in order[n_hiding:]]
        if deviations[order[n_hiding - 1]] ** 2 > 100 * sum(d * d for d in others):
            hiding = set(order[:n_hiding])
            return [np.median(others) if k in hiding else deviations[k] for k in range(n)]
    return list(deviations)


def literal_scales(X):
    """In one unit, r relative to the median becomes exp(L tanh(log r / L)), L = log 10."""
    deviations = literal_deviations(X)
    varying = [d for d in deviations if d]
    alike = literal_in_one_unit(varying)
    ratios = [a / np.median(alike) for a in alike]
    kept = [10 ** np.tanh(np.log10(r)) for r in ratios]
    size = np.sqrt(np.mean(np.square(kept)))
    scales = iter([k / size / d for k, d in zip(kept, varying)])
    return [next(scales) if d else 0.0 for d in deviations]


def rows_with(deviations, n=2000):
    rows = RNG.normal(size=(n, len(deviations)))
    return (rows - rows.mean(axis=0)) / rows.std(axis=0) * deviations


@every_format
@every_dtype
@pytest.mark.parametrize("scaled", [True, False])
def test_rows_inside_are_the_literal_formula(make, dtype, scaled):
    X = ROWS.astype(dtype)
    moments = Moments.of(make(X))
    space = FeatureSpace.of(moments) if scaled else FeatureSpace(moments.mean)
    scales = literal_scales(ROWS) if scaled else np.ones(7)
    expected = (ROWS - ROWS.mean(axis=0)) * scales
    assert_allclose(space.transform(make(X)), expected, atol=1e-12)
    assert_allclose(space.rows(make(X)).to_dense(), expected, atol=1e-12)
    single = space.transform(make(X), np.float32)
    assert single.dtype == np.float32
    assert_allclose(single, expected, atol=2e-5)


def test_scales_keep_near_ratios_and_hold_far_ones():
    """Principal components keep their deviations; a feature in another unit stays near."""
    deviations = np.array([1.0, 1.1, 0.9, 1.0, 1.2, 0.8, 1e6, 1e-6, 0.0])
    scales = feature_scales(Moments.of(rows_with(deviations)))
    assert scales[-1] == 0
    kept = scales[:-1] * deviations[:-1]
    assert_allclose(np.mean(kept**2), 1)
    kept /= kept[0]
    assert_allclose(kept[:6], deviations[:6], rtol=0.01)
    assert_allclose(kept[6:], [1, 0.1], rtol=0.02)


def test_deviations_in_one_unit_are_the_literal_formula():
    for n in (1, 2, 3, 10, 200):
        for spread in (0.1, 1.0, 3.0, 10.0):
            deviations = np.exp(spread * RNG.normal(size=n))
            expected = literal_in_one_unit(deviations.tolist())
            assert_allclose(in_one_unit(deviations), expected)
            assert_allclose(in_one_unit(1e-100 * deviations), 1e-100 * np.array(expected))


@every_format
@pytest.mark.parametrize(("n_tiny", "n_others"), [(1, 3), (1, 40), (4, 40), (5, 40), (20, 20)])
def test_a_few_features_of_float32_may_be_rounding_of_the_others(make, n_tiny, n_others):
    """At most a tenth of them, or one, with 1e-7 of the median deviation; in float64 none."""
    deviations = np.r_[np.full(n_tiny, 2e-9), RNG.uniform(0.04, 0.06, n_others)]
    X = rows_with(deviations, 200)
    is_few = n_tiny <= max(1, (n_tiny + n_others) // 10)
    moments = Moments.of(make(X.astype(np.float32)))
    assert_array_equal(moments.varies, (deviations > 1e-3) | (not is_few))
    assert_array_equal((moments + moments).varies, moments.varies)
    assert_array_equal(FeatureSpace.of(moments).scale > 0, moments.varies)
    assert Moments.of(make(X)).varies.all()
    # Larger by a hundred they may be a unit, and are held within a factor of ten.
    scales = feature_scales(Moments.of((X * np.where(deviations < 1e-3, 100, 1)).astype("f")))
    assert np.all(scales > 0)


SPECTRA = {
    "one": np.array([3.0]),
    "two": np.array([1.0, 9.0]),
    "equal": np.full(64, 3.0),
    "one to ten": np.linspace(1, 10, 64),
    "components of digits": PCA().fit(load_digits().data).singular_values_[:61],
    "components of iris": PCA().fit(load_iris().data).singular_values_,
    "components, steep": np.arange(1, 500.0) ** -0.7,
    "a component of 94 % and small ones": np.r_[16.0, np.geomspace(1, 1e-3, 63)],
    "border pixels": np.r_[np.full(400, 70.0), np.geomspace(1e-3, 10, 100)],
    "signals beside more noise": np.r_[np.full(64, 5.0), np.full(150, 0.01)],
    "frequent and rare words": np.sqrt(1 / np.arange(1, 10_000.0)),
}


@pytest.mark.parametrize("name", SPECTRA)
def test_features_of_one_unit_keep_their_deviations_to_the_last_bit(name):
    deviations = RNG.permutation(SPECTRA[name])
    assert_array_equal(in_one_unit(deviations), deviations)
    moments = Moments.of(rows_with(deviations, 50))
    expected = distance_scales(moments, mixed_units=False)
    assert_array_equal(distance_scales(moments, mixed_units=True), expected)


@pytest.mark.parametrize(("factor", "n_others"), [(100, 1), (1e4, 1), (1e4, 5), (1e10, 6)])
def test_no_features_hide_the_others(factor, n_others):
    rng = np.random.default_rng(0)  # of its own: whatever other tests have taken
    ordinary, others = rng.uniform(1, 2, 60), rng.uniform(1, 2, n_others)
    alike = in_one_unit(np.r_[ordinary, factor * others])
    assert_array_equal(alike[:60], ordinary)
    assert_array_equal(alike[60:], np.median(ordinary))


@pytest.mark.parametrize("one_scale", [False, True])
def test_components_that_rounding_makes_have_no_weight(one_scale):
    """A PCA of rows that span 5 of 8 directions has three components of rounding errors."""
    spanning = RNG.normal(size=(60, 5)) @ RNG.normal(size=(5, 8))
    others = RNG.normal(size=(10, 8))  # which the rows do not span
    pca = PCA().fit(spanning)
    moments = Moments.of(pca.transform(spanning))
    assert np.all(moments.variance[5:] < 1e-25)
    space = FeatureSpace.of(moments, one_scale)
    assert np.all(space.scale[:5] > 0)
    assert_array_equal(space.scale[5:], 0)
    assert np.all(abs(space.transform(pca.transform(others))) < 100)


def spaces(X, make):
    moments = Moments.of(make(X))
    plain = FeatureSpace.of(moments)
    components = plain.with_components(
        make(X), 4, 0.2, np.random.RandomState(0), exact_features=100
    )
    raw = FeatureSpace(moments.mean)
    whitened = raw.whitened(
        raw.rows(make(X)),
        moments.variance,
        0.4,
        np.random.RandomState(0),
        exact_features=100,
        n_directions=3,
        n_iter=2,
    )
    few = raw.whitened(
        raw.rows(make(X)),
        moments.variance,
        0.4,
        np.random.RandomState(0),
        exact_features=3,
        n_directions=2,
        n_iter=2,
    )
    principal = FeatureSpace.principal(make(X), 3, np.random.RandomState(0))
    return {
        "scaled": plain,
        "raw": raw,
        "centered": FeatureSpace.centered(make(X)),
        "components": components,
        "whitened": whitened,
        "whitened in few directions": few,
        "principal": principal,
    }


@every_format
@pytest.mark.parametrize("name", spaces(ROWS, np.asarray))
@pytest.mark.parametrize("change", [(1, 0), (1000, 7), (1, 1e7), (1e-100, 0), (1e100, 0)])
def test_folded_weights_project_raw_rows_as_weights_do_inside(make, name, change):
    X = change[0] * ROWS + change[1]
    space = spaces(X, make)[name]
    inside = space.transform(make(X))
    weights = RNG.normal(size=(inside.shape[1], 5))
    offsets = RNG.normal(size=5) * np.abs(inside).max()
    components, intercept = space.fold(weights, offsets, np.float64)
    assert components.shape == (5, 7)
    expected = inside @ weights + offsets
    digits = 1e-12 * (1 + abs(change[1]))
    assert_allclose(X @ components.T + intercept, expected, atol=digits * np.abs(expected).max())


def test_fold_and_unfold_undo_each_other():
    space = FeatureSpace.of(Moments.of(ROWS))
    weights, offsets = RNG.normal(size=(7, 4)), RNG.normal(size=4)
    weights[3] = 0  # the constant feature
    found = space.unfold(*space.fold(weights, offsets, np.float64))
    assert_allclose(found[0], weights)
    assert_allclose(found[1], offsets)


@every_format
@pytest.mark.parametrize("change", [(1000, 7), (1e-100, 0), (1e100, 0), (3, 1e7)])
def test_neither_scale_nor_offset_changes_what_is_inside(make, change):
    expected = FeatureSpace.of(Moments.of(ROWS)).transform(ROWS)
    X = change[0] * ROWS + change[1]
    found = FeatureSpace.of(Moments.of(make(X))).transform(make(X))
    assert_allclose(found, expected, atol=1e-6)


@every_format
@every_dtype
def test_moments_of_blocks_are_those_of_all_rows(make, dtype):
    X = (ROWS + 100).astype(dtype)
    moments = Moments.of(make(X[:1]))
    for start, stop in ((1, 13), (13, 14), (14, 60)):
        moments = moments + Moments.of(make(X[start:stop]))
    assert moments.n_rows == 60
    assert moments.dtype == np.dtype(dtype).name
    assert_allclose(moments.mean, X.mean(axis=0, dtype=float), rtol=1e-12)
    assert_allclose(moments.variance, X.astype(float).var(axis=0), rtol=1e-10, atol=1e-10)
    mixed = moments + Moments.of(ROWS)
    assert mixed.dtype == "float64"
    assert mixed.rounding == moments.rounding


@every_format
def test_variances_keep_their_digits_at_large_offsets(make):
    X = ROWS + 1e7
    rows = CenteredRows(make(X), column_means(make(X)))
    assert_allclose(rows.variances(), ROWS.var(axis=0), rtol=1e-7)


def test_entries_of_sparse_rows_may_be_sums():
    whole = sparse.csr_array(ROWS)
    parts = np.repeat(whole.data / 2, 2), np.repeat(whole.indices, 2), 2 * whole.indptr
    sums = sparse.csr_array(parts, shape=whole.shape)
    for part in ("mean", "variance"):
        found, expected = (getattr(Moments.of(rows), part) for rows in (sums, ROWS))
        assert_allclose(found, expected, atol=1e-12)
    assert sums.nnz == 2 * whole.nnz


def test_sparse_rows_stay_sparse(monkeypatch):
    X = sparse.random_array((300, 50_000), density=1e-3, random_state=0, format="csr")
    for kind in (sparse.csr_array, sparse.csc_array):
        monkeypatch.setattr(kind, "toarray", lambda *_: pytest.fail("made dense"))
    moments = Moments.of(X)
    space = FeatureSpace.of(moments)
    assert (space.rows(X) @ np.ones((50_000, 2))).shape == (300, 2)
    inside = space.with_components(X, 3, 0.2, np.random.RandomState(0), exact_features=10)
    assert inside.transform(X).shape == (300, 3)


@every_dtype
def test_hyperplanes_that_do_not_fit_are_divided_by_a_power_of_two(dtype):
    largest = 2.0**127
    components = np.array([[1e3, -1.0], [0.5, 2.0]])
    same = fit_into(dtype, components, np.array([1.0, -3.0]))
    assert_array_equal(same.components_, components)
    assert same.components_.dtype == same.intercept_.dtype == dtype
    if dtype == np.float32:
        huge = fit_into(dtype, components * largest, np.array([1.0, -3.0]) * largest)
        factor = components[0, 0] / huge.components_[0, 0]
        assert np.log2(factor) == np.round(np.log2(factor))
        assert_allclose(huge.components_ * factor, components, rtol=1e-6)
        assert_allclose(huge.intercept_ * factor, [1, -3], rtol=1e-6)


@pytest.mark.parametrize("shape", [(20, 90), (200, 90), (20, 1200)])
@every_format
def test_all_ways_to_principal_directions_agree(shape, make):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(shape[0], 5)) * 3.0 ** -np.arange(5) @ rng.normal(size=(5, shape[1])) + 1
    rows = CenteredRows(make(X), X.mean(axis=0))
    variances, directions = leading_directions(rows, 3, np.random.RandomState(0))
    _, lengths, right = np.linalg.svd(X - X.mean(axis=0), full_matrices=False)
    assert_allclose(variances, lengths[:3] ** 2 / shape[0], rtol=1e-6)
    assert_allclose(np.abs(right[:3] @ directions), np.eye(3), atol=1e-5)
    assert_allclose(directions.T @ directions, np.eye(3), atol=1e-10)
    assert np.all(directions.max(axis=0) >= -directions.min(axis=0))


@every_format
@pytest.mark.parametrize("n_features", [6, 1200])
def test_rows_without_variance_have_orthonormal_directions_too(make, n_features):
    rows = CenteredRows(make(np.zeros((9, n_features))), np.zeros(n_features))
    variances, directions = leading_directions(rows, 4, np.random.RandomState(0))
    assert_array_equal(variances, 0)
    assert_allclose(directions.T @ directions, np.eye(4), atol=1e-12)


def test_a_symmetric_basis_is_the_literal_matrix():
    directions = np.linalg.qr(RNG.normal(size=(5, 2)))[0]
    basis = Basis(directions, np.array([3.0, 2.0]), 0.5)
    expected = 0.5 * np.eye(5) + directions @ np.diag([2.5, 1.5]) @ directions.T
    assert_allclose(basis.lift(np.eye(5)), expected)
    assert basis.n_inside == 5
    assert_allclose(basis._replace(rest=None).lift(np.eye(2)), directions * [3, 2])


@every_format
@pytest.mark.parametrize(
    ("factor", "message"),
    [(1e-160, "so small that their variance underflows"), (1e160, "variance overflows")],
)
def test_what_squares_cannot_be_taken_of_is_refused(make, factor, message):
    X = make(factor * ROWS)
    for learn in (
        Moments.of,
        FeatureSpace.centered,
        lambda X: FeatureSpace.principal(X, 2, np.random.RandomState(0)),
    ):
        with pytest.raises(ValueError, match=message):
            learn(X)


@every_format
@pytest.mark.parametrize("value", [0, 1e-160, 0.1, 1e100])
def test_constant_rows_are_not_refused(make, value):
    moments = Moments.of(make(np.full((30, 4), float(value))))
    assert not moments.varies.any()
    assert_array_equal(FeatureSpace.of(moments).scale, 0)


@pytest.mark.parametrize("factor", [1.0, 1e-140, 1e140])
def test_one_scale_is_one_formula(factor):
    X = factor * np.random.default_rng(0).normal(size=(30, 5)) * [1, 2, 3, 4, 0]
    alike, unit = FeatureSpace.of(Moments.of(X), one_scale=True), FeatureSpace.unit(X)
    assert_allclose(np.mean(alike.transform(X)[:, :4] ** 2), 1)
    assert_allclose(np.mean((unit.transform(X) ** 2).sum(axis=1)), 1)
    assert_array_equal(alike.transform(X)[:, 4], 0)
    assert_allclose(alike.scale, 2 * unit.scale)
    for space in (FeatureSpace.of(Moments.of(0 * X), one_scale=True), FeatureSpace.unit(0 * X)):
        assert_array_equal(space.transform(X), 0)


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array])
def test_products_with_vectors_are_columns_of_products_with_matrices(make):
    rng = np.random.default_rng(0)
    X, u, v = rng.normal(size=(20, 5)), rng.normal(size=20), rng.normal(size=5)
    rows, centered = CenteredRows(make(X), X.mean(axis=0)), X - X.mean(axis=0)
    assert_allclose(rows.T @ u, centered.T @ u, atol=1e-12)
    assert_allclose(rows.T @ u[:, None], centered.T @ u[:, None], atol=1e-12)
    assert_allclose(rows @ v, centered @ v, atol=1e-12)
