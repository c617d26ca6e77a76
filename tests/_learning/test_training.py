"""Batches of rows, and which features a step leaves out."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from sklearn_hashrank._learning.batches import GroupBatches, Minibatches
from sklearn_hashrank._learning.linear_model import drop


def batches(n_rows=10, size=3):
    return Minibatches(np.arange(n_rows), size, np.random.RandomState(0))


def test_batches_hold_every_row_once_and_are_shuffled_anew():
    rows = np.arange(5, 16)
    shuffled = Minibatches(rows, 4, np.random.RandomState(0))
    first, second = np.concatenate(list(shuffled)), np.concatenate(list(shuffled))
    assert_array_equal(np.sort(first), rows)
    assert_array_equal(np.sort(second), rows)
    assert np.any(first != second)


@pytest.mark.parametrize("n_rows", [1, 5, 6, 13, 100])
def test_no_batch_is_less_than_half_of_the_size(n_rows):
    sizes = [len(batch) for batch in batches(n_rows, 6)]
    assert sum(sizes) == n_rows
    assert min(sizes) >= min(3, n_rows)


def group_batches(class_of, size=12, group_size=4):
    rows = np.arange(100, 100 + len(class_of))
    return GroupBatches(rows, class_of, size, group_size, np.random.RandomState(0))


def test_batches_of_groups_hold_every_row_once_and_are_shuffled_anew():
    class_of = np.random.RandomState(0).randint(30, size=400)
    shuffled = group_batches(class_of)
    first, second = np.concatenate(list(shuffled)), np.concatenate(list(shuffled))
    assert_array_equal(np.sort(first), np.arange(100, 500))
    assert_array_equal(np.sort(second), np.arange(100, 500))
    assert np.any(first != second)


def test_batches_of_groups_have_several_rows_of_a_class_and_about_their_size():
    class_of = np.repeat(np.arange(50), 16)
    for batch in group_batches(class_of, size=32):
        counts = np.bincount(class_of[batch - 100])
        assert len(batch) == 32
        assert set(counts) <= {0, 4, 8, 12}


def test_a_small_class_gives_all_its_rows():
    class_of = np.repeat([0, 1, 2, 3], [40, 3, 1, 2])
    batches = [class_of[batch - 100] for batch in group_batches(class_of)]
    for small, n_rows in {1: 3, 2: 1, 3: 2}.items():
        assert sorted(np.sum(batch == small) for batch in batches)[-1] == n_rows


def test_a_single_class_is_one_batch_or_more():
    assert [len(batch) for batch in group_batches(np.zeros(24, dtype=int))] == [12, 12]
    assert [len(batch) for batch in group_batches(np.zeros(1, dtype=int))] == [1]


@pytest.mark.parametrize("n_dropped", [26, 128, 255])
def test_dropout_zeroes_a_share_and_keeps_the_mean(n_dropped):
    rows, same, other = (np.ones((400, 500), dtype=np.float32) for _ in range(3))
    drop(rows, n_dropped, (7, 3))
    drop(same, n_dropped, (7, 3))
    drop(other, n_dropped, (7, 4))
    assert_array_equal(rows, same)
    assert np.any(rows != other)
    kept = rows[rows > 0]
    assert kept.size / rows.size == pytest.approx(1 - n_dropped / 256, abs=0.004)
    assert np.ptp(kept) == 0
    assert rows.mean() == pytest.approx(1, abs=0.1)
