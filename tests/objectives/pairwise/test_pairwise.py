"""What holds for every objective of pairs, and for the distances they stand on."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.distance import cdist

from sklearn_hashrank.objectives import PairwiseObjective
from sklearn_hashrank.objectives._objective_names import ZONES
from sklearn_hashrank.objectives.pairwise._distances import CityBlock, SquaredEuclidean
from tests.objectives.differences import central_differences
from tests.objectives.ranking.batches import shared_labels
from tests.oracle.pairs import LOSSES, l1, mean_loss, squared_l2

LEVELS = np.array([0.0, 1.0, 2.0])
PRINTED = {"margin": 2.0, "zone": (1 / 6, 1 / 3)}

every_objective = pytest.mark.parametrize("name", sorted(ZONES))
both_distances = pytest.mark.parametrize(
    ("metric", "literal"), [(SquaredEuclidean, squared_l2), (CityBlock, l1)]
)


def make(name, **options):
    return ZONES[name](**options)


def test_every_objective_has_an_oracle():
    assert set(ZONES) == set(LOSSES)


@every_objective
@pytest.mark.parametrize("scale", [0.1, 0.4, 1.0, 3.0])
def test_value_is_the_printed_formula(name, scale):
    rng = np.random.default_rng(0)
    codes, level = scale * rng.normal(size=(9, 6)), shared_labels(9, rng)
    objective = make(name, **PRINTED, regularization=0.3)
    value, _ = objective.value_and_gradient(codes, level, LEVELS)
    assert -value == pytest.approx(mean_loss(name, codes.tolist(), level, 0.3), rel=1e-12)


@every_objective
@pytest.mark.parametrize("symmetric", [True, False])
@pytest.mark.parametrize("scale", [0.1, 0.4, 1.0, 3.0])
def test_gradient_is_that_of_finite_differences(name, scale, symmetric):
    rng = np.random.default_rng(1)
    codes = scale * rng.normal(size=(9, 6))
    level = shared_labels(9, rng) if symmetric else rng.integers(0, 3, (9, 9)).astype(np.uint8)
    objective = make(name, regularization=0.3)
    _, gradient = objective.value_and_gradient(codes, level, LEVELS)
    numeric = central_differences(
        lambda u: objective.value_and_gradient(u, level, LEVELS)[0], codes, 1e-7
    )
    assert_allclose(gradient, numeric, rtol=1e-6, atol=1e-7)


@every_objective
@given(seed=st.integers(0, 10**6))
@settings(max_examples=40)
def test_on_kinks_the_gradient_is_the_mean_of_those_of_the_two_sides(name, seed):
    """Codes of few values: equal bits, zeros, ones, and distances at the very end of a zone."""
    rng = np.random.default_rng(seed)
    codes = rng.choice([-1.0, -0.5, 0.0, 0.5, 1.0], (5, 12))
    codes[1] = codes[0]
    codes[1, :4] += 0.5 * rng.integers(0, 2, 4)
    level = shared_labels(5, rng)
    objective = make(name, regularization=0.3)
    _, gradient = objective.value_and_gradient(codes, level, LEVELS)
    numeric = central_differences(
        lambda u: objective.value_and_gradient(u, level, LEVELS)[0], codes, 1e-6
    )
    assert_allclose(gradient, numeric, atol=1e-7)


@every_objective
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_precision_is_kept(name, dtype):
    rng = np.random.default_rng(2)
    codes, level = rng.normal(size=(20, 6)), shared_labels(20, rng)
    value, gradient = make(name).value_and_gradient(codes.astype(dtype), level, LEVELS)
    expected_value, expected = make(name).value_and_gradient(codes, level, LEVELS)
    assert gradient.dtype == dtype
    assert value == pytest.approx(expected_value, rel=1e-5)
    assert_allclose(gradient, expected, atol=1e-5)


@every_objective
@given(data=st.data())
@settings(max_examples=30)
def test_values_and_gradients_are_finite(name, data):
    dtype, limit = data.draw(st.sampled_from([(np.float32, 2.0**50), (np.float64, 2.0**500)]))
    shape = data.draw(st.tuples(st.integers(1, 6), st.integers(1, 5)))
    finite = st.floats(-limit, limit, width=8 * np.dtype(dtype).itemsize)
    codes = data.draw(arrays(dtype, shape, elements=finite | st.sampled_from([-1.0, 0.0, 1.0])))
    level = data.draw(arrays(np.uint8, (shape[0], shape[0]), elements=st.integers(0, 2)))
    value, gradient = make(name).value_and_gradient(codes, level, LEVELS)
    assert np.isfinite(value)
    assert np.isfinite(gradient).all()


@every_objective
def test_order_of_rows_and_signs_of_bits_do_not_matter(name):
    rng = np.random.default_rng(3)
    codes, level = rng.normal(size=(10, 6)), shared_labels(10, rng)
    value, gradient = make(name).value_and_gradient(codes, level, LEVELS)
    order, signs = rng.permutation(10), rng.choice([-1, 1], 6)
    changed_value, changed = make(name).value_and_gradient(
        codes[order] * signs, level[np.ix_(order, order)], LEVELS
    )
    assert changed_value == pytest.approx(value, rel=1e-12)
    assert_allclose(changed, gradient[order] * signs, atol=1e-14)


@every_objective
def test_nobody_is_paired_with_itself(name):
    rng = np.random.default_rng(4)
    codes, level = rng.normal(size=(10, 6)), shared_labels(10, rng)
    value, gradient = make(name).value_and_gradient(codes, level, LEVELS)
    np.fill_diagonal(level, 0)
    other_value, other = make(name).value_and_gradient(codes, level, LEVELS)
    assert other_value == value
    assert_array_equal(other, gradient)
    lonely, _ = make(name, regularization=0.0).value_and_gradient(codes[:1], level[:1, :1], LEVELS)
    assert lonely == 0


@both_distances
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_distances_are_those_of_every_bit(metric, literal, dtype):
    codes = np.random.default_rng(5).normal(size=(11, 7)).astype(dtype)
    expected = [[literal(u, v) for v in codes.tolist()] for u in codes.tolist()]
    distances = metric.distances(codes)
    assert distances.dtype == dtype
    assert_allclose(distances, expected, atol=20 * np.finfo(dtype).eps)


@both_distances
def test_distances_of_signs_are_multiples_of_the_hamming_distance(metric, literal):
    codes = np.random.default_rng(6).choice([-1.0, 1.0], (12, 9))
    hamming = cdist(codes > 0, codes > 0, "hamming") * 9
    factor = {SquaredEuclidean: 4, CityBlock: 2}[metric]
    assert_allclose(metric.distances(codes), factor * hamming, atol=1e-12)


def test_zones_of_the_paper():
    infinity = np.inf
    zones = {name: 12 * make(name, **PRINTED).zones(LEVELS) for name in ZONES}
    assert_allclose(zones["nested"][:, 0], [[24, infinity], [2, 4], [2, 4]])
    assert_allclose(zones["nested"][:, 1], [[0, infinity], [0, infinity], [1, 2]])
    assert_allclose(zones["dsh"], [[24, infinity], [0, 0], [0, 0]])
    assert_allclose(zones["dispersed"], [[24, infinity], [2, 4], [2, 4]])
    assert_allclose(zones["hierarchical"], [[24, infinity], [2, 4], [1, 2]])
    deeper = 12 * make("hierarchical", **PRINTED).zones(np.array([0.0, 1.0, 2.0, 3.0]))
    assert_allclose(deeper, [[24, infinity], [2, 4], [1, 2], [0.5, 1]])


@pytest.mark.parametrize(
    ("name", "expected"), [("nested", {0: 3, 2: 1, 12: 6}), ("hierarchical", {0: 1, 2: 0, 12: 4})]
)
def test_a_pair_of_one_class_of_24_bits(name, expected):
    """What it costs at city-block distances that few bits make."""
    level = np.array([[0, 2], [2, 0]], dtype=np.uint8)
    for distance, loss in expected.items():
        codes = np.ones((2, 24))
        codes[1, : distance // 2] = -1
        objective = make(name, **PRINTED, regularization=0.0)
        value, _ = objective.value_and_gradient(codes, level, LEVELS)
        assert -value == pytest.approx(loss)


def test_what_is_printed_is_the_default_where_it_has_a_name_of_its_own():
    printed = {
        name for name in ZONES if make(name).get_params() == make(name, **PRINTED).get_params()
    }
    assert printed == {"dsh", "nested"}


@pytest.mark.parametrize("name", ["hierarchical", "nested"])
def test_one_level_is_no_hierarchy(name):
    rng = np.random.default_rng(7)
    codes, level = rng.normal(size=(10, 6)), np.minimum(shared_labels(10, rng), 1)
    value, gradient = make(name, **PRINTED).value_and_gradient(codes, level, LEVELS)
    one_zone = make("dispersed", **PRINTED)
    expected_value, expected = one_zone.value_and_gradient(codes, level, LEVELS)
    assert value == expected_value
    assert_array_equal(gradient, expected)


def test_a_new_objective_is_one_class():
    class Halfway(PairwiseObjective):
        """Irrelevant pairs at half of the bits, neither nearer nor farther."""

        metric = "cityblock"

        def zones(self, levels):
            return np.where((levels > 0)[:, None], (0.0, 0.0), (1.0, 1.0))

    codes = np.array([[1.0, 1.0], [1.0, 1.0], [1.0, -1.0], [-1.0, -1.0]])
    level = np.array([[0, 1, 0, 0], [1, 0, 0, 0], [0, 0, 0, 1], [0, 0, 1, 0]], dtype=np.uint8)
    value, _ = Halfway().value_and_gradient(codes, level, np.array([0.0, 1.0]))
    assert value == pytest.approx(-(2 + 2 + 2) / 12)


@every_objective
@pytest.mark.parametrize("zone", [(0.3, 0.2), (-0.1, 0.2), (0.1, 0.2, 0.3), ("near", "far")])
def test_a_zone_is_two_distances(name, zone):
    codes, level = np.ones((3, 4)), np.zeros((3, 3), dtype=np.uint8)
    with pytest.raises(ValueError, match=r"two distances per bit, 0 <= low <= high. Got \("):
        make(name, zone=zone).value_and_gradient(codes, level, LEVELS)
