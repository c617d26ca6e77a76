"""A suggestion compares what suits the data on held-out rows, and says why it is taken."""

import numpy as np
import pytest
from scipy import sparse

from sklearn_hashrank import HierarchicalAffinity, ITQHasher, TALRKernel
from sklearn_hashrank.comparison import Comparison, suggest
from sklearn_hashrank.comparison._best import rivals_of_leader
from sklearn_hashrank.comparison._columns import COLUMNS
from sklearn_hashrank.comparison._method_table import METHODS, SITUATIONS
from sklearn_hashrank.comparison._runner import RunResult
from sklearn_hashrank.comparison._suggest import _sample, _sample_new_classes

RNG = np.random.default_rng(0)
CLASSES = np.arange(120) % 4
X = RNG.normal(size=(4, 6))[CLASSES] + 0.3 * RNG.normal(size=(120, 6))
SETS = np.eye(4)[CLASSES] + np.eye(4)[(CLASSES + RNG.integers(0, 2, 120)) % 4] > 0
QUICK = {"n_bits": 4, "n_splits": 2}
CHEAP = ["lsh", "itq", "rsh"]


def test_every_situation_has_about_five_candidates_and_they_are_made():
    for situation in SITUATIONS:
        names = [name + m.suits[situation] for name, m in METHODS.items() if situation in m.suits]
        assert 4 <= len(names) <= 6
        assert "itq" in names  # what codes are worth that know no labels
    assert {key for method in METHODS.values() for key in method.suits} <= set(SITUATIONS)


@pytest.mark.parametrize(
    ("y", "options", "situation", "measure"),
    [
        (CLASSES, {}, "classes", "ap"),
        (np.array(list("abcd"))[CLASSES], {}, "classes", "ap"),
        (CLASSES.astype(float), {"new_classes": True}, "new classes", "ap"),
        (SETS.astype(np.float32), {}, "grades", "ndcg"),
        (sparse.csr_array(SETS), {}, "grades", "ndcg"),
        (np.c_[CLASSES // 2, CLASSES] + 2, {}, "grades", "ndcg"),
        (RNG.normal(size=(120, 2)), {}, "grades", "ndcg"),
        (None, {}, "no labels", "recall@10"),
    ],
    ids=["classes", "texts", "new", "sets", "sparse", "paths", "vectors", "none"],
)
def test_the_form_of_y_decides_what_is_tried_and_measured(y, options, situation, measure):
    found = suggest(X, y, methods=CHEAP, **QUICK, **options)
    assert found.about["situation"] == SITUATIONS[situation]
    assert found.columns[0].name == measure
    assert [each.method for each in found.results] == CHEAP * 2
    hasher = found.hashers[found.best().method].set_params(n_bits=4)
    assert hasher.fit(X, y).transform(X).shape == (120, 4)


def test_candidates_that_do_not_support_the_data_are_skipped():
    with pytest.warns(UserWarning, match="skipped: 'itq'"):
        found = suggest(X, CLASSES, n_bits=8, n_splits=1)
    wanted = {name for name, method in METHODS.items() if "classes" in method.suits}
    assert set(found.hashers) == wanted - {"itq"}
    assert "n_bits=8 must be at most n_features = 6" in found.about["skipped"][0]


def test_lwh_is_tried_on_few_classes():
    tried = {n: suggest(X, np.arange(120) % n, n_bits=4, n_splits=1).hashers for n in (3, 4)}
    assert ("lwh" in tried[3], "lwh" in tried[4]) == (True, False)


def test_the_same_seed_gives_the_same_numbers_and_rows_are_bounded():
    first, second = (
        suggest(X, CLASSES, methods=["lsh"], random_state=3, max_rows=20, **QUICK) for _ in "ab"
    )
    for a, b in zip(first.results, second.results, strict=True):
        assert a.curves == b.curves
    sizes = first.about["protocol"]["sizes"]
    assert sizes == "24 queries, 40 database rows, 20 training rows"


@pytest.mark.parametrize("groups", [CLASSES, None])
def test_samples_hold_each_class_in_proportion(groups):
    split = _sample(X, CLASSES, groups, 40, 0)
    assert (len(split.train), len(split.query), len(split.database)) == (40, 24, 80)
    assert np.isin(split.train, split.database).all()
    if groups is not None:
        for rows in split:
            counts = np.bincount(CLASSES[rows], minlength=4)
            assert np.ptp(counts) <= 2


def test_new_classes_are_not_trained_on():
    y = np.concatenate([CLASSES, [7]])  # of a single row: it cannot be a query
    rows = np.concatenate([X, X[:1]])
    train, query, database = _sample_new_classes(rows, y, y, 1000, 0)
    assert not set(y[train]) & set(y[query])
    assert set(y[query]) == set(y[database])
    assert 7 not in y[np.concatenate([train, query, database])]


def runs(name, *seeds, n_bits=8):
    return [
        RunResult(
            name, n_bits, seed, {"ap": np.nanmean(values)}, {"of_queries": {"ap": list(values)}}
        )
        for seed, values in enumerate(seeds)
    ]


def test_differences_must_hold_with_every_seed_and_beyond_chance():
    noise = RNG.normal(scale=0.01, size=(2, 200))
    results = [
        *runs("best", 0.8 + noise[0], 0.8 + noise[1]),
        *runs("near", 0.8 + noise[0, ::-1], 0.8 + noise[1, ::-1]),
        *runs("mixed", 0.9 + noise[0], 0.2 + noise[1]),
        *runs("behind", 0.7 + noise[0], 0.75 + noise[1]),
    ]
    means, rivals = rivals_of_leader(results, "ap", 8)
    leader = next(iter(means))
    assert leader in ("best", "near")
    assert {name for name, rival in rivals.items() if rival.is_behind} == {"behind"}
    assert rivals["behind"].difference == pytest.approx(0.075, abs=0.002)
    assert rivals["mixed"].p_value < 1e-6
    one = rivals_of_leader([*results[:2], *runs("one", 0.7 + noise[0])], "ap", 8)[1]
    assert one["one"].difference == pytest.approx(0.1)
    assert rivals_of_leader(results, "ap", 16) == ({}, {})


def test_of_equals_half_spaces_are_taken_whatever_the_times_are():
    noise = RNG.normal(scale=0.2, size=(3, 30))
    results = [*runs("kernel", 0.8 + noise[0]), *runs("linear", 0.79 + noise[1])]
    results += runs("far", 0.1 + noise[2])
    hashers = {"kernel": TALRKernel(), "linear": ITQHasher(), "far": ITQHasher()}
    found = Comparison(results, {}, COLUMNS, hashers=hashers)
    method, reason = found.best()
    assert method == "linear"
    assert "below kernel" in reason
    hashers["linear"] = TALRKernel()
    method, reason = found.best("ap", 8)
    assert (method, reason.endswith("above linear.")) == ("kernel", True)
    with pytest.raises(ValueError, match="measure must be one of ap. Got 'ndcg'"):
        found.best("ndcg")
    with pytest.raises(ValueError, match="no run of 16 bits"):
        found.best(n_bits=16)


def test_queries_with_nothing_relevant_do_not_count():
    values = [0.5, np.nan, 0.7]
    means, rivals = rivals_of_leader([*runs("a", values), *runs("b", values)], "ap", 8)
    assert means["a"] == pytest.approx(0.6)
    assert rivals["b"].p_value == 1


@pytest.mark.parametrize(
    ("y", "options", "message"),
    [
        (np.zeros(120, int), {}, "suggest has nothing to learn from.* 1 class of 120 rows"),
        (np.arange(120), {}, "suggest has nothing to learn from"),
        (CLASSES[:50], {}, "inconsistent numbers of samples"),
        (CLASSES + 0.5, {}, "non-integral"),
        (None, {"new_classes": True}, "needs class labels or label paths. Got y=None"),
        (SETS.astype(int), {"new_classes": True}, "Got a multilabel indicator"),
        (np.arange(120) // 2, {"new_classes": True}, "needs classes of at least 3 rows"),
        (CLASSES, {"methods": ["itq", "pca"], "n_bits": 7}, "2 methods do not support .* 'itq'"),
        (CLASSES, {"methods": ["itg"]}, "unknown method 'itg'"),
        (CLASSES, {"methods": "itg"}, "unknown method 'itg'"),
        (CLASSES, {"methods": 8}, "methods must be named by str. Got 8"),
        (CLASSES, {"measure": ["ap", "ndcg"]}, "measure must be one measure. Got ap, ndcg"),
        (CLASSES, {"n_splits": 0}, "n_splits must be an int >= 1"),
        (CLASSES, {"n_bits": True}, "n_bits must be an int >= 1. Got True"),
    ],
)
def test_what_cannot_be_suggested_for_is_one_error(y, options, message):
    with pytest.raises(ValueError, match=message):
        suggest(X, y, **options)


@pytest.mark.parametrize("value", ["x", np.nan, np.inf])
def test_columns_of_a_table_that_are_no_numbers_are_named(value):
    pd = pytest.importorskip("pandas")
    table = pd.DataFrame(X, columns=[f"c{i}" for i in range(X.shape[1])])
    with pytest.raises(ValueError, match="Columns that are not finite numbers: 'c1'.$"):
        suggest(table.assign(c1=value), CLASSES)


def test_few_rows():
    with pytest.raises(ValueError, match="at least 10 rows. Got n_samples = 9"):
        suggest(X[:9], CLASSES[:9])
    found = suggest(X[:12], CLASSES[:12], methods=["lsh", "itq"], n_bits=2, n_splits=1)
    assert not found.failures


def test_a_given_affinity_is_learned_from_and_evaluated_against():
    y = SETS[:, :2].astype(int)
    found = suggest(X, y, affinity=HierarchicalAffinity(), methods=["rsh"], **QUICK)
    assert "HierarchicalAffinity" in repr(found.hashers["rsh"])
    assert "path" in found.about["data"]["relevance"]
