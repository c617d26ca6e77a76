"""RSHHasher: supervision against the literal triplet tensor, solvers, invariants, messages."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import sparse
from scipy.optimize import check_grad
from sklearn.datasets import load_digits, make_blobs
from sklearn.decomposition import PCA
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

from sklearn_hashrank import (
    EuclideanAffinity,
    HierarchicalAffinity,
    ITQHasher,
    LabelAffinity,
    LSHHasher,
    NeighborAffinity,
    PrecomputedAffinity,
    RSHHasher,
    SharedLabelAffinity,
    load_hasher,
    save_hasher,
)
from sklearn_hashrank._features.centered_rows import CenteredRows
from sklearn_hashrank._features.moments import Moments
from sklearn_hashrank._solvers.alm import minimize_orthogonal
from sklearn_hashrank.hashers.rsh import (
    _estimator,
    _margin_problem,
    _spread,
    _statistics,
    _supervision,
)
from sklearn_hashrank.hashers.rsh._margin_problem import MarginProblem, _Loss, whiten
from sklearn_hashrank.hashers.rsh._statistics import Sampling, TripletStatistics
from sklearn_hashrank.hashers.rsh._supervision import group_rows, supervise, triplet_weights
from tests.oracle import triplets
from tests.oracle.triplets import (
    mean_margin,
    supervision_matrix,
    supervision_matrix_of_others,
    triplet_tensor,
)
from tests.retrieval import shuffled_digits

N, N_QUERIES, N_FEATURES = 14, 6, 5
RNG = np.random.default_rng(0)
SUPERVISION = {
    "labels": (LabelAffinity(), RNG.integers(0, 3, N)),
    "string labels": (LabelAffinity(), np.array(["cat", "dog"])[RNG.integers(0, 2, N)]),
    "shared labels": (SharedLabelAffinity(), RNG.integers(0, 2, (N, 3))),
    "sparse shared labels": (
        SharedLabelAffinity(),
        sparse.csr_matrix(RNG.integers(0, 2, (N, 3))),
    ),
    "label paths": (
        HierarchicalAffinity(),
        np.stack([RNG.integers(0, 2, N), RNG.integers(0, 3, N)], 1),
    ),
    "distances": (EuclideanAffinity((50, 20, 10), (1, 2, 3)), RNG.normal(size=(N, 2))),
    "matrix": (PrecomputedAffinity(RNG.integers(0, 4, (N, N))), np.arange(N)),
}
every_supervision = pytest.mark.parametrize(
    ("affinity", "y"), SUPERVISION.values(), ids=SUPERVISION.keys()
)
every_format = pytest.mark.parametrize("make", [np.asarray, sparse.csr_matrix, sparse.csr_array])


def supervised_digits(n=600):
    X, y = load_digits(return_X_y=True)
    return X[:n], y[:n]


def sum_triplets(affinity, y, X, make=np.asarray):
    affinity = affinity.fit(y)
    targets = affinity.validate(y)
    rows = CenteredRows(make(X), X.mean(axis=0))
    queries = np.arange(N_QUERIES)
    found = supervise(
        affinity,
        group_rows(affinity, targets[queries], rows.take(queries)),
        group_rows(affinity, targets, rows),
        share=1.0,
    )
    return found, affinity.pairwise(y[:N_QUERIES], y)


@every_format
@every_supervision
def test_supervision_is_that_of_the_triplet_tensor(affinity, y, make):
    X = np.random.default_rng(1).normal(size=(N, N_FEATURES)) + 3
    found, relevance = sum_triplets(affinity, y, X, make)
    centered = X - X.mean(axis=0)
    expected = supervision_matrix(relevance, centered[:N_QUERIES], centered)
    np.testing.assert_allclose(found.wins.T @ found.queries, expected, rtol=1e-10, atol=1e-10)
    tensor = triplet_tensor(relevance)
    assert found.n_wins == (tensor == 1).sum()
    own = [tensor[m, m].sum() - tensor[m, :, m].sum() for m in range(N_QUERIES)]
    assert found.self_weight == sum(own)


@every_supervision
def test_supervision_does_not_depend_on_blocks(affinity, y, monkeypatch):
    X = np.random.default_rng(1).normal(size=(N, N_FEATURES))
    whole, _ = sum_triplets(affinity, y, X)
    monkeypatch.setattr(_supervision, "_LEVELS_AT_A_TIME", 30)
    monkeypatch.setattr(_supervision, "_WEIGHTS_AT_A_TIME", 8)
    monkeypatch.setattr(_supervision, "_QUERIES_AT_A_TIME", 2)
    parts, _ = sum_triplets(affinity, y, X)
    np.testing.assert_allclose(parts.wins, whole.wins, atol=1e-10)
    assert (parts.n_wins, parts.self_weight) == (whole.n_wins, whole.self_weight)


@settings(max_examples=50)
@given(
    hnp.arrays(
        np.int64, st.tuples(st.integers(1, 4), st.integers(1, 9)), elements=st.integers(0, 3)
    )
)
def test_weights_are_sums_of_the_tensor(levels):
    counts = np.stack([np.bincount(row, minlength=4) for row in levels])
    weights = triplet_weights(levels, counts)
    S = triplet_tensor(levels)
    np.testing.assert_array_equal(weights, S.sum(axis=2) - S.sum(axis=1))
    np.testing.assert_array_equal(weights.sum(axis=1), 0)


@pytest.mark.parametrize("n_features", [5, 40])  # B as a matrix, and within the span of its factors
def test_problem_is_the_mean_margin_of_a_triplet(n_features):
    rng = np.random.default_rng(0)
    affinity, y = SUPERVISION["label paths"]
    X = rng.normal(size=(N, n_features))
    X -= X.mean(axis=0)
    supervision, relevance = sum_triplets(affinity, y, X)
    rows = CenteredRows(X, np.zeros(n_features))
    space, _ = whiten(Moments.of(X), rows, 1, None)
    problem = MarginProblem(supervision, space)
    assert (problem.basis is None) == (n_features == 5)
    A = np.linalg.qr(rng.normal(size=(n_features, 3)))[0]
    expected = mean_margin(relevance, X[:N_QUERIES], X, A) / X.var(axis=0).mean()
    assert problem.objective(A) == pytest.approx(expected)
    inside = A if problem.basis is None else problem.basis.T @ A
    assert np.vdot(inside, problem.B @ inside) == pytest.approx(expected)


def posed(X, y, *, shrinkage=1):
    """The problem of rows that rank one another, of class labels, and its rows."""
    affinity = LabelAffinity().fit(y)
    groups = group_rows(affinity, affinity.validate(y), CenteredRows(X, X.mean(axis=0)))
    space, rows = whiten(Moments.of(X), CenteredRows(X, X.mean(axis=0)), shrinkage, None)
    return MarginProblem(supervise(affinity, groups, groups, share=1.0), space), rows


def shares_of(X, y, shrinkage=1):
    """Shares of all supervised directions, their margins over their variances, and themselves."""
    problem, rows = posed(X, y, shrinkage=shrinkage)
    solution = problem.solve("eigh", X.shape[1], np.random.RandomState(0), max_iter=1, tol=1)
    directions = problem.supervised_directions(solution)
    variances = np.mean((rows @ problem.space.lift(directions)) ** 2, axis=0)
    margins = [problem.objective(column[:, None]) for column in directions.T]
    raw = np.array(margins) * problem.space.mean_variance / variances
    return problem.explained_shares(problem.projected(directions, rows)), raw, directions


@pytest.mark.parametrize("n_features", [5, 40])
def test_shares_are_those_of_rankings_without_the_query(n_features):
    """Exactly so where all classes are of one size, and all directions together."""
    X = np.random.default_rng(0).normal(size=(12, n_features)) + 3
    y = np.arange(12) % 3
    shares, _, directions = shares_of(X, y)
    centered = X - X.mean(axis=0)
    B = supervision_matrix_of_others(LabelAffinity().fit(y).pairwise(y, y), centered)
    n_wins = (triplet_tensor(y[:, None] == y) == 1).sum()
    projections = centered @ directions
    expected = np.sum(directions * (B @ directions), axis=0) / (2 * n_wins)
    np.testing.assert_allclose(shares, expected / np.mean(projections**2, axis=0), atol=1e-12)


def test_random_labels_explain_nothing():
    rng = np.random.default_rng(0)
    X, sums, raw_sums = rng.normal(size=(400, 10)), [], []
    for _ in range(20):
        shares, raw, _ = shares_of(X, rng.permutation(np.arange(400) % 100))
        sums.append(shares.sum())
        raw_sums.append(raw.sum())
    assert min(raw_sums) > 2  # a quarter of each of ten directions: classes of four rows
    assert abs(np.mean(sums)) < 4 * np.std(sums) / np.sqrt(20)


def test_shares_are_the_variance_between_classes():
    rng = np.random.default_rng(0)
    y = np.arange(5000) % 50
    means = rng.normal(size=(50, 4)) * [3, 1, 0.5, 0]
    X = means[y] + rng.normal(size=(5000, 4))
    shares, _, _ = shares_of(X, y, shrinkage=0.1)
    between = means[:, :3].var(axis=0)
    np.testing.assert_allclose(shares[:3], between / (between + 1), atol=0.1)
    assert np.all(np.abs(shares[3:]) < 0.02)


def test_whitening_makes_the_shrunk_covariance_a_multiple_of_the_identity():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 6)) @ rng.normal(size=(6, 6))
    rows = CenteredRows(X, X.mean(axis=0))
    covariance = rows.covariance()
    for shrinkage in (0.01, 0.4, 1):
        space, _ = whiten(Moments.of(X), rows, shrinkage, None)
        T = space.lift(np.eye(6))
        scaled = covariance
        if shrinkage < 1:
            scaled = covariance * np.outer(space.scale, space.scale)
        else:
            assert space.scale is None
        mean_variance = np.trace(scaled) / 6
        shrunk = (1 - shrinkage) * scaled + shrinkage * mean_variance * np.eye(6)
        np.testing.assert_allclose(T @ shrunk @ T, mean_variance * np.eye(6), atol=1e-9)


def test_gradient_of_the_loss():
    rng = np.random.default_rng(0)
    B = rng.normal(size=(6, 6))
    loss = _Loss(B + B.T)
    error = check_grad(
        lambda a: loss.value(a.reshape(6, 2)),
        lambda a: loss.gradient(a.reshape(6, 2)).ravel(),
        rng.normal(size=12),
    )
    assert error < 1e-5


@pytest.mark.parametrize("n_bits", [1, 4, 9, 20, 64])
@pytest.mark.parametrize("rotation", [None, "itq"])
@pytest.mark.parametrize("shrinkage", [0.4, 1])
def test_both_solvers_find_the_same_codes(n_bits, rotation, shrinkage):
    X, y = supervised_digits()
    options = {"rotation": rotation, "shrinkage": shrinkage, "random_state": 0, "n_queries": 50}
    alm, eigh = (
        RSHHasher(n_bits, solver=solver, **options).fit(X, y) for solver in ("alm", "eigh")
    )
    assert alm.objective_ == pytest.approx(eigh.objective_, rel=1e-4)
    assert max(alm.orthogonality_, eigh.orthogonality_) <= 1e-6
    assert np.mean(alm.transform(X) == eigh.transform(X)) > 0.99
    assert alm.converged_
    assert alm.n_iter_ == len(alm.history_["objective"]) > 1
    assert eigh.n_iter_ == len(eigh.history_["objective"]) == 1


PAPER = {"solver": "alm", "rotation": None, "shrinkage": 1, "spread": "eigenvectors"}


@pytest.mark.parametrize("n_bits", [1, 3, 5, 7, 8])
@pytest.mark.parametrize("supervision", ["labels", "distances", "matrix"])
def test_the_paper_s_solution_spans_the_eigenvectors_of_its_matrix(n_bits, supervision):
    """Of few labels the matrix vanishes in some directions, where every basis is as good."""
    affinity, y = SUPERVISION[supervision]
    X = np.random.default_rng(3).normal(size=(N, 8)) + 2
    hasher = RSHHasher(
        n_bits, affinity=affinity, n_queries=None, n_database=None, random_state=0, **PAPER
    ).fit(X, y)
    rows = X - X.mean(axis=0)
    B = supervision_matrix(affinity.fit(y).pairwise(y, y), rows, rows)
    values, expected = triplets.solution(B, n_bits)
    A = hasher.components_.T
    np.testing.assert_allclose(A.T @ A, np.eye(n_bits), atol=1e-6)
    assert np.trace(A.T @ B @ A) == pytest.approx(values.sum(), abs=1e-6 * np.linalg.norm(B))
    if supervision != "labels":
        np.testing.assert_allclose(A @ A.T, expected @ expected.T, atol=1e-4)
    np.testing.assert_allclose(hasher.decision_function(X), rows @ A, atol=1e-9)


def products_of_a_fit(X, monkeypatch):
    """How often the solver multiplies matrices of which shapes, and how many steps it takes."""
    found = Counter()

    class Counted(np.ndarray):
        def __array_ufunc__(self, ufunc, method, *inputs, **options):
            plain = [
                each.view(np.ndarray) if isinstance(each, Counted) else each for each in inputs
            ]
            if ufunc is np.matmul:
                found[tuple(each.shape for each in plain)] += 1
            result = getattr(ufunc, method)(*plain, **options)
            return result.view(Counted) if isinstance(result, np.ndarray) else result

    def minimize(objective, gradient, start, **options):
        loss = objective.__self__
        loss.B = loss.B.view(Counted)
        solution = minimize_orthogonal(objective, gradient, start, **options)
        return replace(solution, A=solution.A.view(np.ndarray))

    monkeypatch.setattr(_margin_problem, "minimize_orthogonal", minimize)
    hasher = RSHHasher(8, n_queries=100, n_database=None, random_state=0, **PAPER).fit(X)
    return found, hasher.history_["n_steps"].sum()


def test_a_step_of_the_paper_s_solver_costs_features_and_bits_alone(monkeypatch):
    """Products of B with the directions, and of directions with themselves: no side is of rows."""
    X = np.random.default_rng(0).normal(size=(1600, 40))
    few, many = (products_of_a_fit(X[:n], monkeypatch) for n in (200, 1600))
    assert (
        set(few[0])
        == set(many[0])
        == {
            ((40, 40), (40, 8)),
            ((8, 40), (40, 8)),
            ((40, 8), (8, 8)),
        }
    )
    for found, n_steps in (few, many):
        assert n_steps > 20
        assert found[(40, 40), (40, 8)] < 2 * n_steps
        assert found.total() < 6 * n_steps


@pytest.mark.parametrize("n_bits", [3, 20, 64])
@pytest.mark.parametrize("spread", ["orthogonal", "eigenvectors"])
def test_solution_is_the_optimum_of_ky_fan(n_bits, spread):
    """Also where B has both signs, and directions beyond its positive eigenvalues are needed."""
    X, y = supervised_digits()
    affinity = LabelAffinity().fit(y)
    paper = PAPER | {"spread": spread}
    hasher = RSHHasher(n_bits, n_queries=40, random_state=0, **paper).fit(X, y)
    targets = affinity.validate(y)
    seed = np.random.RandomState(0).randint(np.iinfo(np.int32).max)  # the first draw of fit
    found = TripletStatistics(Sampling(affinity, 40, "auto", seed), X, targets).supervise()
    B = found.wins.T @ found.queries / (2 * found.n_wins * X.var(axis=0).mean())
    values = np.linalg.eigvalsh((B + B.T) / 2)
    assert values[0] < -1e-3
    expected = values[len(values) - n_bits :].sum()
    assert hasher.objective_ == pytest.approx(expected, abs=1e-4 * np.abs(values).sum())
    A = hasher.components_.T
    assert np.trace(A.T @ B @ A) == pytest.approx(hasher.objective_)


@pytest.mark.parametrize("spread", ["orthogonal", "eigenvectors"])
def test_without_shrinkage_components_are_orthonormal(spread):
    X, y = supervised_digits()
    hasher = RSHHasher(20, shrinkage=1, spread=spread, random_state=0).fit(X, y)
    residual = np.linalg.norm(hasher.components_ @ hasher.components_.T - np.eye(20))
    assert residual == pytest.approx(hasher.orthogonality_, abs=1e-12)
    assert residual <= 1e-6


def test_remaining_directions_are_those_of_low_variance():
    """Bits beyond the nine directions of ten classes must not listen to unsupervised variance."""
    rng = np.random.default_rng(0)
    X, y = make_blobs(2000, 4, centers=3, random_state=0)
    X = np.hstack([X, 5 * rng.normal(size=(2000, 4)), 1e-3 * rng.normal(size=(2000, 4))])
    options = {"rotation": None, "shrinkage": 1, "spread": "orthogonal", "n_queries": None}
    hasher = RSHHasher(6, random_state=0, **options).fit(X, y)
    high = np.linalg.norm(hasher.components_[:, 4:8])
    low = np.linalg.norm(hasher.components_[:, 8:])
    assert low > 10 * high


@pytest.mark.parametrize("scale", [2.0**-20, 2.0**10])
@pytest.mark.parametrize("shrinkage", ["auto", 1])
def test_codes_do_not_depend_on_the_scale(scale, shrinkage):
    X, y = supervised_digits()
    codes, scaled = (
        RSHHasher(16, shrinkage=shrinkage, random_state=0).fit_transform(Z, y)
        for Z in (X, scale * X)
    )
    np.testing.assert_array_equal(codes, scaled)


@pytest.mark.slow
@pytest.mark.learning
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_neither_scale_nor_offset_changes_the_quality(dtype):
    X, y = load_digits(return_X_y=True)
    X = X.astype(dtype)
    scores = [
        [
            RSHHasher(16, random_state=seed).fit(Z[:1000], y[:1000]).score(Z[1000:], y[1000:])
            for seed in range(3)
        ]
        for Z in (X, 1000 * X + 7)
    ]
    assert np.mean(scores[0]) == pytest.approx(np.mean(scores[1]), abs=0.005)


@pytest.mark.parametrize("solver", ["alm", "eigh"])
def test_objective_does_not_depend_on_the_order_of_rows(solver):
    X, y = supervised_digits()
    order = np.random.default_rng(0).permutation(len(X))
    first, second = (
        RSHHasher(8, solver=solver, random_state=0).fit(Z, t).objective_
        for Z, t in ((X, y), (X[order], y[order]))
    )
    assert first == pytest.approx(second, rel=1e-6)


@pytest.mark.parametrize("name", SUPERVISION)
def test_every_affinity_from_dense_and_sparse_rows(name):
    affinity, y = SUPERVISION[name]
    X = np.random.default_rng(0).poisson(1, size=(N, 6)).astype(float)
    hashers = [
        RSHHasher(3, affinity=affinity, random_state=0).fit(make(X), y)
        for make in (np.asarray, sparse.csr_matrix)
    ]
    np.testing.assert_allclose(hashers[0].components_, hashers[1].components_, atol=1e-5)
    expected = 1.0 if name == "distances" else min(0.7, np.sqrt(6 / N))
    assert hashers[0].shrinkage_ == pytest.approx(expected)


def test_shrinkage_and_whitened_directions_depend_on_the_number_of_features(monkeypatch):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(2000, 600)), rng.integers(0, 4, 2000)
    rows, moments = CenteredRows(X, X.mean(axis=0)), Moments.of(X)
    exact = RSHHasher(8, random_state=0).fit(X, y)
    assert exact.shrinkage_ == pytest.approx(np.sqrt(500 / 2000))
    space, _ = whiten(moments, rows, 0.3, np.random.RandomState(0))
    assert space.basis.directions.shape == (600, 600)
    for module in (_estimator, _margin_problem):
        monkeypatch.setattr(module, "_EXACT_FEATURES", 599)
    leading = RSHHasher(8, random_state=0).fit(X, y)
    assert leading.shrinkage_ == pytest.approx(np.sqrt(600 / 2000))
    space, _ = whiten(moments, rows, 0.3, np.random.RandomState(0))
    assert space.basis.directions.shape == (600, 128)


@pytest.mark.learning
def test_many_sparse_features_are_not_made_dense(monkeypatch):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 300)
    X = sparse.random(300, 10_000, density=1e-3, random_state=0, format="csr")
    X += sparse.csr_matrix((np.ones(300), (np.arange(300), y)), X.shape)

    for kind in (sparse.csr_matrix, sparse.csr_array, sparse.csc_matrix, sparse.csc_array):
        whole = kind.toarray

        def toarray(self, *args, whole=whole, **options):
            assert self.shape[0] * self.shape[1] < 100 * 10_000, f"made dense: {self.shape}"
            return whole(self, *args, **options)

        monkeypatch.setattr(kind, "toarray", toarray)
    with pytest.raises(AssertionError, match="made dense"):
        X.toarray()
    assert RSHHasher(8, random_state=0).fit(X, y).score(X, y) > 0.75


def test_sample_sizes_and_random_state():
    X, y = supervised_digits()
    codes = {}
    for n_queries, n_database in ((None, None), ("auto", "auto"), (10_000, 600), (30, 200)):
        hasher = RSHHasher(8, n_queries=n_queries, n_database=n_database, random_state=0)
        codes[n_queries] = hasher.fit_transform(X, y)
    np.testing.assert_array_equal(codes[None], codes["auto"])
    np.testing.assert_array_equal(codes[None], codes[10_000])
    assert np.any(codes[None] != codes[30])
    other = RSHHasher(8, n_queries=30, n_database=200, random_state=1).fit_transform(X, y)
    assert np.any(codes[30] != other)


@pytest.mark.learning
def test_beats_the_baselines_on_digits():
    X, y = load_digits(return_X_y=True)
    scores = {
        name: hasher.set_params(n_bits=16, random_state=0)
        .fit(X[:1000], y[:1000])
        .score(X[1000:], y[1000:])
        for name, hasher in {
            "lsh": LSHHasher(),
            "itq": ITQHasher(),
            "paper": RSHHasher(rotation=None, shrinkage=1),
            "paper+itq": RSHHasher(shrinkage=1),
            "rsh": RSHHasher(),
        }.items()
    }
    assert scores["paper"] > scores["lsh"]
    assert scores["paper+itq"] > scores["itq"]
    assert scores["rsh"] > scores["paper+itq"] + 0.02


@pytest.mark.learning
def test_unlabeled_rows_are_ranked_by_distance():
    X, _ = load_digits(return_X_y=True)
    X = np.repeat(X[:300], 2, axis=0)  # so that every row has one at distance 0
    rsh = RSHHasher(16, random_state=0).fit(X)
    assert repr(rsh.relevance(X)[0]) == "EuclideanAffinity()"
    assert rsh.score(X) > LSHHasher(16, random_state=0).fit(X).score(X)


def test_in_pipelines_and_searches():
    X, y = supervised_digits(300)
    search = GridSearchCV(
        make_pipeline(PCA(20), RSHHasher(8, random_state=0)),
        {"rshhasher__shrinkage": [0.1, 1], "rshhasher__rotation": [None, "itq"]},
        cv=2,
    ).fit(X, y)
    assert search.best_params_["rshhasher__rotation"] == "itq"


@pytest.mark.parametrize("solver", ["alm", "eigh"])
def test_more_bits_than_features_are_refused(solver):
    X, y = make_blobs(50, 4, random_state=0)
    message = r"n_bits=5 must be at most n_features = 4.*orthogonal.*Use fewer bits"
    with pytest.raises(ValueError, match=message):
        RSHHasher(5, solver=solver, spread="orthogonal").fit(X, y)


def test_a_single_class_is_an_error():
    X = np.random.default_rng(0).normal(size=(20, 4))
    with pytest.raises(ValueError, match=r"nothing to learn from: .* y: 1 class of 20 rows"):
        RSHHasher(2).fit(X, np.zeros(20, dtype=int))


@pytest.mark.filterwarnings("ignore:all rows of X are equal")
def test_equal_rows_are_an_error():
    y = np.arange(20) % 2
    with pytest.raises(ValueError, match="all rows of X are equal"):
        RSHHasher(2).fit(np.full((20, 4), 0.1), y)


def test_warns_when_it_has_not_converged_and_says_what_to_change():
    X, y = supervised_digits()
    message = r"max_iter=1 .*Increase max_iter.*solver='eigh'"
    with pytest.warns(ConvergenceWarning, match=message) as record:
        hasher = RSHHasher(8, solver="alm", max_iter=1, random_state=0).fit(X, y)
    assert record[0].filename == __file__
    assert not hasher.converged_
    assert hasher.n_iter_ == 1


def test_verbose_prints_every_update(capsys):
    X, y = supervised_digits()
    hasher = RSHHasher(8, solver="alm", verbose=1, random_state=0).fit(X, y)
    assert capsys.readouterr().out.count("[ALM]") == hasher.n_iter_


def retrieved(hasher, X, y):
    """AP of the rest of the rows, after learning from three quarters of them."""
    n = 3 * len(X) // 4
    return hasher.fit(X[:n], y[:n]).score(X[n:], y[n:])


@pytest.mark.learning
@pytest.mark.parametrize("n_bits", [1, 2, 5, 16, 40, 100])
@pytest.mark.parametrize("rotation", ["itq", None])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_frame_gives_any_number_of_bits(n_bits, rotation, n_classes):
    X, y = make_blobs(200, 4, centers=n_classes, random_state=0)
    hasher = RSHHasher(n_bits, rotation=rotation, random_state=0).fit(X, y)
    assert hasher.components_.shape == (n_bits, 4)
    assert np.isfinite(hasher.components_).all()
    assert hasher.score(X, y) > (0.9 if n_bits > 2 else 0.6)
    # Orthonormal rows of the frame: the bits share the directions evenly.
    assert np.linalg.matrix_rank(hasher.components_, tol=1e-8) == min(n_bits, 4)


@pytest.mark.learning
def test_more_bits_never_get_worse():
    X, y, *_ = shuffled_digits()
    scores = [retrieved(RSHHasher(b, random_state=0), X, y) for b in (12, 32, 48, 128)]
    assert np.all(np.diff(scores) > -0.01)
    orthogonal = RSHHasher(48, spread="orthogonal", random_state=0)
    assert scores[2] > retrieved(orthogonal, X, y) + 0.1


@pytest.mark.learning
def test_few_classes_use_unsupervised_directions_too(monkeypatch):
    """A single supervised direction alone would make all bits the same."""
    X, y = load_digits(n_class=10, return_X_y=True)
    X, y = X[y % 5 == 3], y[y % 5 == 3]  # 3 and 8
    hasher = RSHHasher(16, random_state=0).fit(X, y)
    assert len(np.unique(hasher.transform(X), axis=0)) > 10
    with_them = retrieved(RSHHasher(16, random_state=0), X, y)
    monkeypatch.setattr(_spread, "_UNSUPERVISED", 0.0)
    alone = RSHHasher(16, random_state=0).fit(X, y)
    assert len(np.unique(alone.transform(X), axis=0)) == 2
    assert with_them > retrieved(RSHHasher(16, random_state=0), X, y) - 0.005


@pytest.mark.parametrize("y", [None, np.arange(40) % 4], ids=["no y", "labels"])
def test_directions_without_variance_get_no_weight(y):
    """Where every direction that varies is supervised, what is left varies by rounding only."""
    X = np.random.default_rng(0).normal(size=(40, 3))
    X = np.column_stack([X, np.full(40, 5.0), X[:, 0] + X[:, 1]])
    hasher = RSHHasher(n_bits=16, random_state=0).fit(X, y)
    assert np.abs(hasher.components_).max() < 10
    alone = np.concatenate([hasher.decision_function(row[None]) for row in X])
    np.testing.assert_allclose(hasher.decision_function(X), alone, atol=1e-12)


@pytest.mark.learning
def test_principal_components_and_mixed_units_cost_nothing():
    X, y, *_ = shuffled_digits()
    raw = retrieved(RSHHasher(32, random_state=0), X, y)
    components = PCA(40, random_state=0).fit_transform(X)
    assert retrieved(RSHHasher(32, random_state=0), components, y) > raw - 0.04
    X = X * np.where(np.arange(64) == 20, np.float32(1e4), np.float32(1))
    assert retrieved(RSHHasher(32, random_state=0), X, y) > raw - 0.05


def test_without_y_it_learns_from_all_distances_and_is_judged_by_few(tmp_path):
    X = np.random.default_rng(0).normal(size=(300, 8)) * np.linspace(2, 0.5, 8)
    rsh = RSHHasher(4, random_state=0).fit(X)
    assert len(rsh.affinity_.levels_) == 10
    assert len(rsh.relevance(X)[0].fit(X).levels_) == 5
    learned = EuclideanAffinity((90, 75, 50, 30, 20, 10, 5, 2, 1), tuple(range(1, 10)))
    named = RSHHasher(4, affinity=learned, random_state=0).fit(X)
    np.testing.assert_array_equal(rsh.codes_, named.codes_)
    blocks = RSHHasher(4, random_state=0).partial_fit(X)
    np.testing.assert_allclose(blocks.components_, rsh.components_, atol=1e-8)
    save_hasher(tmp_path / "rsh.npz", blocks)
    again = load_hasher(tmp_path / "rsh.npz").partial_fit(X)
    np.testing.assert_allclose(again.components_, blocks.partial_fit(X).components_, atol=1e-8)


def test_without_y_all_directions_have_the_same_weight():
    X = load_digits().data
    hasher = RSHHasher(60, random_state=0)
    rows = hasher.fit(X).components_
    np.testing.assert_allclose(rows @ rows.T, np.eye(60), atol=1e-6)
    rows = hasher.fit(X, load_digits().target).components_
    assert np.linalg.norm(rows @ rows.T - np.eye(60)) > 1


def test_a_fit_says_how_many_rows_are_compared(monkeypatch):
    monkeypatch.setattr(_statistics, "_DATABASE", 60)
    monkeypatch.setattr(_statistics, "GROUPS_IN_FULL", 10)
    X, number = np.random.default_rng(0).normal(size=(90, 5)), np.arange(90)
    sampled = "the relevance of at most 60 sampled rows to each other"
    for options, y, said in (
        ({}, number % 3, None),
        ({}, number // 4, sampled),
        ({}, None, sampled),
        ({"affinity": NeighborAffinity(3)}, None, sampled),
        ({"n_database": 100}, number // 4, None),
    ):
        hasher = RSHHasher(4, random_state=0, **options).fit(X, y)
        assert hasher._said_to_learn_from(X) == said
