"""What a hasher keeps does not change with the arrays that it was given."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import clone

from tests.instances import ENCODERS, HASHERS

RNG = np.random.default_rng(0)
X = RNG.normal(size=(120, 6))
Y = np.arange(120) % 4
VECTORS = RNG.normal(size=(120, 2))
BLOCKS = np.split(np.arange(120), 3)
every_hasher = pytest.mark.parametrize("hasher", HASHERS, ids=repr)


@every_hasher
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_rows_may_be_overwritten_after_a_fit(hasher, dtype):
    rows, y = X.astype(dtype), Y.copy()
    fitted = clone(hasher).fit(rows, y)
    projections, codes = fitted.decision_function(X.astype(dtype)), fitted.codes_.copy()
    rows[:] = y[:] = 7
    assert_array_equal(fitted.decision_function(X.astype(dtype)), projections)
    assert_array_equal(fitted.training_database()[0], codes)
    assert not fitted.y_.flags.writeable


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("targets", [Y, VECTORS, None], ids=["classes", "vectors", "none"])
@pytest.mark.parametrize(
    "hasher", [each for each in ENCODERS if hasattr(each, "partial_fit")], ids=repr
)
def test_blocks_may_come_in_one_buffer(hasher, dtype, targets):
    apart, together = clone(hasher), clone(hasher)
    buffer = np.empty((40, 6), dtype)
    y = None if targets is None else np.empty_like(targets[:40])
    for block in BLOCKS:
        apart.partial_fit(X[block].astype(dtype), None if y is None else targets[block])
        buffer[:] = X[block]
        if y is not None:
            y[:] = targets[block]
        together.partial_fit(buffer, y)
    buffer[:] = 7
    assert_array_equal(together.decision_function(X), apart.decision_function(X))
