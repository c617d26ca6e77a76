"""Bounds of rounding hold, also where anchors are equal, rows are far away or all terms agree."""

import numpy as np
import pytest

from sklearn_hashrank._features import kernel_features as _kernel_features
from sklearn_hashrank._features.anchors import Anchors
from sklearn_hashrank._features.kernel_features import KernelFeatures

RNG = np.random.default_rng(0)
N, WIDTH = 400, 64
ROWS = {
    "normal": RNG.normal(size=(N, WIDTH)),
    "equal anchors": np.repeat(RNG.normal(size=(N // 8, WIDTH)), 8, axis=0),
    "one direction": RNG.exponential(size=(N, 1)) + 0.01 * RNG.normal(size=(N, WIDTH)),
    "far away": 1000 + RNG.normal(size=(N, WIDTH)),
    "outliers": RNG.normal(size=(N, WIDTH)) * np.where(RNG.random((N, 1)) < 0.02, 100, 1),
    "integers": RNG.integers(0, 3, size=(N, WIDTH)),
}
every_kind = pytest.mark.parametrize("kind", ROWS)


def anchors_of(kind):
    X = ROWS[kind].astype(np.float32)
    return X, Anchors.random(X, 100, np.random.RandomState(0))


@every_kind
def test_distances_round_less_than_their_bounds(kind):
    X, anchors = anchors_of(kind)
    rough, bounds = anchors.rounded_distances(X, np.dtype(np.float32))
    right, small = anchors.rounded_distances(X, np.dtype(np.float64))
    errors = np.abs(rough - right).max(axis=1)
    assert (errors <= bounds).all()
    assert np.median(errors) > bounds.min() / 1e4  # or bounds put all rows in doubt
    assert (small < bounds * 1e-8).all()


@every_kind
def test_kernel_scores_round_less_than_their_bounds(kind, monkeypatch):
    X, anchors = anchors_of(kind)
    kernels = KernelFeatures.centred(X, anchors, 0.5)
    weights = RNG.normal(size=(anchors.n, 30)).astype(np.float32)
    weights[:, :10] -= weights[:, :10].mean(axis=0)
    seen = []

    def record(scores, of_rows, slopes, offsets, alone):
        seen.append((scores.copy(), of_rows[:, None] * slopes + offsets))

    monkeypatch.setattr(_kernel_features, "settle", record)
    for dtype in (np.float32, np.float64):
        kernels.project(X, weights.astype(dtype))
    (rough, bounds), (right, _) = seen
    assert (rough.dtype, right.dtype) == (np.float32, np.float64)
    errors = np.abs(rough - right)
    assert (errors <= bounds / 2).all()
    assert np.median(errors) > bounds.min() / 1e4
