"""Hashers whose first bits are codes, and shorter hashers made of longer ones."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import clone
from sklearn.datasets import load_digits

from sklearn_hashrank import (
    KLSHHasher,
    KSHHasher,
    StructHasher,
    TALRKernel,
    TALRLinear,
    load_hasher,
    save_hasher,
)
from sklearn_hashrank.base import LinearHasher
from sklearn_hashrank.codes import truncate_codes
from sklearn_hashrank.interop import to_faiss_index
from tests.instances import HASHERS

OTHERS = (KLSHHasher, KSHHasher, StructHasher, TALRKernel)
TRUNCATED = [hasher for hasher in HASHERS if isinstance(hasher, (LinearHasher, *OTHERS))]


@pytest.mark.learning
def test_first_bits_are_better_codes_than_those_of_a_plain_hasher():
    X, y = load_digits(return_X_y=True)
    gains, losses = [], []
    for seed in range(3):
        options = {"max_iter": 40, "random_state": seed}
        plain = TALRLinear(24, **options).fit(X[:800], y[:800])
        nested = TALRLinear(24, prefixes=(6, 24), **options).fit(X[:800], y[:800])
        short, long = (
            [each.truncate(n).score(X[800:], y[800:]) for each in (nested, plain)] for n in (6, 24)
        )
        gains.append(short[0] - short[1])
        losses.append(long[1] - long[0])
    assert np.mean(gains) > 0.03
    assert np.mean(losses) < 0.03


@pytest.mark.parametrize("hasher", TRUNCATED, ids=repr)
def test_truncated_hashers_give_the_first_bits(hasher, tmp_path):
    X, y = load_digits(return_X_y=True)
    X, y = X[:120] / 16, y[:120] % 3
    hasher = clone(hasher).set_params(n_bits=13).fit(X, y)
    codes = hasher.predict(X)
    for n_bits in (1, 8, 11, 13):
        shorter = hasher.truncate(n_bits)
        assert type(shorter) is type(hasher)
        assert shorter.n_bits_ == shorter.get_params()["n_bits"] == n_bits
        assert_array_equal(shorter.predict(X), codes[:, :n_bits])
        assert_array_equal(shorter.codes_, truncate_codes(hasher.codes_, n_bits))
        assert_array_equal(shorter.packed_codes(X), shorter.codes_)
        assert 0 < shorter.score(X, y) <= 1
        save_hasher(tmp_path / "hasher.npz", shorter)
        assert_array_equal(load_hasher(tmp_path / "hasher.npz").predict(X), codes[:, :n_bits])
    assert_array_equal(hasher.predict(X), codes)
    assert hasher.get_params()["n_bits"] == 13


@pytest.mark.learning
def test_kernels_learn_prefixes():
    X, y = load_digits(return_X_y=True)
    gains = []
    for seed in range(3):
        options = {"n_anchors": 150, "max_iter": 20, "random_state": seed}
        plain = TALRKernel(24, **options).fit(X[:600], y[:600])
        nested = TALRKernel(24, prefixes=(6, 24), **options).fit(X[:600], y[:600])
        short = [each.truncate(6).score(X[600:], y[600:]) for each in (nested, plain)]
        gains.append(short[0] - short[1])
    assert np.mean(gains) > 0.03
    assert nested.truncate(6).prefixes == (6,)
    with pytest.raises(ValueError, match="24 bits.*n_bits=6"):
        nested.truncate(6).set_params(warm_start=True).fit(X[:600], y[:600])


@pytest.mark.parametrize("n_bits", [0, 14, 2.0, True, None])
def test_lengths_that_there_are_not_are_refused(n_bits):
    X, y = load_digits(return_X_y=True)
    hasher = TALRLinear(13, max_iter=1, random_state=0).fit(X[:50], y[:50])
    with pytest.raises(ValueError, match="n_bits .*13 bits"):
        hasher.truncate(n_bits)


def test_a_truncated_hasher_keeps_the_prefixes_that_are_left_and_does_not_go_on():
    X, y = load_digits(return_X_y=True)
    hasher = TALRLinear(16, prefixes=(4, 8, 16), max_iter=1, random_state=0).fit(X[:99], y[:99])
    assert hasher.truncate(8).prefixes == (4, 8)
    assert hasher.truncate(3).prefixes is None
    assert hasher.prefixes == (4, 8, 16)
    with pytest.raises(ValueError, match="16 bits.*n_bits=8"):
        hasher.truncate(8).partial_fit(X[:99], y[:99])


def test_prefixes_beyond_the_code_are_refused_before_learning():
    X, y = load_digits(return_X_y=True)
    with pytest.raises(ValueError, match="n_bits = 8.*\\(4, 16\\)"):
        TALRLinear(8, prefixes=(4, 16)).fit(X, y)
    with pytest.raises(ValueError, match="'prefixes'.*TALRLinear"):
        TALRLinear(8, prefixes=4).fit(X, y)


def test_weights_of_bits_are_truncated_too():
    X, y = load_digits(return_X_y=True)
    hasher = StructHasher(6, random_state=0).fit(X[:200], y[:200])
    assert_array_equal(hasher.truncate(4).weights_, hasher.weights_[:4])


def test_truncated_hashers_are_exported():
    pytest.importorskip("faiss")
    X, y = load_digits(return_X_y=True)
    X = X.astype(np.float32)
    hasher = TALRLinear(32, prefixes=(16, 32), max_iter=3, random_state=0).fit(X[:400], y[:400])
    index = to_faiss_index(hasher.truncate(16))
    index.add(X[:400])
    distances, _ = index.search(X[:20], 5)
    codes = hasher.predict(X[:400])[:, :16]
    expected = np.sort((codes[:20, None] != codes).sum(axis=2), axis=1)[:, :5]
    assert_array_equal(distances, expected)


def test_truncated_codes():
    rng = np.random.default_rng(0)
    bits = rng.integers(0, 2, (20, 21)).astype(np.uint8)
    packed = np.packbits(bits, axis=1)
    for n_bits in range(1, 22):
        assert_array_equal(truncate_codes(packed, n_bits), np.packbits(bits[:, :n_bits], axis=1))
    for wrong in (packed.astype(float), packed[:, :1]):
        with pytest.raises(ValueError, match="packed.*uint8.* 2 columns"):
            truncate_codes(wrong, 12)
