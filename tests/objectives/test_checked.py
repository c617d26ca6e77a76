"""What objectives of others must return: clear errors that name the class."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import BaseEstimator

from sklearn_hashrank.objectives import AveragePrecision, BaseObjective, Dispersed
from sklearn_hashrank.objectives._objective_checks import CheckedObjective

SCORES, LEVEL = np.ones((4, 3), dtype=np.float32), np.zeros((4, 4), dtype=np.uint8)


class Fixed:
    """Return what it was made with."""

    def __init__(self, result):
        self.result = result

    def value_and_gradient(self, scores, level, levels):
        return self.result


GOOD = np.zeros((4, 3))


@pytest.mark.parametrize(
    ("result", "got"),
    [
        (1.0, "an object of type float"),
        (None, "an object of type NoneType"),
        ((1.0,), "an object of type tuple of length 1"),
        (("one", GOOD), "a value of type str"),
        ((None, GOOD), "a value of type NoneType"),
        ((np.zeros(4), GOOD), r"a value of type ndarray of shape \(4,\)"),
        ((np.nan, GOOD), "a value of nan"),
        ((-np.inf, GOOD), "a value of -inf"),
        ((1.0, GOOD.T), r"a gradient of shape \(3, 4\)"),
        ((1.0, 0.0), r"a gradient of shape \(\)"),
        ((1.0, GOOD.astype(complex)), "a gradient of dtype complex128"),
        ((1.0, GOOD.astype(object)), "a gradient of dtype object"),
        ((1.0, GOOD + np.nan), "a gradient that holds NaN or infinity"),
    ],
)
def test_the_first_batch_is_checked(result, got):
    objective = CheckedObjective(Fixed(result))
    message = (
        r"Fixed.value_and_gradient must return a finite float and a finite array like scores, "
        rf"here of shape \(4, 3\). Got {got} instead."
    )
    with pytest.raises(ValueError, match=message):
        objective(SCORES, LEVEL, [0, 1])


def test_the_shape_is_checked_in_every_batch():
    objective = CheckedObjective(Fixed((1.0, GOOD)))
    objective(SCORES, LEVEL, [0, 1])
    with pytest.raises(ValueError, match=r"here of shape \(3, 3\). Got a gradient of shape"):
        objective(SCORES[:3], LEVEL[:3, :3], [0, 1])


@pytest.mark.parametrize(
    ("result", "got"),
    [
        (None, "an object of type NoneType"),
        ((1.0, GOOD, GOOD), "an object of type tuple of length 3"),
        (("one", GOOD), "a value of type str"),
        ((1.0, GOOD + 1j), "a gradient of dtype complex128"),
    ],
)
def test_the_form_is_checked_in_every_batch(result, got):
    given = Fixed((1.0, GOOD))
    objective = CheckedObjective(given)
    objective(SCORES, LEVEL, [0, 1])
    given.result = result
    with pytest.raises(ValueError, match=f"Fixed.value_and_gradient.* {got} "):
        objective(SCORES, LEVEL, [0, 1])


@pytest.mark.parametrize(
    ("scores", "got"),
    [
        (SCORES.astype(int), r"int64 of shape \(4, 3\)"),
        (SCORES.astype(np.float16), r"float16 of shape \(4, 3\)"),
        (SCORES[:3], r"float32 of shape \(3, 3\)"),
        (SCORES[:, 0], r"float32 of shape \(4,\)"),
        (SCORES.tolist(), "an object of type list"),
    ],
)
def test_scores_of_a_model_are_checked(scores, got):
    with pytest.raises(ValueError, match=rf"of shape \(4, n_bits\), .* Got {got}"):
        CheckedObjective(Fixed((1.0, GOOD)))(scores, LEVEL, [0, 1])


@pytest.mark.parametrize("value", [1, np.float32(1), np.array(1.0)])
@pytest.mark.parametrize("gradient", [GOOD, GOOD.astype(int), GOOD.tolist()])
def test_numbers_of_any_precision_become_those_of_the_scores(value, gradient):
    found, by_scores = CheckedObjective(Fixed((value, gradient)))(SCORES, LEVEL, [0, 1])
    assert type(found) is float
    assert by_scores.dtype == np.float32
    assert_array_equal(by_scores, 0)


def test_the_levels_cannot_be_changed():
    levels = np.array([0.0, 1.0])

    class Vandal:
        def value_and_gradient(self, scores, level, levels):
            levels[:] = 0

    with pytest.raises(ValueError, match="read-only"):
        CheckedObjective(Vandal())(SCORES, LEVEL, levels)


def test_an_estimator_without_constraints_is_an_objective():
    class Estimator(BaseEstimator):
        def value_and_gradient(self, scores, level, levels):
            return 1.0, scores

    assert_array_equal(CheckedObjective(Estimator())(SCORES, LEVEL, [0, 1])[1], SCORES)


def test_a_class_is_not_an_object():
    with pytest.raises(TypeError, match=r"Got the class Dispersed; pass Dispersed\(...\)"):
        CheckedObjective(Dispersed)


@pytest.mark.parametrize(
    ("objective", "message"),
    [
        (AveragePrecision(alpha=0), "'alpha' parameter of AveragePrecision .* Got 0 instead"),
        (
            AveragePrecision(n_bins="many"),
            "'n_bins' parameter of AveragePrecision .* Got 'many' instead",
        ),
        (AveragePrecision(delta=-1.0), "'delta' parameter of AveragePrecision .* Got -1.0 instead"),
        (Dispersed(margin=-1.0), "'margin' parameter of Dispersed .* Got -1.0 instead"),
        (Dispersed(zone=0.3), "'zone' parameter of Dispersed .* Got 0.3 instead"),
    ],
)
def test_parameters_are_validated(objective, message):
    with pytest.raises(ValueError, match=message):
        CheckedObjective(objective)


class Declares(Fixed):
    """An objective with more to say."""

    learning_rates = {"sgd": 0.5}
    measure = "ap"

    def __init__(self):
        super().__init__((1.0, GOOD))
        self.seen = []

    def anneal(self, progress):
        self.seen.append(progress)

    def check_affinity(self, affinity, guessed):
        raise ValueError(f"not {affinity}, guessed {guessed}")

    def level_gain(self, levels):
        return 2 * levels


def test_what_an_objective_declares_is_read():
    given = Declares()
    checked = CheckedObjective(given)
    assert checked.measure == "ap"
    assert checked.learning_rates["sgd"] == 0.5
    assert_array_equal(checked.level_gain([0, 1]), [0, 2])
    checked.anneal(0.5)
    assert checked.objective.seen == [0.5]
    assert not given.seen
    with pytest.raises(ValueError, match="not labels, guessed True"):
        checked.check_affinity("labels", True)


def test_what_a_plain_object_does_not_declare_is_that_of_the_base_class():
    given = Fixed((1.0, GOOD))
    checked = CheckedObjective(given)
    assert checked.objective is given
    assert checked.measure is checked.level_gain([0, 1]) is None
    checked.anneal(0.5)
    checked.check_affinity("labels", True)
    assert BaseObjective.learning_rates == {}
    assert BaseObjective.measure is None


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("measure", 3, "Fixed.measure must be None or the name of a measure .* Got 3"),
        ("measure", "foo", "Fixed.measure must be .* that needs no codes. Got 'foo'"),
        ("measure", "mlgap", "Fixed.measure must be .* that needs no codes. Got 'mlgap'"),
        ("anneal", 3, "Fixed.anneal must be a method. Got 3"),
        ("check_affinity", "labels", "Fixed.check_affinity must be a method. Got 'labels'"),
        ("level_gain", 2.0, "Fixed.level_gain must be a method. Got 2.0"),
        ("learning_rates", 0.1, "Fixed.learning_rates must be a mapping .* Got 0.1"),
        ("learning_rates", {"Adam": 0.1}, "among 'adam', .* to rates. Got {'Adam': 0.1}"),
        ("learning_rates", {"adam": 0, "sgd": 1}, r"learning_rates\['adam'\] must be .* Got 0"),
        ("learning_rates", {"sgd": 0}, r"Fixed.learning_rates\['sgd'\] must be .* above 0. Got 0"),
        ("learning_rates", {"sgd": "x"}, r"Fixed.learning_rates\['sgd'\] must be .* Got 'x'"),
        ("learning_rates", {"sgd": True}, r"Fixed.learning_rates\['sgd'\] must be .* Got True"),
    ],
)
def test_what_an_objective_declares_is_checked(name, value, message):
    given = Fixed((1.0, GOOD))
    setattr(given, name, value)
    with pytest.raises(ValueError, match=message):
        CheckedObjective(given)


@pytest.mark.parametrize("gain", [[1.0], "a", [0.0, np.inf], [[0.0, 1.0]]])
def test_gains_are_one_number_for_each_level(gain):
    given = Fixed((1.0, GOOD))
    given.level_gain = lambda levels: gain
    with pytest.raises(ValueError, match=r"Fixed.level_gain\(levels\) must be 2 finite numbers"):
        CheckedObjective(given).level_gain(np.array([0.0, 1.0]))


def test_a_rate_may_be_any_number():
    given = Fixed((1.0, GOOD))
    given.learning_rates = {"sgd": np.float32(0.5)}
    assert CheckedObjective(given).learning_rates["sgd"] == 0.5
