"""GIST: the descriptor as it is defined, whatever form the images have."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.pipeline import make_pipeline
from sklearn.utils import estimator_checks
from sklearn.utils.estimator_checks import parametrize_with_checks

from sklearn_hashrank import ITQHasher
from sklearn_hashrank.feature_extraction import GIST, _gist, gabor_filters
from tests.hashers.test_common import CHECKS_OF_FRAMES, EXTRA_CHECKS
from tests.oracle import gist as oracle

# scikit-learn's checks bring rows of all lengths: here, images of one line.
ONE_LINE = GIST((1, -1), n_blocks=1)


def images_of(*shape, seed=0):
    """Smooth random images of bytes."""
    noise = np.random.default_rng(seed).normal(size=shape)
    for axis in (1, 2):
        noise = noise + np.roll(noise, 1, axis) + np.roll(noise, 2, axis)
    noise -= noise.min()
    return np.round(255 * noise / noise.max()).astype(np.uint8)


@parametrize_with_checks([ONE_LINE])
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.mark.filterwarnings("ignore:X (does not have valid|has) feature names:UserWarning")
@pytest.mark.parametrize(
    "name", sorted({*EXTRA_CHECKS, *CHECKS_OF_FRAMES} - {"check_inplace_ensure_writeable"})
)
def test_checks_left_out_by_check_estimator(name):
    getattr(estimator_checks, name)("GIST", clone(ONE_LINE))


@pytest.mark.parametrize(
    ("shape", "parameters", "literal"),
    [
        ((24, 24), {}, {}),
        ((8, 8), {}, {}),
        ((9, 14, 3), {}, {}),
        ((21, 12, 1), {"n_blocks": 3, "orientations": [3, 6]}, {}),
        ((12, 17), {"prefilter": None}, {"cycles": None}),
        ((16, 16, 3), {"prefilter": 2.5}, {"cycles": 2.5}),
        ((11, 10), {"boundary_extension": 0, "n_blocks": 1}, {"extension": 0}),
        ((10, 13), {"boundary_extension": 7}, {"extension": 7}),
    ],
)
def test_gist_is_the_literal_descriptor(shape, parameters, literal):
    images = images_of(2, *shape)
    names = {"n_blocks", "orientations"} & set(parameters)
    literal = {**literal, **{name: parameters[name] for name in names}}
    features = GIST(**parameters).fit_transform(images)
    assert features.dtype == np.float32
    expected = [oracle.gist(image, **literal) for image in images]
    assert_allclose(features, expected, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("shape", [(12, 12), (15, 10)])
def test_filters_are_the_literal_ones(shape):
    filters = gabor_filters(shape, (2, 3))
    expected = [
        np.fft.ifftshift(oracle.gabor_filter(*shape, scale, orientation, n_orientations))
        for scale, n_orientations in enumerate((2, 3))
        for orientation in range(n_orientations)
    ]
    assert_allclose(filters, expected, atol=1e-14)


@pytest.mark.parametrize("shape", [(16, 16), (8, 12), (8, 12, 1), (10, 8, 3)])
def test_flattened_rows_and_images_have_the_same_descriptor(shape):
    images = images_of(5, *shape)
    rows = images.reshape(5, -1)
    expected = GIST().transform(images)
    assert_array_equal(GIST(shape).transform(rows), expected)
    assert_array_equal(GIST((-1, *shape[1:])).fit(images).transform(rows), expected)
    assert_array_equal(GIST(shape).transform(images), expected)
    assert_array_equal(GIST().transform(list(images)), expected)
    if shape == (16, 16):
        assert_array_equal(GIST().transform(rows.tolist()), expected)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, np.int64])
def test_type_and_range_do_not_matter(dtype):
    images = images_of(4, 8, 8, 3)
    assert_allclose(
        GIST().transform(images.astype(dtype)), GIST().transform(images), rtol=1e-6, atol=1e-7
    )


@settings(max_examples=20)
@given(st.floats(1e-3, 1e3), st.floats(-1e3, 1e3))
def test_brightness_and_contrast_of_the_whole_image_do_not_matter(scale, offset):
    images = images_of(2, 8, 10)
    assert_allclose(
        GIST().transform(scale * images + offset), GIST().transform(images), rtol=1e-5, atol=1e-6
    )


def test_extreme_values_give_finite_features():
    images = images_of(1, 8, 8, 3) / 255
    features = GIST().transform(images)
    for factor in (-1e308, 1e308, 1e-300):
        found = GIST().transform(factor * (images if factor > 0 else images - 1))
        assert np.isfinite(found).all()
        assert factor < 0 or np.allclose(found, features, rtol=1e-5)


def test_an_image_of_one_brightness_has_no_features():
    images = np.stack([np.full((8, 8), 7), np.zeros((8, 8)), np.eye(8)])
    features = GIST().transform(images)
    assert not features[:2].any()
    assert features[2].all()


def test_rows_are_described_one_by_one(monkeypatch):
    images = images_of(20, 12, 9)
    features = GIST().transform(images)
    assert_array_equal(GIST(n_jobs=2).transform(images), features)
    assert_array_equal(GIST().transform(images[::-2]), features[::-2])
    monkeypatch.setattr(_gist, "_BATCH_PIXELS", 20_000)  # batches of 3
    assert_array_equal(GIST(n_jobs=2).transform(images), features)


def test_the_filter_bank_is_built_once_for_a_shape(monkeypatch):
    built = []

    def counted(*arguments):
        built.append(arguments)
        return gabor_filters(*arguments)

    monkeypatch.setattr(_gist, "gabor_filters", counted)
    _gist._cached_bank.cache_clear()
    for shape in ((8, 8), (8, 8), (8, 8, 3), (8, 9)):
        GIST().fit_transform(images_of(2, *shape))
    assert [shape for shape, _ in built] == [(72, 72), (72, 73)]


def test_features_stand_where_their_names_say():
    gist = GIST(n_blocks=2, orientations=(4, 4))
    x = np.arange(64)
    stripes = np.zeros((2, 64, 64))
    stripes[0, :32, 32:] = np.sin(2 * np.pi * 0.3 * x[32:])  # fine, upright, top right
    stripes[1, 32:, :32] = np.sin(2 * np.pi * 0.162 * x[32:, None])  # coarse, lying, bottom left
    names = gist.fit(stripes).get_feature_names_out()
    assert names.shape == (32,)
    assert len(set(names)) == 32
    best = names[gist.transform(stripes).argmax(axis=1)]
    assert_array_equal(best, ["gist_s0_o0_r0_c1", "gist_s1_o2_r1_c0"])
    assert_array_equal(GIST(n_blocks=2, orientations=(4, 4)).get_feature_names_out(), names)


def test_transposing_an_image_permutes_its_features():
    images = images_of(3, 15, 19)  # odd, so that no frequency is its own opposite
    transposed = np.swapaxes(images, 1, 2)
    # Direction a becomes 90 degrees - a, up to the sign, which a magnitude does not see. Not
    # exactly: the mean of an image, which has no direction, passes filters of direction 0 best.
    features, found = (
        GIST(boundary_extension=16).transform(X).reshape(3, 4, 8, 4, 4)
        for X in (images, transposed)
    )
    order = (4 - np.arange(8)) % 8
    assert_allclose(np.swapaxes(found[:, :, order], 3, 4), features, atol=2e-3)


@pytest.mark.learning
def test_gist_in_a_pipeline_and_as_a_data_frame():
    X, y = load_digits(return_X_y=True)
    X, y = X[:200], y[:200]
    model = make_pipeline(GIST(), ITQHasher(n_bits=8, random_state=0)).fit(X, y)
    assert model.score(X, y) > 0.2
    assert model.predict(X).shape == (200, 8)
    frame = GIST().set_output(transform="pandas").fit_transform(X[:5])
    assert frame.columns[17] == "gist_s0_o1_r1_c0"
    assert (frame.dtypes == np.float32).all()


@pytest.mark.parametrize(
    ("parameters", "shape", "message"),
    [
        ({}, (2, 3072), r"must be a square number. Got n_features = 3072: give image_shape"),
        ({"image_shape": (8, 9)}, (2, 64), r"\(8, 9\) does not fit rows of n_features = 64"),
        ({"image_shape": (-1, -1)}, (2, 64), r"\(-1, -1\) does not fit rows"),
        ({"image_shape": ("8", 8)}, (2, 64), r"does not fit rows of n_features = 64"),
        ({"image_shape": (8, 9)}, (2, 9, 8), r"shape \(9, 8\), but image_shape=\(8, 9\)"),
        ({"image_shape": (64,)}, (2, 64), r"Got images of shape \(64,\)"),
        ({}, (2, 8, 8, 4), r"Got images of shape \(8, 8, 4\)"),
        ({}, (2, 1, 8, 8, 3), r"Got images of shape \(1, 8, 8, 3\)"),
        ({}, (0, 8, 8), r"Found array with 0 sample\(s\)"),
        ({}, (2, 8, 3), r"at least n_blocks=4 pixels high and wide. Got images of 8 x 3 pixels"),
        ({"orientations": ()}, (2, 64), r"sequence of positive integers.*Got \(\)"),
        ({"orientations": (8, 0)}, (2, 64), r"Got \(8, 0\)"),
        ({"orientations": (8, 2.5)}, (2, 64), r"Got \(8, 2.5\)"),
        ({"orientations": 8}, (2, 64), r"The 'orientations' parameter.*Got 8 instead"),
        ({"n_blocks": 0}, (2, 64), r"The 'n_blocks' parameter.*Got 0 instead"),
        ({"prefilter": 0}, (2, 64), r"The 'prefilter' parameter.*Got 0 instead"),
        ({"boundary_extension": -1}, (2, 64), r"The 'boundary_extension' parameter.*Got -1"),
    ],
)
def test_errors_name_what_was_given(parameters, shape, message):
    with pytest.raises(ValueError, match=message):
        GIST(**parameters).fit(np.ones(shape))


def test_images_of_several_shapes_and_missing_values_are_refused():
    with pytest.raises(ValueError, match=r"\[\(8, 8\), \(8, 9\)\]"):
        GIST().fit([np.ones((8, 8)), np.ones((8, 9))])
    with pytest.raises(ValueError, match="NaN"):
        GIST().fit(np.full((1, 8, 8), np.nan))
    with pytest.raises(ValueError, match="X has 81 features, but GIST is expecting 64 features"):
        GIST().fit(np.ones((1, 8, 8))).transform(np.ones((1, 9, 9)))
