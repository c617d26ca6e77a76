"""The trainer on models that know neither hashers nor linear weights."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from sklearn_hashrank._learning.batches import GroupBatches, Minibatches
from sklearn_hashrank._learning.callbacks import EarlyStopping, Report
from sklearn_hashrank._learning.dropout_mask import RandomMask
from sklearn_hashrank._learning.trainer import Trainer
from sklearn_hashrank._utils.callbacks import Progress


class Point:
    """A number that moves towards 1 on the objective -(x - 1)^2."""

    def __init__(self):
        self.x, self.steps = 0.0, []

    def step(self, batch, factor):
        value = -((self.x - 1) ** 2)
        self.x += 0.2 * factor * (1 - self.x)
        self.steps.append((len(batch), factor))
        return value


def passes(n):
    return Progress(None, None, None, n, dict)


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


@pytest.mark.parametrize("share", [0.1, 0.5, 0.999])
def test_a_mask_zeroes_a_share_and_keeps_the_mean(share):
    mask = RandomMask.of_share(share, np.random.RandomState(0))
    rows, same, other = (np.ones((400, 500), dtype=np.float32) for _ in range(3))
    mask.apply(rows, step=3)
    mask.apply(same, step=3)
    mask.apply(other, step=4)
    assert_array_equal(rows, same)
    assert np.any(rows != other)
    kept = rows[rows > 0]
    assert kept.size / rows.size == pytest.approx(1 - share, abs=0.004)
    assert np.ptp(kept) == 0
    assert rows.mean() == pytest.approx(1, abs=0.1)


def test_a_model_is_moved_by_every_batch_of_every_pass():
    point, told = Point(), []
    trainer = Trainer(point.step, batches(), lambda p: 1 - p, 0.2, before_step=[told.append])
    history = trainer.run(passes(4))
    assert len(point.steps) == len(told) == 12
    assert told == pytest.approx([(n + k * 0.3) / 4 for n in range(4) for k in range(3)])
    assert [factor for _, factor in point.steps] == pytest.approx([1 - p for p in told])
    assert history["learning_rate"] == pytest.approx([0.2 * (1 - p) for p in told[2::3]])
    assert history["objective"][0] < history["objective"][-1] < 0


def test_every_listener_is_called_and_any_can_stop():
    seen = []

    def stop_after_two(history):
        seen.append(len(history["objective"]))
        return len(history["objective"]) == 2

    trainer = Trainer(
        Point().step, batches(), lambda p: 1.0, 1.0, after_pass=[stop_after_two, seen.append]
    )
    history = trainer.run(passes(9))
    assert len(history["objective"]) == 2
    assert seen == [1, history, 2, history]


def test_early_stopping_gives_the_best_state_back():
    states, values = iter("abcdef"), iter([1.0, 3.0, 2.0, 3.0, 2.5, 9.0])
    restored, history = [], {"objective": []}
    stopping = EarlyStopping(lambda: next(values), lambda: next(states), restored.append, 3)
    assert [stopping(history) for _ in range(5)] == [False, False, False, False, True]
    stopping.restore()
    assert restored == ["b"]
    assert history["validation"] == [1.0, 3.0, 2.0, 3.0, 2.5]


def test_a_validation_must_be_finite():
    stopping = EarlyStopping(lambda: np.nan, dict, dict, 3)
    with pytest.raises(ValueError, match="must give a finite float. Got nan"):
        stopping({})


def test_a_report_comes_every_so_often(capsys):
    trainer = Trainer(
        Point().step, batches(), lambda p: 1.0, 0.5, after_pass=[Report("Point", 5, every=2)]
    )
    trainer.run(passes(5))
    lines = capsys.readouterr().out.splitlines()
    assert [line.split(":")[0] for line in lines] == ["[Point] pass 2/5", "[Point] pass 4/5"]
    assert lines[0].endswith("learning_rate 0.5000")
