"""A user's objectives: public imports only, for both hashers that maximize one."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.model_selection import GridSearchCV, train_test_split

from sklearn_hashrank import DispersionHasher, LabelAffinity, LSHHasher, TALRKernel, TALRLinear
from sklearn_hashrank.objectives import (
    DSH,
    NDCG,
    AutoRanking,
    AveragePrecision,
    Dispersed,
    HashNet,
    Hierarchical,
    MutualInformation,
    PairwiseObjective,
    RankingObjective,
    TieValues,
)


class SimilarityFit:
    """A plain object: the similarity of relaxed codes is 1 where relevant, and -1 elsewhere."""

    def __init__(self, target=1.0):
        self.target = target

    def value_and_gradient(self, scores, level, levels):
        codes = np.tanh(scores)
        wanted = np.where(levels[level] > 0, self.target, -self.target)
        error = codes @ codes.T / codes.shape[1] - wanted
        np.fill_diagonal(error, 0)
        by_codes = -2 * (error + error.T) @ codes / (error.size * codes.shape[1])
        return -np.mean(error**2), by_codes * (1 - codes**2)


class PrecisionOfTies(RankingObjective):
    """A subclass with `tie` only: the share of relevant items up to and in each tie."""

    def tie(self, ties):
        last = np.maximum(ties.before + ties.total, 0.5)
        slope = ties.before + ties.total > 0.5
        precision = (ties.gain_before + ties.gain) / last
        by_total = -ties.gain * precision / last * slope
        per_item = ties.gain / last
        return TieValues(ties.gain * precision, precision + per_item, per_item, by_total, by_total)


class HalfApart(PairwiseObjective):
    """A pairwise subclass with a parameter of its own."""

    metric = "cityblock"

    def __init__(self, slack=0.1):
        self.slack = slack

    def zones(self, levels):
        return np.where(levels[:, None] > 0, (0, 0), (1 - self.slack, 1 + self.slack))


OWN = [SimilarityFit(), PrecisionOfTies(), HalfApart()]
every_objective = pytest.mark.parametrize("objective", OWN, ids=lambda o: type(o).__name__)
both_hashers = pytest.mark.parametrize("hasher", [TALRLinear, DispersionHasher])


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(return_X_y=True)
    return train_test_split(X.astype(np.float32), y, train_size=900, random_state=0)


def learn(hasher, digits):
    X, _, y, _ = digits
    return hasher.fit(X, y)


@pytest.mark.learning
@every_objective
@both_hashers
def test_hashers_learn_from_it(hasher, objective, digits):
    _, X_test, _, y_test = digits
    learned = learn(hasher(16, objective=objective, max_iter=15, random_state=0), digits)
    random = learn(LSHHasher(16, random_state=0), digits)
    assert learned.score(X_test, y_test) > random.score(X_test, y_test) + 0.25
    assert learned.history_["objective"][-1] > learned.history_["objective"][0]


@every_objective
def test_clones_and_pickles_learn_the_same(objective, digits):
    X, X_test, y, _ = digits
    hasher = TALRLinear(8, objective=objective, max_iter=2, random_state=0)
    fitted = clone(hasher).fit(X, y)
    assert clone(hasher).objective is not objective
    for other in (pickle.loads(pickle.dumps(fitted)), pickle.loads(pickle.dumps(hasher)).fit(X, y)):
        assert_array_equal(other.predict(X_test), fitted.predict(X_test))


@pytest.mark.pool
@pytest.mark.process
@pytest.mark.parametrize(
    ("objective", "grid"),
    [
        (SimilarityFit(), {"objective": [SimilarityFit(0.5), SimilarityFit(1.0)]}),
        (PrecisionOfTies(), {"objective__delta": [1.0, 2.0]}),
        (HalfApart(), {"objective__slack": [0.1, 0.5]}),
    ],
    ids=lambda value: type(value).__name__,
)
def test_searches_in_two_processes(objective, grid, digits):
    X, _, y, _ = digits
    hasher = DispersionHasher(8, objective=objective, max_iter=3, random_state=0)
    search = GridSearchCV(hasher, grid, cv=2, n_jobs=2).fit(X[:300], y[:300])
    assert np.ptp(search.cv_results_["mean_test_score"]) > 0


def test_its_parameters_are_nested_parameters():
    hasher = TALRLinear(objective=PrecisionOfTies())
    hasher.set_params(objective__alpha=3.0, objective__n_bins=8)
    assert hasher.get_params()["objective__alpha"] == hasher.objective.alpha == 3.0
    assert DispersionHasher(objective=DSH(margin=1.5)).get_params()["objective__margin"] == 1.5


@pytest.mark.parametrize(
    ("hasher", "name", "objective"),
    [
        (TALRLinear(), "ap", AveragePrecision()),
        (TALRLinear(), "auto", AveragePrecision()),
        (TALRLinear(), "ndcg", NDCG()),
        (DispersionHasher(solver="sgd"), "dsh", DSH()),
        (DispersionHasher(), "dispersed", Dispersed()),
    ],
)
def test_a_name_and_its_class_learn_the_same(hasher, name, objective, digits):
    options = {"n_bits": 12, "max_iter": 2, "random_state": 0}
    named, given = (
        learn(clone(hasher).set_params(objective=each, **options), digits)
        for each in (name, objective)
    )
    assert_array_equal(named.components_, given.components_)


def test_the_levels_choose_with_parameters_too(digits):
    X, _, y, _ = digits
    options = {"n_bits": 6, "max_iter": 2, "random_state": 0}
    for labels, chosen in ((y, AveragePrecision), (np.stack([y // 4, y], axis=1), NDCG)):
        by_levels, given = (
            TALRLinear(objective=each(alpha=3.0, n_bins=4), **options).fit(X, labels)
            for each in (AutoRanking, chosen)
        )
        assert by_levels.history_ == given.history_


def test_objects_have_finer_bins_for_nearest_rows_as_names_have(digits):
    X = digits[0][:200]
    options = {"n_bits": 24, "max_iter": 2, "random_state": 0}
    named, given, coarse = (
        TALRLinear(objective=each, **options).fit(X)
        for each in ("mi", MutualInformation(), MutualInformation(n_bins=16))
    )
    assert named.history_ == given.history_ != coarse.history_


@pytest.mark.learning
@every_objective
def test_blocks_go_on_from_each_other(objective, digits):
    X, X_test, y, y_test = digits
    hasher = TALRLinear(16, objective=objective, random_state=0)
    scores = []
    for _ in range(6):
        for rows in np.array_split(np.arange(900), 3):
            hasher.partial_fit(X[rows], y[rows])
        scores.append(hasher.score(X_test, y_test))
    assert scores[-1] > scores[0]


@every_objective
def test_early_stopping_looks_at_the_objective_itself(objective, digits):
    X, _, y, _ = digits
    hasher = TALRLinear(
        8,
        objective=objective,
        early_stopping=True,
        validation_fraction=0.2,
        max_iter=3,
        random_state=0,
    ).fit(X, y)
    rows = np.random.RandomState(0).permutation(900)[:180]
    level = (y[rows][:, None] == y[rows]).astype(np.uint8)
    scores = hasher.decision_function(X[rows])
    value, _ = objective.value_and_gradient(scores, level, np.array([0.0, 1.0]))
    assert value == pytest.approx(max(hasher.history_["validation"]), rel=1e-4)


def test_early_stopping_looks_at_the_measure_that_an_objective_names(digits):
    class Measured(PrecisionOfTies):
        measure = "ap"

    options = {"early_stopping": True, "max_iter": 1, "random_state": 0, "n_bits": 8}
    own = learn(TALRLinear(objective=Measured(), **options), digits)
    named = learn(TALRLinear(learning_rate=1e-9, **options), digits)
    still = learn(TALRLinear(objective=Measured(), learning_rate=1e-9, **options), digits)
    assert still.history_["validation"] == named.history_["validation"]
    assert own.history_["validation"] != named.history_["validation"]


def test_a_measure_that_nobody_knows_is_refused_before_the_first_pass(digits):
    class Unknown(PrecisionOfTies):
        measure = "beauty"

    hasher = TALRLinear(8, objective=Unknown(), early_stopping=True, max_iter=1)
    with pytest.raises(ValueError, match="'beauty'"):
        learn(hasher, digits)


def test_a_subclass_with_fewer_parameters_takes_objects_too(digits):
    class Small(TALRLinear):
        def __init__(self, objective="ap"):
            super().__init__(8, objective=objective, max_iter=1, random_state=0)

    X, _, y, _ = digits
    given = Small(AveragePrecision()).fit(X, y)
    assert_array_equal(given.components_, Small().fit(X, y).components_)


def test_what_is_no_objective_is_refused(digits):
    for objective in (3, object(), None):
        with pytest.raises(ValueError, match="'value_and_gradient'. Got"):
            learn(TALRLinear(objective=objective), digits)
    for hasher in (TALRLinear, DispersionHasher):
        with pytest.raises(TypeError, match="class SimilarityFit"):
            learn(hasher(objective=SimilarityFit), digits)
        with pytest.raises(ValueError, match="Got 'ma' instead"):
            learn(hasher(objective="ma"), digits)


def test_bad_results_are_refused_in_the_first_batch(digits):
    class Diverges(SimilarityFit):
        def value_and_gradient(self, scores, level, levels):
            value, gradient = super().value_and_gradient(scores, level, levels)
            return value, gradient + np.nan

    for hasher in (TALRLinear(objective=Diverges()), DispersionHasher(objective=Diverges())):
        with pytest.raises(ValueError, match="Diverges.value_and_gradient.* NaN"):
            learn(hasher, digits)


def test_a_hierarchy_is_asked_for_by_the_class_too(digits):
    with pytest.raises(ValueError, match="Hierarchical.*superclasses"):
        learn(DispersionHasher(objective=Hierarchical()), digits)


def test_fit_changes_no_objective(digits):
    for objective in (AveragePrecision(), DSH(), PrecisionOfTies(), HalfApart()):
        before = dict(vars(objective))
        learn(TALRLinear(4, objective=objective, max_iter=1), digits)
        assert vars(objective) == before


@pytest.mark.parametrize("end", [1.5, 6.0])
def test_steepness_is_annealed_geometrically(end, digits):
    seen = []

    class Watched(AveragePrecision):
        def value_and_gradient(self, scores, level, levels):
            seen.append(self.alpha_)
            return super().value_and_gradient(scores, level, levels)

    options = {"batch_size": 300, "max_iter": 2, "random_state": 0}
    learn(TALRLinear(4, objective=Watched(alpha=1.5, alpha_end=end), **options), digits)
    assert seen == pytest.approx([1.5 * (end / 1.5) ** (k / 6) for k in range(6)])


@pytest.mark.parametrize(
    "objective", [HashNet(alpha=2.0), AveragePrecision(alpha=2.0, alpha_end=4.0)]
)
def test_what_was_annealed_before_does_not_reach_a_fit(objective, digits):
    options = {"max_iter": 1, "random_state": 0}
    used = clone(objective)
    used.anneal(1.0)
    for alpha_end in (3.0, None):
        used.set_params(alpha_end=alpha_end)
        learned = [
            learn(TALRLinear(4, objective=each, **options), digits).components_
            for each in (used, clone(used))
        ]
        assert_array_equal(*learned)


class Warming(SimilarityFit):
    """A plain object that anneals: its target grows with the training."""

    seen: list[float] = []

    def anneal(self, progress):
        self.target = 0.5 + 0.5 * progress
        Warming.seen.append(progress)


def test_an_object_that_anneals_is_told_before_every_step_of_fit(digits, monkeypatch):
    monkeypatch.setattr(Warming, "seen", [])
    objective = Warming(0.5)
    options = {"batch_size": 300, "max_iter": 2, "random_state": 0}
    learned = learn(TALRLinear(8, objective=objective, **options), digits)
    assert Warming.seen == pytest.approx([k / 6 for k in range(6)])
    assert objective.target == 0.5
    steady = learn(TALRLinear(8, objective=SimilarityFit(0.5), **options), digits)
    assert np.any(learned.components_ != steady.components_)
    X, _, y, _ = digits
    streamed = TALRLinear(8, objective=objective, random_state=0).partial_fit(X, y)
    assert len(Warming.seen) == 6
    steady = TALRLinear(8, objective=SimilarityFit(0.5), random_state=0).partial_fit(X, y)
    assert_array_equal(streamed.components_, steady.components_)


def test_the_learning_rate_of_an_objective_is_the_automatic_one(digits):
    class Slow(SimilarityFit):
        learning_rates = {"sgd": 0.125}

    options = {"solver": "sgd", "max_iter": 2, "schedule": "constant", "random_state": 0}
    assert (
        learn(TALRLinear(8, objective=Slow(), **options), digits).history_["learning_rate"]
        == [0.125] * 2
    )
    given = learn(TALRLinear(8, objective=Slow(), learning_rate=0.5, **options), digits)
    assert given.history_["learning_rate"] == [0.5] * 2
    options["solver"] = "adam"
    assert (
        learn(TALRLinear(8, objective=Slow(), **options), digits).history_["learning_rate"]
        == [0.01] * 2
    )


def test_errors_name_the_class_that_has_the_parameter(digits):
    for hasher in (TALRLinear, TALRKernel, DispersionHasher):
        with pytest.raises(ValueError, match=f"'objective'.*{hasher.__name__}"):
            learn(hasher(8, objective="lp"), digits)


@both_hashers
def test_an_affinity_that_an_objective_refuses_is_refused_before_learning(hasher, digits):
    class Picky(SimilarityFit):
        def check_affinity(self, affinity, guessed):
            raise ValueError(f"no {type(affinity).__name__} here, guessed: {guessed}")

    with pytest.raises(ValueError, match="no LabelAffinity here, guessed: True"):
        learn(hasher(8, objective=Picky()), digits)
    given = hasher(8, objective=Picky(), affinity=LabelAffinity())
    with pytest.raises(ValueError, match="guessed: False"):
        learn(given, digits)


def ties_of(function):
    return type("Ties", (RankingObjective,), {"tie": lambda self, ties: function(ties)})()


def zones_of(function):
    members = {"metric": "cityblock", "zones": lambda self, levels: function(levels)}
    return type("Zones", (PairwiseObjective,), members)()


@pytest.mark.parametrize(
    ("objective", "message"),
    [
        (ties_of(lambda t: None), "Ties.tie must return TieValues, 5 arrays .* type NoneType"),
        (ties_of(lambda t: (t.gain,) * 3), "of type tuple of length 3 instead"),
        (ties_of(lambda t: TieValues(*[t.gain[:1]] * 5)), "value of the TieValues that Ties.tie"),
        (ties_of(lambda t: TieValues(*[None] * 5)), "value of the TieValues .* Got shape"),
        (
            ties_of(lambda t: TieValues(t.gain, t.gain, t.gain[:, :1], None, None)),
            "gain_before of the TieValues that Ties.tie returns must be an array of shape",
        ),
        (zones_of(lambda levels: np.zeros((1, 2))), r"Zones.zones must return .* shape \(2, 2\)"),
        (zones_of(lambda levels: np.zeros((3, 2))), r"Zones.zones must return .* shape \(2, 2\)"),
        (zones_of(lambda levels: [[2, 1], [0, 1]]), r"low <= high .* Got \[\[2, 1\], \[0, 1\]\]"),
        (zones_of(lambda levels: np.full((2, 2), np.nan)), "low <= high"),
    ],
)
def test_what_a_subclass_returns_is_checked(digits, objective, message):
    with pytest.raises(ValueError, match=message):
        learn(DispersionHasher(4, objective=objective, max_iter=1), digits)
