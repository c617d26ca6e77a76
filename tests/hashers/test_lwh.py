"""LWHHasher: that it learns, what it reports, and how it refuses."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import make_blobs, make_multilabel_classification
from sklearn.decomposition import PCA
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import StandardScaler

from sklearn_hashrank import (
    EuclideanAffinity,
    HierarchicalAffinity,
    ITQHasher,
    LabelAffinity,
    LSHHasher,
    LWHHasher,
)
from sklearn_hashrank._features.moments import Moments
from sklearn_hashrank._features.scaling import feature_scales
from tests.oracle import structural_svm as oracle
from tests.retrieval import retrieve, shuffled_digits


@pytest.fixture
def digits():
    return shuffled_digits()


@pytest.mark.slow
@pytest.mark.learning
@pytest.mark.parametrize("loss", ["ap", "ndcg"])
@pytest.mark.parametrize("solver", ["pegasos", "sdp"])
def test_both_losses_and_solvers_learn(digits, loss, solver):
    X, y, X_query, y_query = digits
    n_components = {"pegasos": "auto", "sdp": 8}[solver]
    hasher = LWHHasher(
        16,
        loss=loss,
        solver=solver,
        n_components=n_components,
        n_queries=100,
        alpha=0.01,
        random_state=0,
    ).fit(X, y)
    assert hasher.converged_
    assert hasher.lower_bound_ <= hasher.objective_
    random = LSHHasher(16, random_state=0).fit(X, y)
    learned = retrieve(hasher, X, y, X_query, y_query)
    assert learned > retrieve(random, X, y, X_query, y_query) + 0.2


def test_solvers_agree_when_nothing_is_lost_by_factoring():
    X, y = make_blobs(200, 6, centers=4, cluster_std=3, random_state=0)
    pegasos, sdp = (
        LWHHasher(6, solver=solver, n_queries=60, n_components=None, random_state=0).fit(X, y)
        for solver in ("pegasos", "sdp")
    )
    assert pegasos.converged_
    assert sdp.converged_
    assert pegasos.objective_ == pytest.approx(sdp.objective_, rel=0.05)
    assert sdp.lower_bound_ <= pegasos.objective_ + 1e-9
    assert sdp.factoring_loss_ == pytest.approx(0, abs=1e-9)
    assert pegasos.factoring_loss_ == 0


def test_factoring_to_few_bits_is_reported():
    X, y = make_blobs(200, 6, centers=6, cluster_std=2, random_state=0)
    hasher = LWHHasher(1, solver="sdp", n_queries=60, random_state=0).fit(X, y)
    assert hasher.factoring_loss_ > 0.01
    before = hasher.history_["objective"][-1]
    assert hasher.objective_ - hasher.factoring_loss_ == pytest.approx(before, abs=1e-12)


@pytest.mark.parametrize("loss", ["ap", "ndcg"])
def test_objective_is_that_of_all_rankings(loss):
    """From components_ back to W: projections of the rows give W up to a rotation."""
    X, y = make_blobs(6, 3, centers=2, cluster_std=2, random_state=0)
    n_bits = 5
    hasher = LWHHasher(n_bits, loss=loss, alpha=0.02, tol=1e-3, random_state=0).fit(X, y)
    assert hasher.converged_
    scales = feature_scales(Moments.of(X))
    Z = (X - X.mean(axis=0)) * scales
    _, sizes, right = np.linalg.svd(Z, full_matrices=False)
    to_inside = right.T / (sizes**2 / (len(X) - 1)) ** 0.2
    rows = Z @ to_inside
    rows *= np.sqrt(n_bits) / np.linalg.norm(rows, axis=1, keepdims=True)
    weights = np.linalg.lstsq(to_inside, (hasher.components_ / scales).T.astype(float), rcond=None)[
        0
    ]
    slack = oracle.slack(rows, rows, y[:, None] == y, np.arange(6), weights, n_bits, loss)
    assert slack <= hasher.history_["slack"][-1] + 1e-3 + 1e-5
    objective = 0.01 * np.sum(weights**2) + slack
    assert hasher.objective_ == pytest.approx(objective, abs=1e-5)


@pytest.mark.parametrize("loss", ["ap", "ndcg"])
def test_objective_of_centered_features_is_the_printed_one(loss):
    """Of centered rows times one factor, with no other change to them."""
    X, y = make_blobs(6, 3, centers=2, cluster_std=2, random_state=0)
    X = X * [1, 20, 0.3]
    n_bits = 2
    hasher = LWHHasher(
        n_bits,
        loss=loss,
        alpha=0.02,
        tol=1e-3,
        preparation="centered",
        rotation=None,
        random_state=0,
    ).fit(X, y)
    assert hasher.converged_
    rows = X - X.mean(axis=0)
    factor = np.sqrt(n_bits / np.mean(np.sum(rows**2, axis=1)))
    weights = hasher.components_.T / factor
    slack = oracle.slack(
        factor * rows, factor * rows, y[:, None] == y, np.arange(6), weights, n_bits, loss
    )
    objective = 0.01 * np.sum(weights**2) + slack
    assert hasher.objective_ == pytest.approx(objective, abs=1e-5)
    assert_allclose(hasher.decision_function(X).mean(axis=0), 0, atol=1e-9)


def test_centered_features_in_other_units_give_the_same_codes(digits):
    X, y, *_ = digits
    paper = LWHHasher(8, preparation="centered", rotation=None, n_queries=50, random_state=0)
    assert_array_equal(paper.fit_transform(4 * X, y), paper.fit_transform(X, y))


def test_rotation_changes_no_distance_that_the_problem_knows(digits):
    X, y, *_ = digits
    turned, plain = (
        LWHHasher(12, preparation="centered", rotation=rotation, n_queries=50, random_state=0)
        .fit(X, y)
        .components_
        for rotation in ("itq", None)
    )
    assert_allclose(turned.T @ turned, plain.T @ plain, atol=1e-4 * np.abs(plain.T @ plain).max())


@pytest.mark.learning
def test_more_rows_are_better(digits):
    X, y, *_ = digits
    few = LWHHasher(16, n_queries=30, n_database=100, random_state=0).fit(X, y)
    whole = LWHHasher(16, n_queries=None, n_database=None, random_state=0).fit(X, y)
    assert few.n_queries_ == 30
    assert whole.n_queries_ == 900
    assert whole.converged_
    assert retrieve(whole, *digits) > retrieve(few, *digits) + 0.05


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_the_sample_follows_the_number_of_classes():
    X, y = make_blobs(3000, 5, centers=10, random_state=0)
    fit = {"max_iter": 1, "random_state": 0}
    assert LWHHasher(4, **fit).fit(X, y).n_queries_ == 500
    assert LWHHasher(4, **fit, n_queries=None, n_database=900).fit(X, y).n_queries_ == 900
    X, y = make_blobs(3000, 5, centers=100, random_state=0)
    assert LWHHasher(4, **fit).fit(X, y).n_queries_ == pytest.approx(1000, rel=0.1)
    paths = np.column_stack([y // 10, y])  # every shared label counts as relevant
    assert LWHHasher(4, **fit, affinity=HierarchicalAffinity()).fit(X, paths).n_queries_ == 500


def test_the_sample_holds_classes_in_proportion():
    y = np.repeat([0, 1, 2], [600, 300, 100])
    targets = LabelAffinity().fit(y).validate(y)
    for n_queries, n_database in ((30, 200), (100, 500)):
        hasher = LWHHasher(n_queries=n_queries, n_database=n_database)
        hasher.affinity_ = LabelAffinity().fit(y)
        database, queries = hasher._sample(targets, np.random.RandomState(0))
        assert len(np.unique(database)) == n_database
        for rows in (database, database[queries]):
            expected = len(rows) * np.array([0.6, 0.3, 0.1])
            assert_allclose(np.bincount(y[rows]), expected, atol=1.01)


@pytest.mark.slow
@pytest.mark.learning
def test_many_classes_are_not_below_itq():
    X, y = make_blobs(3000, 40, centers=100, cluster_std=7, random_state=0)
    rows = X[:2000], y[:2000], X[2000:], y[2000:]
    learned = retrieve(LWHHasher(32, random_state=0).fit(*rows[:2]), *rows)
    assert learned > retrieve(ITQHasher(32, random_state=0).fit(X[:2000]), *rows) + 0.01


@pytest.mark.slow
@pytest.mark.learning
def test_a_pca_before_does_not_collapse():
    """Principal components of many low-variance directions of noise keep their small share."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 8, 1500)
    X = np.column_stack(
        [rng.normal(size=(8, 10))[y] + rng.normal(size=(1500, 10)), np.zeros((1500, 190))]
    )
    X += 0.05 * rng.normal(size=X.shape)
    X = X @ np.linalg.qr(rng.normal(size=(200, 200)))[0]
    components = PCA(190, random_state=0).fit(X[:1000]).transform(X)
    before, after = (
        retrieve(LWHHasher(16, random_state=0).fit(rows[:1000], y[:1000]), *parts)
        for rows in (X, components)
        for parts in [(rows[:1000], y[:1000], rows[1000:], y[1000:])]
    )
    assert after > 0.9 * before  # they differ by 2 % from seed to seed and between processors


@pytest.mark.learning
def test_label_sets_paths_and_vectors_train():
    X, Y = make_multilabel_classification(300, 20, n_classes=6, random_state=0)
    paths = np.column_stack([Y[:, 0] + 2 * Y[:, 1], Y[:, 2]])
    for y, affinity in [
        (Y, "auto"),
        (sparse.csr_matrix(Y), "auto"),
        (paths, HierarchicalAffinity()),
        (X, EuclideanAffinity((20, 5), (1, 3))),
        (None, EuclideanAffinity((20, 5), (1, 3))),
    ]:
        hasher = LWHHasher(16, loss="ndcg", affinity=affinity, random_state=0).fit(X, y)
        random = LSHHasher(16, random_state=0).fit(X, y)
        y = X if y is None else y
        random.affinity_ = hasher.affinity_
        assert retrieve(hasher, X, y, X, y) > retrieve(random, X, y, X, y) + 0.02


def test_relevant_is_every_positive_level():
    X, y = make_blobs(200, 5, centers=4, random_state=0)
    graded = np.column_stack([y // 2, y])
    binary = LWHHasher(8, random_state=0).fit(X, y // 2)
    from_paths = LWHHasher(8, random_state=0, affinity=HierarchicalAffinity()).fit(X, graded)
    assert_allclose(from_paths.components_, binary.components_)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("seed", range(3))
def test_a_step_does_not_depend_on_scale_and_offset(digits, seed):
    """Later steps choose among rankings that rounding makes equally violated."""
    X, y, X_query, _ = (np.asarray(each, dtype=float) for each in digits)
    hasher = LWHHasher(16, n_queries=100, max_iter=1, random_state=seed)
    expected = clone(hasher).fit(X, y).decision_function(X_query)
    found = clone(hasher).fit(1000 * X + 7, y).decision_function(1000 * X_query + 7)
    assert_allclose(found, expected, atol=1e-8 * expected.std())


@pytest.mark.slow
@pytest.mark.learning
def test_quality_does_not_depend_on_scale_and_offset(digits):
    X, y, X_query, y_query = digits
    expected, *others = (
        retrieve(
            LWHHasher(16, n_queries=200, random_state=0).fit(change(X), y),
            change(X),
            y,
            change(X_query),
            y_query,
        )
        for change in (lambda X: X, lambda X: 1000 * X + 7, StandardScaler().fit(X).transform)
    )
    # Rounding moves a fit by about .01.
    assert_allclose(others, expected, atol=0.06)


def test_constant_columns_have_weight_zero(digits):
    X, y = (each[:300] for each in digits[:2])
    constant = X.std(axis=0) == 0
    hasher = LWHHasher(8, n_database=None, random_state=0).fit(X + np.float32(1e3), y)
    assert_array_equal(hasher.components_[:, constant], 0)
    assert np.all(np.any(hasher.components_[:, ~constant] != 0, axis=0))


def test_projections_of_the_sample_have_mean_zero(digits):
    X, y = (each[:300] for each in digits[:2])
    hasher = LWHHasher(8, n_database=None, random_state=0).fit(X, y)
    projections = hasher.decision_function(X)
    assert_allclose(projections.mean(axis=0), 0, atol=1e-4 * projections.std())


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("solver", ["pegasos", "sdp"])
def test_threads_change_nothing(digits, solver):
    X, y, *_ = digits
    options = {"n_components": 10, "max_iter": 8, "random_state": 0}
    hasher = LWHHasher(8, solver=solver, n_jobs=1, **options).fit(X, y)
    threaded = clone(hasher).set_params(n_jobs=3).fit(X, y)
    assert_array_equal(threaded.components_, hasher.components_)
    assert threaded.history_ == hasher.history_


def test_useless_queries_are_skipped():
    X, y = make_blobs(60, 4, centers=3, random_state=0)
    y = np.where(np.arange(60) < 50, y, np.arange(60))  # ten rows are alone in their class
    hasher = LWHHasher(8, random_state=0).fit(X, y)
    assert hasher.n_queries_ == 50


@pytest.mark.parametrize(
    ("y", "level"),
    [
        (np.zeros(30, int), 1),
        (np.arange(30), 0),
    ],
)
def test_nothing_but_useless_queries_is_refused(y, level):
    X = np.random.default_rng(0).normal(size=(30, 4))
    with pytest.raises(ValueError, match=f"level {level}"):
        LWHHasher().fit(X, y)


def test_warning_when_iterations_do_not_suffice(digits):
    X, y, *_ = digits
    with pytest.warns(ConvergenceWarning, match="max_iter=3 ") as record:
        hasher = LWHHasher(8, max_iter=3, random_state=0).fit(X, y)
    assert record[0].filename == __file__
    assert not hasher.converged_
    assert hasher.n_iter_ == 3
    assert hasher.objective_ == min(hasher.history_["objective"])


@pytest.mark.parametrize(
    "make",
    [
        lambda X, y: (np.repeat(X[:20], 5, axis=0), np.repeat(y[:20], 5)),
        lambda X, y: (X[:100, 20:22], y[:100]),
        lambda X, y: (X[:3], np.array([0, 0, 1])),
        lambda X, y: (np.zeros((20, 4)), y[:20]),
        lambda X, y: (X[:50].astype(np.float16), y[:50].astype(str)),
    ],
    ids=["duplicates", "few features", "three rows", "constant", "strings"],
)
@pytest.mark.parametrize("solver", ["pegasos", "sdp"])
@pytest.mark.filterwarnings("ignore:all rows of X are equal")
def test_odd_data_gives_finite_projections(digits, make, solver):
    X, y = make(*digits[:2])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        hasher = LWHHasher(20, solver=solver, n_components=8, random_state=0).fit(X, y)
    assert np.isfinite(hasher.components_).all()
    assert np.isfinite(hasher.decision_function(X)).all()


def test_verbose_reports_every_so_often(digits, capsys):
    X, y, *_ = digits
    hasher = LWHHasher(4, verbose=3, random_state=0).fit(X[:200], y[:200])
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("[LWHHasher] iteration 3/50: objective 0.")
    assert lines[-1].startswith(f"[LWHHasher] iteration {hasher.n_iter_}/50")
    assert "violation 0." in lines[-1]


def test_callbacks_see_every_iteration_and_can_stop(digits):
    pytest.importorskip("sklearn.callback")
    X, y, *_ = digits
    seen = []

    class Watch:
        def __init__(self, last):
            self.last = last

        def setup(self, estimator, context):
            seen.append("setup")

        def teardown(self, estimator, context):
            seen.append("teardown")

        def on_fit_task_begin(self, estimator, context):
            pass

        def on_fit_task_end(self, estimator, context, *, fitted_estimator):
            seen.append(fitted_estimator.predict(X[:1]).shape)
            return context.task_name == "iteration" and context.task_id == self.last

    hasher = LWHHasher(4, random_state=0).set_callbacks(Watch(2)).fit(X[:100], y[:100])
    assert hasher.n_iter_ == 3
    assert not hasher.converged_
    assert seen == ["setup", *[(1, 4)] * 4, "teardown"]
    seen.clear()
    hasher = LWHHasher(4, random_state=0).set_callbacks(Watch(99)).fit(X[:100], y[:100])
    assert hasher.converged_
    assert seen == ["setup", *[(1, 4)] * (hasher.n_iter_ + 1), "teardown"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"loss": "map"}, "'loss' parameter .* Got 'map' instead"),
        ({"solver": "adam"}, "'solver' parameter .* Got 'adam' instead"),
        ({"alpha": 0.0}, "'alpha' parameter .* Got 0.0 instead"),
        ({"tol": 0.0}, "'tol' parameter .* Got 0.0 instead"),
        ({"n_queries": 0}, "'n_queries' parameter .* Got 0 instead"),
        ({"n_database": 1}, "'n_database' parameter .* Got 1 instead"),
        ({"n_components": 0}, "'n_components' parameter .* Got 0 instead"),
        ({"max_iter": 0}, "'max_iter' parameter .* Got 0 instead"),
        ({"affinity": "labels"}, "'affinity' parameter .* Got 'labels' instead"),
    ],
)
def test_bad_options_are_refused(digits, options, message):
    X, y, *_ = digits
    with pytest.raises(ValueError, match=message):
        LWHHasher(**options).fit(X[:100], y[:100])


def test_bad_data_is_refused(digits):
    X, y, *_ = digits
    with pytest.raises(ValueError, match="Got n_samples = 1"):
        LWHHasher().fit(X[:1], y[:1])
    with pytest.raises(ValueError, match="affinity=EuclideanAffinity"):
        LWHHasher().fit(X[:10], np.linspace(0, 1, 10))
    with pytest.raises(ValueError, match="Input X contains NaN"):
        LWHHasher().fit(np.where(X[:10] == X[0, 0], np.nan, X[:10]), y[:10])


@pytest.mark.learning
def test_the_offset_of_doubles_may_be_large(digits):
    X, y, *_ = digits
    X = X.astype(np.float64) + 1e8
    assert LWHHasher(16, alpha=0.01, random_state=0).fit(X, y).score(X, y) > 0.6
