"""Parameters that validation must not let pass."""

import numpy as np
import pytest
from sklearn.utils._param_validation import InvalidParameterError

from sklearn_hashrank import HammingNeighbors, ITQHasher, LSHHasher, LWHHasher, TALRLinear
from sklearn_hashrank._utils.integers import is_int
from sklearn_hashrank._utils.threads import check_n_jobs
from sklearn_hashrank.rows import check_batch_size

X = np.random.default_rng(0).normal(size=(20, 4))
Y = np.arange(20) % 2


@pytest.mark.parametrize("value", [True, np.True_, False])
@pytest.mark.parametrize(
    ("estimator", "parameter"),
    [
        (LSHHasher(), "n_bits"),
        (ITQHasher(2), "max_iter"),
        (TALRLinear(2), "batch_size"),
        (LWHHasher(2), "tol"),
        (HammingNeighbors(), "n_neighbors"),
        (HammingNeighbors(), "n_bits"),
        (HammingNeighbors(), "radius"),
    ],
)
def test_booleans_are_no_numbers(estimator, parameter, value):
    data = (X > 0) * 1 if isinstance(estimator, HammingNeighbors) else X
    message = f"The '{parameter}' parameter of {type(estimator).__name__} must be .*{value!r}"
    with pytest.raises(InvalidParameterError, match=message):
        estimator.set_params(**{parameter: value}).fit(data, Y)


def test_booleans_pass_where_they_are_meant():
    assert TALRLinear(2, max_iter=1, verbose=False, early_stopping=False).fit(X, Y).n_bits_ == 2


@pytest.mark.parametrize("value", [True, np.False_, 1.0, "1", None])
def test_one_helper_says_what_an_int_is(value):
    assert not is_int(value)
    assert is_int(1)
    assert is_int(np.uint8(3), 3)
    assert not is_int(np.int64(-1), 0)
    for check in (check_n_jobs, check_batch_size):
        if value is not None:
            with pytest.raises(ValueError, match="must be"):
                check(value)
