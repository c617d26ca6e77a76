"""Batches of many classes: how well features tell them apart, and what follows."""

import numpy as np
import pytest
from scipy import sparse

from sklearn_hashrank import DispersionHasher, TALRKernel, TALRLinear
from sklearn_hashrank._features.moments import Moments
from sklearn_hashrank._features.space import FeatureSpace
from sklearn_hashrank._learning.class_strength import share_with_own_nearest
from tests.oracle.class_strength import share_with_own_nearest as literal

RNG = np.random.default_rng(0)
N_CLASSES, N_ROWS = 40, 4096
CLASS_OF = RNG.permutation(np.arange(N_ROWS) % N_CLASSES)
CENTERS = RNG.normal(size=(N_CLASSES, 12))


def rows_of_classes(noise, n_rows=N_ROWS):
    own = CENTERS[CLASS_OF[:n_rows]]
    return (own + noise * RNG.normal(size=own.shape)).astype(np.float32)


@pytest.mark.parametrize("noise", [0.2, 0.8, 5.0])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix], ids=["dense", "sparse"])
def test_share_is_that_of_its_definition(noise, form):
    X, class_of = rows_of_classes(noise, 200), CLASS_OF[:200] // 8
    inside = FeatureSpace.of(Moments.of(X)).transform(X)
    expected = literal(inside.tolist(), class_of)
    assert share_with_own_nearest(form(X), class_of) == pytest.approx(expected)
    assert share_with_own_nearest(form(1000 * X + 7), class_of) == pytest.approx(expected, abs=0.02)


def test_share_does_not_depend_on_how_many_rows_are_compared_at_a_time():
    X = sparse.random_array(
        (150, 20_000), density=0.001, random_state=0, dtype=np.float32, format="csr"
    )
    class_of = np.arange(150) % 7  # blocks of 64 rows
    rows = X.toarray()
    inside = FeatureSpace.of(Moments.of(X)).transform(rows)
    expected = literal(inside[:, rows.any(axis=0)].tolist(), class_of)
    assert share_with_own_nearest(X, class_of) == pytest.approx(expected)


def test_share_of_many_rows_is_estimated_by_some():
    rows = np.repeat(CENTERS, 100, axis=0)
    half = np.repeat(np.arange(2 * N_CLASSES), 50)
    rows[::2] += 1e-3  # so that the nearest rows of every other one are of both halves
    found = share_with_own_nearest(rows, np.repeat(np.arange(N_CLASSES), 100))
    assert found == 1.0
    assert 0 < share_with_own_nearest(rows + 1e-6 * RNG.normal(size=rows.shape), half) < 1


@pytest.mark.parametrize(
    ("noise", "group_size", "batch_size"), [(0.3, 4, 512), (20.0, 16, 1024)], ids=["strong", "weak"]
)
@pytest.mark.parametrize("make", [TALRLinear, DispersionHasher], ids=lambda make: make.__name__)
def test_weak_classes_have_more_rows_in_larger_batches(make, noise, group_size, batch_size):
    hasher = make(8, max_iter=1, random_state=0).fit(rows_of_classes(noise), CLASS_OF)
    assert (hasher.group_size_, hasher.batch_size_) == (group_size, batch_size)


def test_few_rows_of_weak_classes_have_several_batches_in_a_pass():
    hasher = TALRLinear(8, max_iter=1, random_state=0)
    hasher.fit(rows_of_classes(20.0, 4000), CLASS_OF[:4000])
    assert (hasher.group_size_, hasher.batch_size_) == (4, 512)


@pytest.mark.parametrize("parameters", [{"batch_size": 300}, {"max_iter": 2}])
def test_batches_at_random_have_no_groups(parameters):
    y = CLASS_OF if "batch_size" in parameters else CLASS_OF % 4
    hasher = TALRLinear(8, **{"max_iter": 1, **parameters}).fit(rows_of_classes(1.0), y)
    assert hasher.group_size_ is None


def test_what_groups_hold_is_said(capsys):
    X = rows_of_classes(20.0)
    TALRLinear(8, max_iter=1, verbose=1, random_state=0).fit(X, CLASS_OF)
    TALRKernel(8, max_iter=1, n_anchors=20, verbose=1, random_state=0).fit(X, CLASS_OF)
    lines = capsys.readouterr().out.splitlines()
    assert "[TALRLinear] batches of 1024 rows, in groups of 16 of a class" in lines
    assert "[TALRKernel] batches of 512 rows, in groups of 4 of a class" in lines


def test_blocks_do_not_ask_and_forget_the_groups_of_a_fit():
    hasher = TALRLinear(8, max_iter=1, random_state=0).fit(rows_of_classes(20.0), CLASS_OF)
    hasher.partial_fit(rows_of_classes(20.0), CLASS_OF)
    assert not hasattr(hasher, "group_size_")
    first = TALRLinear(8, random_state=0).partial_fit(rows_of_classes(20.0), CLASS_OF)
    assert first.batch_size_ == 512
