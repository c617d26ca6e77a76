"""A user's model in the learner of the package: public imports only."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.datasets import load_digits

from sklearn_hashrank import NeighborAffinity
from sklearn_hashrank._learning.minibatch_learning import BaseModel, MinibatchLearning
from sklearn_hashrank._learning.neighbor_relevance import NeighborRelevance
from sklearn_hashrank._learning.objective_of_rows import ObjectiveOfRows
from sklearn_hashrank._learning.pair_relevance import PairRelevance
from sklearn_hashrank.affinity._labels import LabelAffinity
from sklearn_hashrank.metrics import tie_aware_average_precision_score
from sklearn_hashrank.objectives import DSH, HashNet, SimplifiedAP

X, Y = load_digits(return_X_y=True)
X, Y = (X[:600] - 5) / 6, Y[:600]


class Squares(BaseModel):
    """Weights of the features and of their squares."""

    learning_rate = 0.5

    def __init__(self, rows, n_bits):
        self.rows = np.hstack([rows, rows**2])
        self.weights = np.random.default_rng(0).normal(size=(self.rows.shape[1], n_bits)) / 10
        self.factors, self.n_passes = [], 0

    def step(self, batch, evaluate, factor):
        value, gradient = evaluate(self.rows[batch] @ self.weights)
        self.weights = self.weights + factor * self.learning_rate * self.rows[batch].T @ gradient
        self.factors.append(factor)
        return value

    def projections(self, rows):
        return self.rows[rows] @ self.weights

    def get_state(self):
        return self.weights.copy()

    def set_state(self, state):
        self.weights = state

    def end_pass(self, history):
        self.n_passes += 1
        assert len(history["objective"]) == self.n_passes


def learner(objective=None, validation_fraction=None, batch_size="auto"):
    relevance = PairRelevance(LabelAffinity().fit(Y), Y)
    return MinibatchLearning(
        ObjectiveOfRows(objective or SimplifiedAP(), relevance),
        relevance,
        batch_size=batch_size,
        validation_fraction=validation_fraction,
        random_state=np.random.RandomState(0),
    )


def precision(model):
    return tie_aware_average_precision_score(Y, model.projections(np.arange(600)) > 0)


def test_it_learns():
    model = Squares(X, 12)
    before = precision(model)
    history = learner().run(model, 15)
    assert precision(model) > before + 0.2
    assert model.n_passes == len(history["objective"]) == 15
    assert history["objective"][-1] > history["objective"][0]
    assert model.factors == sorted(model.factors, reverse=True)
    assert history["learning_rate"][-1] == pytest.approx(0.5 * model.factors[-1])


def test_early_stopping_gives_its_best_state_back():
    learning, model = learner(DSH(), validation_fraction=0.2), Squares(X, 8)
    model.learning_rate = 3.0  # far too long
    history = learning.run(model, 30, n_iter_no_change=2, schedule="constant")
    assert (len(learning.train), len(learning.validation)) == (480, 120)
    assert len(history["validation"]) < 30
    rows = learning.validation
    level = (Y[rows][:, None] == Y[rows]).astype(np.uint8)
    value, _ = DSH().value_and_gradient(model.projections(rows), level, np.array([0.0, 1.0]))
    assert value == pytest.approx(max(history["validation"]))


def test_objectives_are_annealed():
    models = []
    for objective in (HashNet(), HashNet(alpha_end=None)):
        models.append(Squares(X, 8))
        learner(objective).run(models[-1], 3)
        assert objective.alpha_ == 1.0
    assert np.any(models[0].weights != models[1].weights)


class Rising:
    """A value that says how far the training is, and nothing of the scores."""

    value = 0.0

    def anneal(self, progress):
        self.value = progress

    def value_and_gradient(self, scores, level, levels):
        return self.value, np.zeros_like(scores)


def test_every_pass_is_validated_by_the_objective_of_the_end():
    given = Rising()
    history = learner(given, validation_fraction=0.2).run(Squares(X, 4), 30, n_iter_no_change=3)
    assert history["validation"] == [1.0] * 4  # none is better than the first
    assert history["objective"] == sorted(history["objective"])
    assert history["objective"][-1] < 0.2
    assert given.value == 0


def test_an_unknown_schedule_is_refused():
    with pytest.raises(ValueError, match="schedule must be one of .*'cosine'.* Got 'linear'"):
        learner().run(Squares(X, 4), 2, schedule="linear")


def test_projections_of_other_rows_are_refused():
    class Forgets(Squares):
        def projections(self, rows):
            return self.rows @ self.weights

    with pytest.raises(ValueError, match=r"shape \(120, n_bits\).* Got float64 of shape \(600, 4"):
        learner(DSH(), validation_fraction=0.2).run(Forgets(X, 4), 2)


def test_batches_have_the_size_that_is_asked_for():
    learning, model = learner(batch_size=100), Squares(X, 4)
    assert learning.batch_size == 100
    learning.run(model, 2)
    assert len(model.factors) == 12


def test_it_learns_from_nearest_rows():
    relevance = NeighborRelevance(NeighborAffinity(5).fit(X), X, np.random.RandomState(0))
    objective = ObjectiveOfRows(SimplifiedAP(), relevance)
    learning = MinibatchLearning(objective, relevance, random_state=np.random.RandomState(0))
    history = learning.run(Squares(X, 12), 10)
    assert history["objective"][-1] > history["objective"][0]


def test_lines_name_the_model(capsys):
    learner().run(Squares(X, 4), 2, verbose=1)
    assert capsys.readouterr().out.startswith("[Squares] pass 1/2: objective")


def test_a_model_without_a_step_is_no_model():
    class Idle(BaseModel):
        pass

    with pytest.raises(TypeError, match="abstract methods? .*step"):
        Idle()


def test_the_same_seed_is_the_same_fit():
    models = [Squares(X, 4) for _ in range(2)]
    for model in models:
        learner(validation_fraction=0.1).run(model, 2)
    assert_array_equal(models[0].weights, models[1].weights)
