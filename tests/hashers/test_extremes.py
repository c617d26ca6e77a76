"""Every hasher at the ends of the number range: the right codes, or the same refusal of all."""

import contextlib
import functools
import itertools
import warnings

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.exceptions import ConvergenceWarning

from sklearn_hashrank import ITQHasher, LSHHasher, SignHasher, TALRKernel, TALRLinear
from sklearn_hashrank.base import LinearHasher
from tests.instances import ENCODERS
from tests.naming import naming

N_BITS = 8
FORMATS = {"dense": np.asarray, "csr": sparse.csr_array}
IN_FLOAT32 = ("DeepHasher",)  # networks compute in it, whatever rows are
# At these, values or their squares come to the ends of float32, or of float64.
SCALES = [
    *(("dense", "float32", scale) for scale in (1e-40, 1e36)),
    ("csr", "float32", 1e-40),
    *(("dense", "float64", scale) for scale in (1e-40, 1e150)),
    ("csr", "float64", 1e150),
]
# Rounding leads its cutting planes to other weights, whose quality has a
# deviation of up to .05 on three kinds of processors; a scale that breaks learning loses .5.
TOLERANCES = {"LWHHasher": 0.2}
REFUSED = {
    ("float64", 1e-162): "X holds values so small that their variance underflows. Scale it up",
    ("float32", 1e-46): "X holds values so small that their variance underflows. Scale it up",
    ("float32", 1e150): "Input X contains infinity",
}

every_hasher = pytest.mark.parametrize("hasher", ENCODERS, ids=lambda h: type(h).__name__)
every_hasher_that_multiplies = pytest.mark.parametrize(
    "hasher", [h for h in ENCODERS if not isinstance(h, SignHasher)], ids=lambda h: type(h).__name__
)
every_dtype = pytest.mark.parametrize("dtype", ["float32", "float64"])


@functools.cache
def digits():
    X, y = load_digits(return_X_y=True)
    return X[:200], y[:200]


def fit(hasher, X, y):
    hasher = clone(hasher).set_params(n_bits=N_BITS)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return hasher.fit(X, y)


def learn(hasher, scale, make, dtype):
    """Quality of the codes, which are those of finite hyperplanes and projections."""
    return learn_from(digits()[0], hasher, scale, make, dtype)


def learn_from(X, hasher, scale, make, dtype):
    _, y = digits()
    with np.errstate(over="ignore"):
        X = make((scale * X).astype(dtype))
    hasher = fit(hasher, X, y)
    projections = hasher.decision_function(X)
    for numbers in (*hyperplanes(hasher), projections):
        assert numbers.dtype == ("float32" if type(hasher).__name__ in IN_FLOAT32 else dtype)
        assert np.isfinite(numbers).all()
    assert_array_equal(np.packbits(projections > 0, axis=1), hasher.codes_)
    return hasher.score(X, y)


def hyperplanes(hasher):
    """Those of a linear hasher; none of others."""
    is_linear = isinstance(hasher, LinearHasher)
    return (hasher.components_, hasher.intercept_) if is_linear else ()


@functools.cache
def quality_at_one(name, dtype):
    """Learned in float64 from rows that `dtype` holds: WTAHasher asks which features are equal."""
    X, hasher = digits()[0].astype(dtype), {repr(h): h for h in ENCODERS}[name]
    return learn_from(X, hasher, 1.0, np.asarray, "float64")


@pytest.mark.learning
@every_hasher
def test_quality_does_not_depend_on_the_scale(hasher):
    tolerance = TOLERANCES.get(type(hasher).__name__, 0.02)
    for form, dtype, scale in SCALES:
        with naming(f"{form} {dtype} times {scale}"):
            found = learn(hasher, scale, FORMATS[form], dtype)
            assert found == pytest.approx(quality_at_one(repr(hasher), dtype), abs=tolerance)


@every_hasher_that_multiplies
def test_all_refuse_the_same_scales_in_the_same_words(hasher):
    for ((dtype, scale), message), make in itertools.product(REFUSED.items(), FORMATS.values()):
        with pytest.raises(ValueError, match=message):
            learn(hasher, scale, make, dtype)


@every_hasher
@every_dtype
def test_equal_rows_have_equal_codes_or_are_refused(hasher, dtype):
    """The answer is the same for dense and sparse rows, and for every value."""
    _, y = digits()
    for value, make in itertools.product((0.0, 1e-162, 0.1, 1e20), FORMATS.values()):
        X = np.full((50, 10), value).astype(dtype)
        warned = pytest.warns(UserWarning, match="rows of X are equal")
        if type(hasher).__name__ in ("AGHHasher", "RSHHasher"):
            refused = pytest.raises(ValueError, match="rows of X are equal")
            with warned, refused:
                fit(hasher, make(X), y[:50])
            continue
        with warned if type(hasher).__name__ != "WTAHasher" else contextlib.nullcontext():
            fitted = fit(hasher, make(X), y[:50])  # WTAHasher learns nothing from rows
        assert all(np.isfinite(numbers).all() for numbers in hyperplanes(fitted))
        assert np.isfinite(fitted.decision_function(make(X))).all()
        assert len(np.unique(fitted.codes_, axis=0)) == 1


@every_hasher_that_multiplies
def test_values_whose_squares_overflow_are_refused_by_all(hasher):
    with pytest.raises(ValueError, match="variance overflows"):
        learn(hasher, 1e200, np.asarray, "float64")


@pytest.mark.learning
@pytest.mark.parametrize("hasher", [h for h in ENCODERS if hasattr(h, "partial_fit")], ids=repr)
def test_blocks_of_float32_subnormals_teach_too(hasher):
    X, y = digits()
    hasher = clone(hasher).set_params(n_bits=N_BITS)
    for rows in (slice(100), slice(100, 200)):
        hasher.partial_fit((1e-40 * X[rows]).astype(np.float32), y[rows])
    expected = clone(hasher)
    for rows in (slice(100), slice(100, 200)):
        expected.partial_fit(X[rows], y[rows])
    found = hasher.score((1e-40 * X).astype(np.float32), y)
    assert found == pytest.approx(expected.score(X, y), abs=0.02)


@pytest.mark.parametrize("make", [LSHHasher, ITQHasher, TALRLinear, TALRKernel])
def test_the_warning_of_equal_rows_points_at_the_call_of_fit(make):
    with pytest.warns(UserWarning, match="rows of X are equal") as warned:
        make(4, random_state=0).fit(np.ones((20, 5)), np.arange(20) % 2)
    assert [each.filename for each in warned if "equal" in str(each.message)] == [__file__]
