"""The loop of learning, with a model of its own."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.datasets import load_digits

from sklearn_hashrank import NeighborAffinity
from sklearn_hashrank._learning.minibatch_learning import BaseModel, MinibatchLearning
from sklearn_hashrank._learning.neighbor_relevance import NeighborRelevance
from sklearn_hashrank._learning.pair_relevance import PairRelevance
from sklearn_hashrank.affinity._labels import LabelAffinity
from sklearn_hashrank.metrics import tie_aware_average_precision_score
from sklearn_hashrank.objectives import DSH, HashNet, SimplifiedAP
from sklearn_hashrank.objectives._objective_checks import CheckedObjective

X, Y = load_digits(return_X_y=True)
X, Y = (X[:600] - 5) / 6, Y[:600]


class Squares(BaseModel):
    """Weights of the features and of their squares."""

    learning_rate = 0.5

    def __init__(self, n_features, n_bits):
        self.weights = np.random.default_rng(0).normal(size=(2 * n_features, n_bits)) / 10
        self.factors = []

    def step(self, X, batch, evaluate, factor):
        rows = np.hstack([X[batch], X[batch] ** 2])
        value, gradient = evaluate(rows @ self.weights)
        self.weights = self.weights + factor * self.learning_rate * rows.T @ gradient
        self.factors.append(factor)
        return value

    def projections(self, X, rows):
        return np.hstack([X[rows], X[rows] ** 2]) @ self.weights

    def get_state(self):
        return self.weights.copy()

    def set_state(self, state):
        self.weights = state

    def attributes(self):
        return {}


def learner(objective=None, validation_fraction=None, batch_size="auto", relevance=None):
    relevance = relevance or PairRelevance(LabelAffinity().fit(Y), Y)
    checked = CheckedObjective(objective or SimplifiedAP())
    checked.bind(relevance)
    return MinibatchLearning(
        checked,
        relevance,
        batch_size=batch_size,
        validation_fraction=validation_fraction,
        random_state=np.random.RandomState(0),
    )


def precision(model):
    return tie_aware_average_precision_score(Y, model.projections(X, np.arange(600)) > 0)


def test_it_learns():
    model = Squares(64, 12)
    before = precision(model)
    history = learner().run(model, X, 15)
    assert precision(model) > before + 0.2
    assert len(history["objective"]) == 15
    assert len(model.factors) == 15 * 2
    assert history["objective"][-1] > history["objective"][0]
    assert model.factors == sorted(model.factors, reverse=True)
    assert history["learning_rate"][-1] == pytest.approx(0.5 * model.factors[-1])


def test_early_stopping_gives_its_best_state_back():
    learning, model = learner(DSH(), validation_fraction=0.2), Squares(64, 8)
    model.learning_rate = 3.0  # far too long
    history = learning.run(model, X, 30, n_iter_no_change=2, schedule="constant")
    assert (len(learning.train), len(learning.validation)) == (480, 120)
    assert len(history["validation"]) < 30
    rows = learning.validation
    level = (Y[rows][:, None] == Y[rows]).astype(np.uint8)
    value, _ = DSH().value_and_gradient(model.projections(X, rows), level, np.array([0.0, 1.0]))
    assert value == pytest.approx(max(history["validation"]))


def test_objectives_are_annealed():
    models = []
    for objective in (HashNet(), HashNet(alpha_end=None)):
        models.append(Squares(64, 8))
        learner(objective).run(models[-1], X, 3)
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
    history = learner(given, validation_fraction=0.2).run(Squares(64, 4), X, 30, n_iter_no_change=3)
    assert history["validation"] == [1.0] * 4  # none is better than the first
    assert history["objective"] == sorted(history["objective"])
    assert history["objective"][-1] < 0.2
    assert given.value == 0


def test_projections_of_other_rows_are_refused():
    class Forgets(Squares):
        def projections(self, X, rows):
            return super().projections(X, np.arange(len(X)))

    with pytest.raises(ValueError, match=r"shape \(120, n_bits\).* Got float64 of shape \(600, 4"):
        learner(DSH(), validation_fraction=0.2).run(Forgets(64, 4), X, 2)


def test_batches_have_the_size_that_is_asked_for():
    learning, model = learner(batch_size=100), Squares(64, 4)
    assert learning.batch_size == 100
    learning.run(model, X, 2)
    assert len(model.factors) == 12


def test_it_learns_from_nearest_rows():
    relevance = NeighborRelevance(NeighborAffinity(5).fit(X), X, np.random.RandomState(0))
    history = learner(relevance=relevance).run(Squares(64, 12), X, 10)
    assert history["objective"][-1] > history["objective"][0]


def test_lines_name_the_model(capsys):
    learner().run(Squares(64, 4), X, 4, verbose=2)
    lines = capsys.readouterr().out.splitlines()
    assert [line.split(":")[0] for line in lines] == ["[Squares] pass 2/4", "[Squares] pass 4/4"]


def test_a_validation_must_be_finite():
    class Diverges(Squares):
        def projections(self, X, rows):
            return super().projections(X, rows) + np.nan

    with pytest.raises(ValueError, match="finite"):
        learner(DSH(), validation_fraction=0.2).run(Diverges(64, 4), X, 2)


def test_the_same_seed_is_the_same_fit():
    models = [Squares(64, 4) for _ in range(2)]
    for model in models:
        learner(validation_fraction=0.1).run(model, X, 2)
    assert_array_equal(models[0].weights, models[1].weights)
