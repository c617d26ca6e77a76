"""TALRLinear: that it learns, on every kind of y; its options, history, partial_fit and errors."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import make_blobs, make_multilabel_classification

from sklearn_hashrank import (
    DispersionHasher,
    EuclideanAffinity,
    HierarchicalAffinity,
    LSHHasher,
    PrecomputedAffinity,
    SharedLabelAffinity,
    TALRLinear,
    load_hasher,
    save_hasher,
)
from sklearn_hashrank.objectives import AveragePrecision
from tests.objectives.rankings import RANKINGS
from tests.retrieval import retrieve, shuffled_digits


@pytest.fixture
def digits():
    return shuffled_digits()


@pytest.mark.learning
@pytest.mark.parametrize(("objective", "relaxation"), sorted(RANKINGS))
def test_every_objective_learns(digits, objective, relaxation):
    X, y, X_query, y_query = digits
    options = {"n_bits": 16, "random_state": 0}
    given = RANKINGS[objective, relaxation]()
    hasher = TALRLinear(**options, objective=given, max_iter=30)
    hasher.fit(X, y)
    measure = "ndcg" if objective == "ndcg" else "average_precision"
    learned = retrieve(hasher, X, y, X_query, y_query, measure)
    random = retrieve(LSHHasher(**options).fit(X, y), X, y, X_query, y_query, measure)
    assert learned > random + (1 - random) / 2
    assert hasher.history_["objective"][-1] > hasher.history_["objective"][0] + 0.02


@pytest.mark.learning
@pytest.mark.parametrize(
    "options", [{"solver": "sgd"}, {"solver": "adam"}, {"learning_rate": 0.02}]
)
@pytest.mark.parametrize("schedule", ["constant", "step", "cosine"])
def test_solvers_and_schedules(digits, options, schedule):
    X, y, X_query, y_query = digits
    hasher = TALRLinear(n_bits=12, schedule=schedule, max_iter=20, random_state=0, **options)
    assert retrieve(hasher.fit(X, y), X, y, X_query, y_query) > 0.7
    rates = np.array(hasher.history_["learning_rate"])
    rates /= options.get("learning_rate", {"sgd": 1.0, "adam": 0.01}[hasher.solver])
    assert len(rates) == hasher.n_iter_ == 20
    if schedule == "constant":
        assert_allclose(rates, 1)
    else:
        assert rates[-1] < 0.05
        assert np.all(np.diff(rates) <= 0)


@pytest.mark.learning
def test_label_sets_paths_and_vectors_train():
    X, Y = make_multilabel_classification(400, 20, n_classes=6, random_state=0)
    paths = np.column_stack([Y[:, 0] + 2 * Y[:, 1], Y[:, 2]])
    for y, affinity in [
        (Y, "auto"),
        (sparse.csr_matrix(Y), "auto"),
        (paths, HierarchicalAffinity()),
        (X, EuclideanAffinity((20, 5), (1, 3))),
        (None, EuclideanAffinity((20, 5), (1, 3))),
    ]:
        options = {"objective": "ndcg", "affinity": affinity, "random_state": 0}
        before = TALRLinear(16, max_iter=1, learning_rate=1e-9, **options).fit(X, y)
        after = TALRLinear(16, max_iter=40, **options).fit(X, y)
        y = X if y is None else y
        assert retrieve(after, X, y, X, y, "ndcg") > retrieve(before, X, y, X, y, "ndcg")
        assert len(after.affinity_.levels_) > 2


@pytest.mark.parametrize(
    ("make_y", "affinity", "objective"),
    [
        (lambda y: y, "auto", "ap"),
        (lambda y: np.eye(4, dtype=int)[y], "auto", "ap"),  # one label in every row: classes
        (lambda y: y[:, None], HierarchicalAffinity(), "ap"),
        (lambda y: np.column_stack([y, y + 4]), "auto", "ndcg"),
        (lambda y: y, PrecomputedAffinity(np.eye(4)), "ap"),
        (lambda y: np.eye(4)[y] + 0.5, EuclideanAffinity(), "ndcg"),
        (lambda y: None, "auto", "ndcg"),
    ],
)
def test_the_affinity_chooses_the_objective(make_y, affinity, objective):
    X, y = make_blobs(60, 5, centers=4, random_state=0)
    options = {"n_bits": 4, "affinity": affinity, "max_iter": 2, "random_state": 0}
    chosen = TALRLinear(**options).fit(X, make_y(y))
    named = TALRLinear(**options, objective=objective).fit(X, make_y(y))
    assert chosen.history_ == named.history_


def test_the_first_block_does_not_choose_the_objective():
    X, _ = make_blobs(60, 5, centers=4, random_state=0)
    Y = np.zeros((60, 3), dtype=int)
    Y[:30, 0] = 1  # rows of the first block share one label at most
    Y[30:] = 1
    Y[::2] = 0
    options = {"n_bits": 4, "affinity": SharedLabelAffinity(), "random_state": 0}
    chosen, named = TALRLinear(**options), TALRLinear(**options, objective="ndcg")
    for hasher in (chosen, named):
        hasher.partial_fit(X[:30], Y[:30]).partial_fit(X[30:], Y[30:])
    assert_array_equal(chosen.components_, named.components_)


def test_ap_takes_every_positive_level_for_relevant():
    X, y = make_blobs(200, 5, centers=4, random_state=0)
    graded = np.column_stack([y // 2, y])
    options = {"objective": "ap", "max_iter": 5, "random_state": 0}
    binary = TALRLinear(8, **options).fit(X, y // 2)
    from_paths = TALRLinear(8, **options, affinity=HierarchicalAffinity())
    assert_allclose(from_paths.fit(X, graded).components_, binary.components_, rtol=1e-3, atol=1e-3)


@pytest.mark.learning
def test_scale_and_offset_of_features_do_not_matter(digits):
    X, y, X_query, y_query = digits
    scores = []
    for change in (lambda X: X, lambda X: 1000 * X + 7, lambda X: X / 1000 - 3):
        values = [
            retrieve(
                TALRLinear(16, max_iter=30, random_state=seed).fit(change(X), y),
                change(X),
                y,
                change(X_query),
                y_query,
            )
            for seed in range(3)
        ]
        scores.append(np.mean(values))
    assert_allclose(scores, scores[0], atol=0.005)


def test_constant_columns_have_weight_zero(digits):
    X, y, *_ = digits
    constant = X.std(axis=0) == 0
    assert constant.sum() > 2
    for offset in (0, 1e3):
        hasher = TALRLinear(8, max_iter=2, random_state=0).fit(X + np.float32(offset), y)
        assert_array_equal(hasher.components_[:, constant], 0)
        assert np.all(hasher.components_[:, ~constant] != 0)


@pytest.mark.parametrize(
    "make",
    [
        lambda X, y: (np.repeat(X[:40], 5, axis=0), np.repeat(y[:40], 5)),
        lambda X, y: (X[:100, :3], y[:100]),
        lambda X, y: (X[:3], np.array([0, 0, 1])),
        lambda X, y: (X[:100], np.arange(100) // 99),
        lambda X, y: (X[:100], np.maximum(np.arange(100), 1)),
        lambda X, y: (np.zeros((20, 4)), y[:20]),
        lambda X, y: (X[:100].astype(np.float16), y[:100].astype(str)),
    ],
    ids=[
        "duplicates",
        "few features",
        "three rows",
        "one other row",
        "one pair",
        "constant",
        "strings",
    ],
)
@pytest.mark.filterwarnings("ignore:all rows of X are equal")
def test_odd_data_gives_finite_projections(digits, make):
    X, y = make(*digits[:2])
    for batch_size in ("auto", 2, 10_000):
        hasher = TALRLinear(20, batch_size=batch_size, max_iter=3, random_state=0).fit(X, y)
        assert np.isfinite(hasher.components_).all()
        assert np.isfinite(hasher.decision_function(X)).all()
        assert hasher.batch_size_ <= len(X)


def batch_size_of(y, **options):
    X = np.random.default_rng(1).normal(size=(len(y), 5))
    return TALRLinear(4, max_iter=1, random_state=0, **options).fit(X, y).batch_size_


def test_batches_grow_where_relevant_items_are_rare():
    rng = np.random.default_rng(0)
    sets = [np.eye(n, dtype=int)[rng.integers(0, n, 4000)] for n in (4, 10, 100, 1000)]
    for Y in sets:
        Y[0, :2] = 1  # with one label in every row they would be classes
    sizes = [batch_size_of(Y) for Y in sets]
    assert sizes[:2] == [256, 256]
    assert 800 < sizes[2] < 1300
    assert sizes[3] == 2048


def test_batches_of_many_classes_are_made_of_groups():
    rng = np.random.default_rng(0)
    assert [batch_size_of(rng.integers(0, n, 4000)) for n in (10, 100, 1000)] == [256, 512, 512]
    paths = np.repeat(np.arange(200), 4)[:, None] // [5, 1]
    assert batch_size_of(paths) == 512
    few_pairs = np.maximum(np.arange(2400), 1)
    assert batch_size_of(few_pairs) == 2048  # no classes to make groups of

    class Look:
        def value_and_gradient(self, scores, level, levels):
            self.most = (level > 0).sum(axis=1).mean()
            return 0.0, np.zeros_like(scores)

    y = rng.integers(0, 1000, 4000)
    in_groups, at_random = Look(), Look()
    assert batch_size_of(y, objective=in_groups) == 512
    assert batch_size_of(y, objective=at_random, batch_size=512) == 512
    assert in_groups.most > 3
    assert at_random.most < 2


def test_partial_fit_takes_batches_of_groups():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(800, 5)), np.repeat(np.arange(200), 4)
    seen = []

    class Look:
        def value_and_gradient(self, scores, level, levels):
            seen.append((level > 0).sum(axis=1).min())
            return 0.0, np.zeros_like(scores)

    TALRLinear(4, objective=Look(), random_state=0).partial_fit(X, y)
    assert seen == [4, 4]


def test_the_unit_of_the_levels_does_not_change_the_batches():
    X = np.random.default_rng(0).normal(size=(600, 5))
    sizes = [
        TALRLinear(4, objective="ndcg", affinity=affinity, max_iter=1, random_state=0)
        .fit(X)
        .batch_size_
        for affinity in (
            EuclideanAffinity((50, 20), (1e-15, 2e-15)),
            EuclideanAffinity((50, 20), (1e-9, 2e-9)),
        )
    ]
    assert sizes == [256, 256]


def test_early_stopping_keeps_the_best_weights(digits):
    X, y, *_ = digits
    hasher = TALRLinear(
        16,
        early_stopping=True,
        validation_fraction=0.2,
        n_iter_no_change=3,
        learning_rate=0.05,
        schedule="constant",
        weight_decay=0,
        max_iter=100,
        random_state=0,
    ).fit(X, y)
    values = hasher.history_["validation"]
    assert len(values) == hasher.n_iter_ < 100
    assert np.argmax(values) == len(values) - 1 - 3
    order = np.random.RandomState(0).permutation(len(X))
    validation, train = order[:180], order[180:]
    best = retrieve(hasher, X[train], y[train], X[validation], y[validation])
    assert best == pytest.approx(max(values), abs=1e-12)


def test_warm_start_goes_on_from_the_last_weights(digits):
    X, y, *_ = digits
    hasher = TALRLinear(16, max_iter=20, random_state=0, warm_start=True).fit(X, y)
    first = hasher.history_["objective"]
    hasher.fit(X, y)
    assert hasher.history_["objective"][0] > (first[0] + first[-1]) / 2
    still = clone(hasher).set_params(learning_rate=1e-12, weight_decay=0, max_iter=1)
    still.components_, still.intercept_ = hasher.components_, hasher.intercept_
    still.fit(X, y)
    assert_allclose(still.components_, hasher.components_, rtol=1e-4, atol=1e-6)
    assert_allclose(still.intercept_, hasher.intercept_, rtol=1e-4, atol=1e-4)


@pytest.mark.learning
def test_partial_fit_reaches_the_quality_of_fit(digits):
    """On average: with a single seed they differ by .01, and by some .001 between processors."""
    X, y, *_ = digits
    differences = []
    for seed in range(3):
        options = {"n_bits": 16, "batch_size": 128, "dropout": 0, "random_state": seed}
        fitted = TALRLinear(**options, max_iter=30).fit(X, y)
        streamed = TALRLinear(**options)
        rng = np.random.default_rng(seed)
        for _ in range(30):
            for rows in np.array_split(rng.permutation(len(X)), 7):
                streamed.partial_fit(X[rows], y[rows])
        differences.append(retrieve(fitted, *digits) - retrieve(streamed, *digits))
    assert np.mean(differences) < 0.01
    assert not hasattr(streamed, "codes_")
    assert not hasattr(streamed, "y_")


def test_sparse_blocks_teach_what_dense_ones_do(digits):
    X, y, *_ = digits
    dense, of_sparse = (TALRLinear(8, batch_size=64, random_state=0) for _ in range(2))
    for rows in np.array_split(np.arange(len(X)), 4):
        dense.partial_fit(X[rows], y[rows])
        of_sparse.partial_fit(sparse.csr_matrix(X[rows]), y[rows])
    assert_allclose(of_sparse.components_, dense.components_, rtol=1e-4, atol=1e-5)
    assert_allclose(of_sparse.intercept_, dense.intercept_, rtol=1e-4, atol=1e-4)


@pytest.mark.learning
def test_a_first_block_may_be_small_and_odd(digits):
    X, y, X_query, y_query = digits
    for first in ([0, 1], [0, 0], [0] * 20):
        hasher = TALRLinear(16, random_state=0).partial_fit(X[first], y[first])
        for _ in range(8):
            for rows in np.array_split(np.arange(900), 9):
                hasher.partial_fit(X[rows], y[rows])
        assert retrieve(hasher, X, y, X_query, y_query) > 0.8


def test_blocks_of_both_precisions_give_doubles(digits):
    X, y, *_ = digits
    for first, second in [(np.float32, np.float64), (np.float64, np.float32)]:
        hasher = TALRLinear(4).partial_fit(X[:50].astype(first), y[:50])
        assert hasher.components_.dtype == first
        assert hasher.partial_fit(X[50:90].astype(second), y[50:90]).components_.dtype == float


@pytest.mark.learning
def test_partial_fit_goes_on_after_fit(digits):
    X, y, X_query, y_query = digits
    hasher = TALRLinear(16, max_iter=10, random_state=0).fit(X[:300], y[:300])
    before = retrieve(hasher, X, y, X_query, y_query)
    for start in range(300, 900, 100):
        hasher.partial_fit(X[start : start + 100], y[start : start + 100])
    assert retrieve(hasher, X, y, X_query, y_query) > before
    with pytest.raises(ValueError, match="3 features.*TALRLinear.* 64"):
        hasher.partial_fit(X[:10, :3], y[:10])
    hasher.fit(X, y)
    assert hasher.codes_.shape == (900, 2)


@pytest.mark.learning
def test_dropout_is_the_same_for_sparse_rows_and_goes_on_in_a_file(digits, tmp_path):
    X, y, X_query, y_query = digits
    options = {"n_bits": 16, "max_iter": 20, "random_state": 0}
    without = TALRLinear(dropout=0, **options).fit(X, y)
    hasher = TALRLinear(dropout=0.5, **options).fit(X, y)
    assert np.abs(hasher.components_ - without.components_).max() > 1e-3
    assert retrieve(hasher, X, y, X_query, y_query) > 0.8
    again = TALRLinear(dropout=0.5, **options).fit(sparse.csr_array(X), y)
    assert_allclose(again.components_, hasher.components_, rtol=1e-5, atol=1e-7)
    save_hasher(tmp_path / "h.npz", hasher)
    loaded = load_hasher(tmp_path / "h.npz")
    for learner in (hasher, loaded):
        learner.partial_fit(X[:300], y[:300])
    assert_array_equal(loaded.components_, hasher.components_)


def test_dropout_grows_with_the_number_of_features_per_row(digits):
    X, y, *_ = digits
    options = {"n_bits": 4, "max_iter": 2, "random_state": 0}

    def components(n_rows, labels=y, **more):
        return TALRLinear(**options, **more).fit(X[:n_rows], labels[:n_rows]).components_

    for n_rows, dropout in ((100, 0.3), (320, 0.2), (900, 64 / 900)):
        assert_array_equal(components(n_rows), components(n_rows, dropout=dropout))
    paths = np.stack([2 + y // 5, y], axis=1)
    assert_array_equal(components(100, paths), components(100, paths, dropout=0))
    streamed = [TALRLinear(**options, **more).partial_fit(X, y) for more in ({}, {"dropout": 0})]
    assert_array_equal(streamed[0].components_, streamed[1].components_)


def test_alpha_is_annealed(digits):
    X, y, *_ = digits
    options = {"n_bits": 8, "max_iter": 3, "random_state": 0}
    constant = TALRLinear(objective=AveragePrecision(alpha=1.5), **options).fit(X, y)
    same, annealed = (
        TALRLinear(objective=AveragePrecision(alpha=1.5, alpha_end=end), **options).fit(X, y)
        for end in (1.5, 6.0)
    )
    assert_array_equal(constant.components_, same.components_)
    assert np.abs(constant.components_ - annealed.components_).max() > 1e-3


def test_verbose_reports_every_so_often(digits, capsys):
    X, y, *_ = digits
    TALRLinear(4, max_iter=4, verbose=2, random_state=0).fit(X[:200], y[:200])
    lines = capsys.readouterr().out.splitlines()
    assert [line.split(":")[0] for line in lines] == [
        "[TALRLinear] pass 2/4",
        "[TALRLinear] pass 4/4",
    ]
    assert "objective 0." in lines[0]


def test_callbacks_see_every_pass_and_can_stop(digits):
    pytest.importorskip("sklearn.callback")
    X, y, *_ = digits
    seen = []

    class StopAfterThree:
        def setup(self, estimator, context):
            seen.append("setup")

        def teardown(self, estimator, context):
            seen.append("teardown")

        def on_fit_task_begin(self, estimator, context):
            pass

        def on_fit_task_end(self, estimator, context, *, fitted_estimator):
            seen.append(fitted_estimator.predict(X[:1]).shape)
            return context.task_name == "iteration" and context.task_id == 2

    hasher = TALRLinear(4, max_iter=9, random_state=0).set_callbacks(StopAfterThree())
    hasher.fit(X[:100], y[:100])
    assert hasher.n_iter_ == 3
    assert seen == ["setup", *[(1, 4)] * 4, "teardown"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"objective": "map"}, "'objective' parameter .* Got 'map' instead"),
        (
            {"objective": AveragePrecision(relaxation="soft")},
            "'relaxation' parameter .* Got 'soft' instead",
        ),
        ({"batch_size": 1}, "'batch_size' parameter .* Got 1 instead"),
        ({"objective": AveragePrecision(alpha=0.0)}, "'alpha' parameter .* Got 0.0 instead"),
        ({"objective": AveragePrecision(n_bins=0)}, "'n_bins' parameter .* Got 0 instead"),
        ({"objective": AveragePrecision(delta=-1.0)}, "'delta' parameter .* Got -1.0 instead"),
        ({"dropout": 1.0}, "'dropout' parameter .* Got 1.0 instead"),
        ({"affinity": "labels"}, "'affinity' parameter .* Got 'labels' instead"),
        (
            {"early_stopping": True, "validation_fraction": 0.001},
            "n_samples = 100 leaves 0 rows for validation",
        ),
        (
            {"early_stopping": True, "validation_fraction": 0.999},
            "leaves 100 rows for validation and 0 for training",
        ),
        (
            {"early_stopping": True, "validation_fraction": 0.01},
            "leaves 1 rows for validation and 99 for training. At least two of each",
        ),
    ],
)
def test_bad_options_are_refused(digits, options, message):
    X, y, *_ = digits
    with pytest.raises(ValueError, match=message):
        TALRLinear(**options).fit(X[:100], y[:100])


def test_bad_data_is_refused(digits):
    X, y, *_ = digits
    with pytest.raises(ValueError, match="Got n_samples = 1"):
        TALRLinear().fit(X[:1], y[:1])
    with pytest.raises(ValueError, match="affinity=EuclideanAffinity"):
        TALRLinear().fit(X[:10], np.linspace(0, 1, 10))
    with pytest.raises(ValueError, match="Input X contains NaN"):
        TALRLinear().fit(np.where(X[:10] == X[0, 0], np.nan, X[:10]), y[:10])


@pytest.mark.parametrize("learned", ["warm_start", "partial_fit"])
def test_learning_goes_on_with_the_same_bits_and_features_only(digits, learned):
    X, y, *_ = digits
    hasher = TALRLinear(8, max_iter=1, random_state=0, warm_start=True).fit(X, y)
    go_on = hasher.fit if learned == "warm_start" else hasher.partial_fit
    with pytest.raises(ValueError, match="9 features.*TALRLinear.* 64"):
        go_on(X[:, :9], y)
    for n_bits in (4, 12):
        hasher.set_params(n_bits=n_bits)
        with pytest.raises(ValueError, match=f"8 bits.*n_bits={n_bits}"):
            go_on(X, y)
    assert hasher.predict(X).shape == (900, 8)


@pytest.mark.parametrize("hasher", [TALRLinear(4), DispersionHasher(4)], ids=repr)
def test_blocks_come_all_with_y_or_all_without(hasher, digits):
    X, y, *_ = digits
    whole = np.arange(20.0)[:, None]  # one column of integers could be taken for labels
    with pytest.raises(ValueError, match="first came with\\."):
        clone(hasher).partial_fit(whole, y[:20]).partial_fit(whole)
    with pytest.raises(ValueError, match="first came without"):
        clone(hasher).partial_fit(X[:20, :1]).partial_fit(X[:20, :1], y[:20])


@pytest.mark.parametrize(
    "hasher",
    [
        TALRLinear(8, learning_rate=1e38),
        DispersionHasher(8, objective="dsh", solver="sgd", learning_rate=1e30),
    ],
    ids=repr,
)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_divergence_is_an_error(hasher, digits):
    X, y, *_ = digits
    for learn in (hasher.fit, hasher.partial_fit):
        with pytest.raises(ValueError, match="learning_rate"):
            learn(X, y)


@pytest.mark.learning
def test_the_offset_of_doubles_may_be_large(digits):
    X, y, X_query, y_query = (part.astype(np.float64) for part in digits)
    X, X_query, y, y_query = X + 1e8, X_query + 1e8, y.astype(int), y_query.astype(int)
    hasher = TALRLinear(16, max_iter=10, random_state=0).fit(X, y)
    assert retrieve(hasher, X, y, X_query, y_query) > 0.6
