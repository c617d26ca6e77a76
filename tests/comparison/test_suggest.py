"""A suggestion tries what suits the data on held-out rows, and says what it rests on."""

import re

import numpy as np
import pytest
from scipy import sparse

from sklearn_hashrank import HierarchicalAffinity, LSHHasher
from sklearn_hashrank.comparison import Suggestion, Trial, _suggest, _time_budget, suggest
from sklearn_hashrank.comparison._method_table import METHODS, SITUATIONS
from sklearn_hashrank.comparison._suggest import _sample, _sample_new_classes
from sklearn_hashrank.comparison._suggestion import choose, compare_with_best

RNG = np.random.default_rng(0)
CLASSES = np.arange(120) % 4
X = RNG.normal(size=(4, 6))[CLASSES] + 0.3 * RNG.normal(size=(120, 6))
SETS = np.eye(4)[CLASSES] + np.eye(4)[(CLASSES + RNG.integers(0, 2, 120)) % 4] > 0
QUICK = {"n_bits": 4, "n_splits": 2, "time_budget": None}
CHEAP = ["lsh", "itq", "rsh"]


def trial(name, *splits, encoding=1.0):
    return Trial(name, [np.asarray(values, dtype=float) for values in splits], 1.0, encoding)


def test_every_situation_has_about_five_candidates_and_they_are_made():
    for situation in SITUATIONS:
        names = [name + m.suits[situation] for name, m in METHODS.items() if situation in m.suits]
        assert 4 <= len(names) <= 6
        assert "itq" in names  # what codes are worth that know no labels
    assert {key for method in METHODS.values() for key in method.suits} <= set(SITUATIONS)
    assert not any(method.suits and method.remark for method in METHODS.values())


@pytest.mark.parametrize(
    ("y", "options", "situation", "measure"),
    [
        (CLASSES, {}, "classes", "AP_T"),
        (np.array(list("abcd"))[CLASSES], {}, "classes", "AP_T"),
        (CLASSES.astype(float), {"new_classes": True}, "new classes", "AP_T"),
        (SETS.astype(np.float32), {}, "grades", "NDCG_T"),
        (sparse.csr_array(SETS), {}, "grades", "NDCG_T"),
        (np.c_[CLASSES // 2, CLASSES] + 2, {}, "grades", "NDCG_T"),
        (RNG.normal(size=(120, 2)), {}, "grades", "NDCG_T"),
        (None, {}, "no labels", "recall@10"),
    ],
    ids=["classes", "texts", "new", "sets", "sparse", "paths", "vectors", "none"],
)
def test_the_form_of_y_decides_what_is_tried_and_measured(y, options, situation, measure):
    found = suggest(X, y, methods=CHEAP, **QUICK, **options)
    assert found.about["situation"] == SITUATIONS[situation]
    assert found.measure == measure
    assert sorted(each.method for each in found.trials) == sorted(CHEAP)
    assert all(len(each.values) == 2 for each in found.trials)
    assert f"Take {found.method}: " in str(found)
    codes = found.hasher.fit(X, y).transform(X)
    assert codes.shape == (120, 4)


def test_candidates_are_tried_and_all_others_are_named():
    lines = []
    options = {"n_splits": 1, "time_budget": None, "progress": lines.append}
    found = suggest(X, CLASSES, n_bits=8, **options)
    assert "classifier" in lines[-1]  # which may use up the time of all others
    assert "every split" not in found.reason
    wanted = {name for name, method in METHODS.items() if "classes" in method.suits}
    assert {each.method for each in found.trials} | set(found.left_out) == wanted
    assert "n_bits=8 must be at most n_features = 6" in found.left_out["itq"]
    assert "left out: itq: n_bits=8" in str(found)
    named = [name for names in found.not_tried.values() for name in names]
    assert sorted([*named, *wanted]) == sorted(METHODS)
    assert found.trials[0].mean > 0.9


def test_lwh_is_tried_on_few_classes():
    tried = {
        n: [*suggest(X, np.arange(120) % n, **(QUICK | {"n_splits": 1})).rivals] for n in (3, 4)
    }
    assert ("lwh" in tried[3], "lwh" in tried[4]) == (True, False)


def test_the_same_seed_gives_the_same_numbers_and_rows_are_bounded():
    first, second = (
        suggest(X, CLASSES, methods=["lsh"], random_state=3, max_rows=20, **QUICK) for _ in "ab"
    )
    for a, b in zip(first.trials[0].values, second.trials[0].values, strict=True):
        np.testing.assert_array_equal(a, b)
    assert "of 120 rows: 20 training rows, 24 queries, 40 database rows" in first.about["sample"]
    assert "with more training rows the order" in first.about["sample"]


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


def test_a_budget_leaves_out_what_it_has_no_time_for():
    lines = []
    found = suggest(
        X, CLASSES, methods=CHEAP, n_bits=4, time_budget=1e-9, n_splits=2, progress=lines.append
    )
    assert len(lines) == 1
    assert [each.method for each in found.trials] == ["lsh"]
    assert set(found.left_out) == {"itq", "rsh"}
    assert "time budget of 1e-09 s was used up" in found.left_out["itq"]
    assert found.about["fewer splits, for lack of time"] == "lsh 1"
    assert "the only method that was tried" in found.reason
    assert found.reason.endswith("Not compared, see below: itq, rsh.")
    assert np.isnan(found.trials[0].spread)


class Clock:
    """Time that passes only while a `TimedHasher` learns."""

    now = 0.0


class TimedHasher(LSHHasher):
    """A fit takes ``seconds * (constant + n_samples ** power)``."""

    def __init__(self, n_bits=4, constant=0.0, power=1.0, seconds=1.0, random_state=None):
        super().__init__(n_bits, random_state=random_state)
        self.constant, self.power, self.seconds = constant, power, seconds

    def fit(self, X, y=None):
        if X.shape[0] < 6:
            raise ValueError("too few rows")
        Clock.now += self.seconds * (self.constant + X.shape[0] ** self.power)
        return super().fit(X, y)


# Seconds of 96 rows: 96, 384, 9,216 and 1,192
EVEN, SLOW, SQUARE, LONG = {}, {"seconds": 4}, {"power": 2}, {"constant": 500, "seconds": 2}


@pytest.mark.parametrize(
    ("methods", "budget", "tried", "left_out", "most_seconds"),
    [
        ([EVEN, SLOW, SQUARE], 950, [0, 1], {2: 9216}, 950),
        ([SQUARE, EVEN], 700, [1], {0: 9216}, 700),
        ([LONG, EVEN], 9999, [0, 1], {}, 9999),
        ([LONG, EVEN], 5100, [0, 1], {}, 5100),
        ([EVEN, EVEN, EVEN], 260, [0, 1], {2: 96}, 260),
        ([SQUARE], 700, [0], {}, 9999),  # one is needed
        ([SQUARE, SLOW], 200, [1], {0: 9216}, 700),
        ([SQUARE, SLOW], None, [0, 1], {}, 9600),
    ],
)
def test_no_fit_begins_that_will_not_end_in_time(
    methods, budget, tried, left_out, most_seconds, monkeypatch
):
    """Times of 6, 12 and 24 rows say how long all rows take."""
    names = [f"hasher {number}" for number in range(len(methods))]
    made = dict(zip(names, methods))
    monkeypatch.setattr(Clock, "now", 0.0)
    monkeypatch.setattr(_time_budget.time, "perf_counter", lambda: Clock.now)
    monkeypatch.setattr(_suggest, "method_from_name", lambda name: TimedHasher(**made[name]))
    monkeypatch.setattr(_suggest, "warm_up", lambda *args: None)
    options = {"n_bits": 4, "n_splits": 1, "max_rows": 96, "time_budget": budget}
    found = suggest(X, CLASSES, methods=names, **options)
    assert sorted(each.method for each in found.trials) == [names[number] for number in tried]
    assert set(found.left_out) == {names[number] for number in left_out}
    for number, seconds in left_out.items():
        expected, left = re.findall(r"([\d.e+]+) s", found.left_out[names[number]])[:2]
        assert float(expected) == pytest.approx(seconds, rel=0.05)
        assert float(left) < float(expected)
    assert Clock.now <= most_seconds


def test_differences_must_hold_in_all_splits_and_beyond_chance():
    noise = RNG.normal(scale=0.01, size=(2, 200))
    best = trial("best", 0.8 + noise[0], 0.8 + noise[1])
    near = trial("near", 0.8 + noise[0, ::-1], 0.8 + noise[1, ::-1])
    mixed = trial("mixed", 0.9 + noise[0], 0.2 + noise[1])
    behind = trial("behind", 0.7 + noise[0], 0.75 + noise[1])
    rivals = compare_with_best([best, near, mixed, behind], best)
    assert {name for name, rival in rivals.items() if rival.is_behind} == {"behind"}
    assert rivals["behind"].difference == pytest.approx(0.075)
    assert rivals["mixed"].p_value < 1e-6
    one = trial("one", 0.7 + noise[0])  # the first split only
    assert compare_with_best([best, one], best)["one"].difference == pytest.approx(0.1)


def test_of_equals_the_fastest_is_taken_where_it_is_much_faster():
    noise = RNG.normal(scale=0.2, size=(3, 30))
    best = trial("best", 0.8 + noise[0], encoding=10.0)
    equal = trial("equal", 0.79 + noise[1], encoding=1.0)
    far = trial("far", 0.1 + noise[2], encoding=0.1)
    taken, found, _ = choose([equal, far, best])
    assert (taken, found) == (equal, best)
    slower = trial("equal", 0.79 + noise[1], encoding=6.0)
    assert choose([slower, far, best])[0] is best


def test_queries_with_nothing_relevant_are_left_out():
    values = [0.5, np.nan, 0.7]
    assert trial("a", values).mean == pytest.approx(0.6)
    rivals = compare_with_best([trial("a", values), trial("b", values)], trial("a", values))
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
        (CLASSES, {"methods": ["itq", "pca"], "n_bits": 7}, "no candidate can take .* 'itq'"),
        (CLASSES, {"methods": ["itg"]}, "unknown method 'itg'"),
        (CLASSES, {"methods": "itg"}, "unknown method 'itg'"),
        (CLASSES, {"methods": 8}, "methods must be named by str. Got 8"),
        (CLASSES, {"methods": ["itq", 2]}, "methods must be named by str. Got 2"),
        (CLASSES, {"measure": ["ap", "ndcg"]}, "measure must be one measure. Got ap, ndcg"),
        (CLASSES, {"n_splits": 0}, "n_splits must be an int >= 1"),
        (CLASSES, {"n_bits": True}, "n_bits must be an int >= 1. Got True"),
        (CLASSES, {"time_budget": 0}, "time_budget must be seconds above 0"),
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
    assert isinstance(found, Suggestion)


def test_a_given_affinity_is_learned_from_and_judged_by():
    y = SETS[:, :2].astype(int)
    found = suggest(X, y, affinity=HierarchicalAffinity(), methods=["rsh"], **QUICK)
    assert "HierarchicalAffinity" in repr(found.hasher)
    assert "path" in found.about["relevance"]
    assert str(found).endswith(".set_params(n_bits=4, affinity=HierarchicalAffinity()).fit(X, y)")
