"""Comparisons say what direct calls say, whatever is kept, and however many jobs."""

import csv
import io
import json
import re
import warnings
from functools import partial

import numpy as np
import pytest
from sklearn.decomposition import PCA
from sklearn.model_selection import KFold
from sklearn.pipeline import make_pipeline

from sklearn_hashrank import (
    ITQHasher,
    LSHHasher,
    NeighborAffinity,
    SharedLabelAffinity,
    TALRLinear,
)
from sklearn_hashrank.codes._reading import codes_of_array
from sklearn_hashrank.comparison import _run_store, compare, method_from_name
from sklearn_hashrank.comparison._method_table import METHODS
from sklearn_hashrank.comparison._run_store import RunStore
from sklearn_hashrank.comparison._runner import RunResult
from sklearn_hashrank.metrics import (
    average_cumulative_gain_score,
    local_group_average_precision_score,
    lookup_precision_score,
    tie_aware_average_precision_score,
    tie_aware_ndcg_score,
)
from sklearn_hashrank.model_selection import (
    PerClassRetrievalSplit,
    RandomRetrievalSplit,
    RetrievalSplit,
    cross_validate_retrieval,
)
from sklearn_hashrank.objectives import AveragePrecision
from tests.comparison.conftest import PROTOCOL
from tests.instances import HAS_TORCH

TIMES = {"fit_seconds", "encode_microseconds"}


def numbers(comparison):
    """All scores but times."""
    return {
        (r.method, r.n_bits, r.seed): {k: v for k, v in r.scores.items() if k not in TIMES}
        for r in comparison.results
    }


def direct(digits, hasher, seed):
    X, y = digits
    split = PerClassRetrievalSplit(n_queries=5, n_train=30, random_state=seed)
    train, query, database = next(split.split(X, y))
    hasher.fit(X[train], y[train])
    arguments = y[query], hasher.transform(X[query])
    options = {"database": (y[database], hasher.transform(X[database])), "n_bits": hasher.n_bits}
    tied = {"ap": tie_aware_average_precision_score, "ndcg": tie_aware_ndcg_score}
    lookup = {
        "ph2": lookup_precision_score,
        "acg": average_cumulative_gain_score,
        "mlgap": local_group_average_precision_score,
    }
    scores = {name: metric(*arguments, **options) for name, metric in (tied | lookup).items()}
    for name, metric in tied.items():
        for ties in ("pessimistic", "optimistic"):
            scores[f"{name}_{ties}"] = metric(*arguments, **options, ties=ties)
    return scores


def test_scores_are_those_of_direct_calls(comparison, digits):
    rows = list(csv.DictReader(io.StringIO(comparison.to_csv())))
    assert len(rows) == len(comparison.results) == 8
    for row in rows:
        kind = {"lsh": LSHHasher(), "itq:max_iter=5": ITQHasher(max_iter=5)}[row["method"]]
        seed, n_bits = int(row["seed"]), int(row["n_bits"])
        kind.set_params(n_bits=n_bits, random_state=seed, output="packed")
        for name, value in direct(digits, kind, seed).items():
            assert float(row[name]) == pytest.approx(value, abs=1e-12)


def test_methods_share_the_split_of_a_seed_and_seeds_differ(comparison):
    of_seed = {r.seed: r.scores["ap"] for r in comparison.results if r.n_bits == 12}
    assert len(set(of_seed.values())) == 2
    assert all(r.scores["n_queries"] == 50 for r in comparison.results)
    assert all(r.scores["n_train"] == 300 for r in comparison.results)
    assert all(r.scores["n_database"] == 1797 - 50 for r in comparison.results)


def test_columns_are_chosen_in_order(digits):
    names = ["fit_seconds", "recall@10"]
    found = compare(
        *digits,
        methods=["lsh", "itq"],
        n_bits=[8, 12],
        seeds=2,
        protocol=PROTOCOL,
        measures=["ap", "recall@10"],
        columns=names,
    )
    assert [table.column.name for table in found.tables()] == names
    assert len(found.chance) == 4
    chance = {(r.n_bits, r.seed): r.scores["recall@10"] for r in found.chance}
    for same in ("recall@10", iter(["recall@10"])):
        assert [table.column.name for table in found.tables(same)] == ["recall@10"]
    with pytest.raises(ValueError, match="names must be named by str. Got 3"):
        found.tables(3)
    with pytest.raises(ValueError, match="names must be among .*recall@10. Got 'recal@10'"):
        found.to_markdown(["recal@10"])
    assert found.tables(["recall@10"])[0].cells["chance", 8].mean == pytest.approx(
        np.mean([chance[8, 0], chance[8, 1]])
    )


@pytest.mark.parametrize("form", ["bits", "signs", "read"])
def test_given_codes_are_a_method(digits, tmp_path, form):
    X, y = digits
    bits = (X[:, 20:36] > 7).astype(np.uint8)
    codes = {"bits": bits, "signs": 2.0 * bits - 1, "read": codes_of_array(bits)}[form]
    options = {"n_bits": [8, 16], "seeds": 2, "protocol": PROTOCOL, "store": tmp_path}
    found = compare(X, y, methods=["lsh"], codes={"mine": codes}, **options)
    mine = [result for result in found.results if result.method == "mine"]
    assert [(r.n_bits, r.seed, r.error) for r in mine] == [(16, 0, ""), (16, 1, "")]
    for result in mine:
        protocol = PerClassRetrievalSplit(5, 30, random_state=result.seed)
        [(_, query, database)] = protocol.split(X, y)
        expected = tie_aware_average_precision_score(
            y[query], bits[query], database=(y[database], bits[database])
        )
        assert result.scores["ap"] == pytest.approx(expected, abs=1e-12)
        assert np.isnan(result.scores["fit_seconds"])
    assert found.about["methods"]["mine"].startswith("given codes of 16 bits")
    assert "| mine   |" in found.to_markdown(["ap"])
    again = compare(X, y, methods=["lsh"], codes={"mine": codes}, **options)
    assert all(result.from_store for result in again.results)
    other = compare(X, y, methods=["lsh"], codes={"mine": 1 - bits[::-1]}, **options)
    assert [result.from_store for result in other.results if result.method == "mine"] == [False] * 2


@pytest.mark.parametrize(
    ("codes", "message"),
    [
        ({"mine": np.ones((7, 8))}, "codes of 'mine' must have one row for each row of X, 1,797"),
        ({"mine": np.full((1797, 8), 0.5)}, "codes of 'mine': .*threshold=0"),
        ({"lsh": np.ones((1797, 8))}, "each method must be named once. Got 'lsh'"),
        ({"chance": np.ones((1797, 8))}, "no method can be named 'chance'"),
        ([1], "codes must map names to codes"),
    ],
)
def test_given_codes_are_checked_before_the_first_run(digits, codes, message):
    with pytest.raises(ValueError, match=message):
        compare(*digits, methods=["lsh"], codes=codes, protocol=PROTOCOL)


def test_chance_is_the_mean_over_random_rankings(digits):
    """Constant codes score what a random order of the database scores on average."""
    X, y = digits
    found = compare(X, y, methods=["lsh"], n_bits=[4, 70], seeds=1, protocol=PROTOCOL)
    [(_, query, database)] = PerClassRetrievalSplit(5, 30, random_state=0).split(X, y)
    rng = np.random.default_rng(0)
    means = []
    for _ in range(200):
        relevant = y[query][:, None] == rng.permutation(y[database])
        hits = np.cumsum(relevant, axis=1) / np.arange(1, len(database) + 1)
        means.append(np.mean((hits * relevant).sum(axis=1) / relevant.sum(axis=1)))
    error = 4 * np.std(means) / np.sqrt(len(means))
    for chance, n_bits in zip(found.chance, (4, 70), strict=True):
        assert chance.scores["ap"] == pytest.approx(np.mean(means), abs=error)
        queries, items = (np.zeros((len(rows), n_bits), int) for rows in (query, database))
        for name, metric in (
            ("ndcg", tie_aware_ndcg_score),
            ("mlgap", local_group_average_precision_score),
        ):
            expected = metric(y[query], queries, database=(y[database], items))
            assert chance.scores[name] == expected


@pytest.mark.pool
def test_jobs_change_no_number(comparison, digits):
    parallel = compare(
        *digits,
        methods=["lsh", "itq:max_iter=5"],
        n_bits=[8, 12],
        seeds=2,
        protocol=PROTOCOL,
        n_jobs=np.int64(2),
    )
    assert numbers(parallel) == numbers(comparison)


class Stop(BaseException):
    """Like KeyboardInterrupt, which pytest keeps to itself."""


def test_interrupted_runs_are_kept_and_resumed(comparison, digits, tmp_path):
    settings = {"methods": ["lsh", "itq:max_iter=5"], "n_bits": [8, 12], "seeds": 2}
    settings |= {"protocol": PROTOCOL, "store": tmp_path}

    def stop(result, n_done, n_runs):
        assert not result.from_store
        assert n_runs == 8
        if n_done == 3:
            raise Stop

    with pytest.raises(Stop):
        compare(*digits, **settings, progress=stop)
    assert len(list(tmp_path.glob("*.json"))) == 3
    resumed = compare(*digits, **settings)
    assert sum(result.from_store for result in resumed.results) == 3
    assert numbers(resumed) == numbers(comparison)
    again = compare(*digits, **settings)
    assert again.results == [r for r in again.results if r.from_store]
    assert [r.scores for r in again.results] == [r.scores for r in resumed.results]


@pytest.mark.parametrize(
    "change",
    [
        {"methods": {"lsh": LSHHasher(), "changed": LSHHasher()}},
        {"methods": {"lsh": ITQHasher()}},
        {"n_bits": [9]},
        {"seeds": [1]},
        {"protocol": PerClassRetrievalSplit(n_queries=6, n_train=30)},
        {"affinity": SharedLabelAffinity()},
        {"X": 0},
        {"y": 1},
    ],
    ids=str,
)
def test_a_changed_setting_never_finds_a_stale_run(digits, tmp_path, change):
    X, y = digits
    settings = {"methods": {"lsh": LSHHasher()}, "n_bits": [8], "seeds": [0], "store": tmp_path}
    settings["protocol"] = PROTOCOL
    compare(X, y, **settings)
    if "X" in change:
        X, change = X.copy(), {}
        X[0, 30] += 1e-9
    if "y" in change:
        y, change = y.copy(), {}
        y[0] = 1 - y[0]
    if "affinity" in change:
        y = np.eye(10, dtype=int)[y]
    results = compare(X, y, **settings | change).results
    assert [result.from_store for result in results] == [
        r.method == "changed" for r in results
    ] or (
        [result.from_store for result in results] == [True, True]  # the same hasher by another name
    )
    if list(change) != ["methods"] or len(results) == 1:
        assert not results[0].from_store


def test_a_damaged_record_is_run_again(digits, tmp_path):
    settings = {"methods": ["lsh"], "n_bits": [8], "seeds": 1, "protocol": PROTOCOL}
    compare(*digits, **settings, store=tmp_path)
    [path] = tmp_path.glob("*.json")
    content = path.read_text()
    record = json.loads(content)
    result = record["result"]
    edited = {**record, "result": {**result, "scores": {**result["scores"], "ap": 0.99}}}
    lacking = {name: value for name, value in result.items() if name != "method"}
    lacking = {**record, "result": lacking, "digest": _run_store._digest(lacking)}
    marked = {**record, "result": {**result, "warnings": ["<script>alert(1)</script>"]}}
    damaged = [json.dumps(other) for other in (edited, lacking, marked, {"key": "other"}, [1])]
    for text in ("", content[: len(content) // 2], "[" * 100_000, "\udcff", *damaged):
        path.write_bytes(text.encode(errors="surrogateescape"))
        with pytest.warns(UserWarning, match="is not as it was written; its run is done again"):
            [again] = compare(*digits, **settings, store=tmp_path).results
        assert not again.from_store
        assert again.scores["ap"] == result["scores"]["ap"]
        assert again.warnings == []
    assert compare(*digits, **settings, store=tmp_path).results[0].from_store
    assert [file.name for file in tmp_path.iterdir()] == [path.name]


def test_a_record_nested_to_any_depth_is_refused(tmp_path):
    for depth in range(100, 1100, 9):
        (tmp_path / "key.json").write_text('{"digest": 1, "a": ' + "[" * depth + "]" * depth + "}")
        with pytest.warns(UserWarning, match="its run is done again"):
            assert RunStore(tmp_path).load("key") is None


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_labels_of_all_rows_are_checked_before_the_first_run(digits, bad):
    """Also those of queries, on which nothing is trained."""
    X, y = digits
    y = [*map(float, y[:-1]), bad]
    train, others = np.arange(50), np.arange(50, len(y))
    split = RetrievalSplit(train, others, train)

    def progress(*arguments):
        raise AssertionError("too late")

    with pytest.raises(ValueError, match="y contains NaN, infinity or missing values"):
        compare(X, y, methods=["lsh"], n_bits=[4], seeds=1, protocol=split, progress=progress)


def test_a_ranking_measure_of_one_order_has_a_report(digits, tmp_path, no_pictures):
    measure = partial(tie_aware_average_precision_score, ties="pessimistic")
    settings = {"methods": ["lsh"], "n_bits": [4], "seeds": 1, "protocol": PROTOCOL}
    paths = compare(*digits, **settings, measures={"ap": measure}).write(tmp_path)
    assert "pessimistic" in paths["report"].read_text()


def test_store_writes_at_once(tmp_path, monkeypatch):
    store = RunStore(tmp_path)
    store.save("key", RunResult("lsh", 8, 0, {"ap": 0.5}))

    def fail(*arguments):
        raise OSError("disk full")

    monkeypatch.setattr("os.replace", fail)
    with pytest.raises(OSError, match="disk full"):
        store.save("key", RunResult("lsh", 8, 0, {"ap": 0.6}))
    assert store.load("key").scores == {"ap": 0.5}
    assert len(list(tmp_path.iterdir())) == 1


def test_a_failing_method_does_not_end_the_others(digits, tmp_path):
    methods = {"pipe": make_pipeline(PCA(60), ITQHasher()), "lsh": LSHHasher()}
    settings = {"methods": methods, "n_bits": [70], "seeds": 1, "protocol": PROTOCOL}
    comparison = compare(*digits, **settings, store=tmp_path)
    pipe, lsh = comparison.results
    assert pipe.error.startswith("ValueError: n_bits")
    assert comparison.failures == [pipe]
    assert lsh.scores["ap"] > 0.1
    assert re.search(r"\| pipe +\| +-- \|", comparison.to_markdown(["ap"]))
    assert pipe.error in comparison.to_csv()
    assert len(list(tmp_path.glob("*.json"))) == 1


def fail_to_fit(*arguments):
    raise AssertionError("something was fitted")


def test_methods_that_cannot_take_the_data_are_named_before_the_first_fit(digits, monkeypatch):
    X, y = digits
    sets = np.eye(10)[y]
    sets[y > 7, 0] = 1
    settings = {"n_bits": [8, 70, 80], "seeds": 2, "protocol": RandomRetrievalSplit(20, 60)}
    monkeypatch.setattr("sklearn_hashrank.comparison._runner._measure", fail_to_fit)
    with pytest.raises(ValueError, match="2 methods do not support these data") as caught:
        compare(X, sets, methods=["itq", "classifier", "lsh"], **settings)
    line = str(caught.value)
    assert "'itq' with 70, 80 bits: n_bits=70 must be at most n_features = 64" in line
    assert "'classifier' with 8, 70, 80 bits: ClassifierHasher learns from class labels" in line
    assert line.endswith("set skip_unsupported.")
    with pytest.raises(ValueError, match="1 method does not support these data. 'classifier'"):
        compare(X, methods=["classifier"], n_bits=[8], skip_unsupported=True)


def test_methods_that_cannot_take_the_data_may_be_skipped(digits, monkeypatch):
    monkeypatch.setattr("sklearn_hashrank.comparison._comparison.draw_figures", lambda *_: [])
    settings = {"n_bits": [8, 70], "seeds": 1, "protocol": PROTOCOL, "skip_unsupported": True}
    with pytest.warns(UserWarning, match="skipped: 'itq' with 70 bits: n_bits=70 must"):
        found = compare(*digits, methods=["itq", "lsh"], **settings)
    assert [(r.method, r.n_bits) for r in found.results] == [("itq", 8), ("lsh", 8), ("lsh", 70)]
    assert not found.failures
    assert "&#x27;itq&#x27; with 70 bits: n_bits=70 must" in found.to_html()
    with pytest.warns(UserWarning, match="skipped: 'itq'"):
        found = compare(*digits, methods=["itq", "lsh"], **(settings | {"n_bits": [70]}))
    assert list(found.about["methods"]) == ["lsh"]


def test_without_labels_distances_count(digits):
    X = digits[0][:300]
    protocol = RetrievalSplit(np.arange(50, 200), np.arange(50), np.arange(50, 300))
    comparison = compare(X, methods=["lsh"], n_bits=[16], seeds=2, protocol=protocol)
    assert "EuclideanAffinity" in comparison.about["data"]["relevance"]
    first, second = comparison.results
    assert first.scores["n_database"] == 250
    assert 0 < first.scores["ndcg"] < 1
    assert first.scores["ndcg"] != second.scores["ndcg"]  # another hasher, the same rows


def test_method_notation():
    assert set(METHODS) >= {"lsh", "pca", "itq", "rsh", "lwh", "talr-ap", "talr-ndcg", "dispersed"}
    hasher = method_from_name("talr-ap : alpha = 3 : schedule=step:alpha_end=None")
    assert repr(hasher) == repr(TALRLinear(objective=AveragePrecision(alpha=3), schedule="step"))
    assert METHODS["talr-ap"].hasher.objective.alpha == 2


@pytest.mark.skipif(HAS_TORCH, reason="torch is installed")
def test_networks_say_what_to_install():
    with pytest.raises(ValueError, match=r"'deep-dsh': .* pip install .\.\[deep\]"):
        method_from_name("deep-dsh:max_iter=3")


def test_methods_as_printed_differ_from_ours_in_what_the_papers_do_not_do():
    def changed(name):
        ours = METHODS[name].hasher.get_params()
        printed = METHODS[f"{name}-paper"].hasher.get_params()
        return {key: value for key, value in printed.items() if value != ours[key]}

    assert changed("rsh") == {
        "n_queries": 100,
        "n_database": 1000,
        "solver": "alm",
        "rotation": None,
        "spread": "eigenvectors",
        "shrinkage": 1,
    }
    assert changed("lwh") == {
        "n_queries": 300,
        "n_database": 1000,
        "preparation": "centered",
        "rotation": None,
    }
    assert repr(METHODS["hierarchical-paper"].hasher.objective) == "Nested()"


@pytest.mark.parametrize(
    ("notation", "message"),
    [
        ("itg", r"unknown method 'itg'. Did you mean 'itq'\? The methods are [a-z]"),
        ("itq:max_it=3", "method 'itq' has no parameter 'max_it'. Its parameters: max_iter."),
        ("lsh:a=1", "method 'lsh' has no parameter 'a'. Its parameters: none."),
        ("itq:max_iter", "must read parameter=value"),
        ("itq:max_iter=3:max_iter=4", "method 'itq:max_iter=3:max_iter=4' gives max_iter twice"),
        ("itq:max_iter=0", "method 'itq:max_iter=0': The 'max_iter' parameter of ITQHasher must"),
        ("hashnet:scale=-3", "method 'hashnet:scale=-3': The 'scale' parameter of HashNet must"),
        ("itq:n_bits=3", "n_bits of method 'itq:n_bits=3' is set for each run"),
    ],
)
def test_wrong_methods(notation, message):
    with pytest.raises(ValueError, match=message):
        method_from_name(notation)


class OwnSplit:
    """Somebody else's split object, which gives what it is told to."""

    def __init__(self, *splits):
        self.splits = splits

    def split(self, X, y=None):
        return iter(self.splits)


def test_a_split_object_may_give_three_arrays(digits):
    parts = np.arange(50, 200), np.arange(50), np.arange(50, 300)
    settings = {"methods": ["lsh"], "n_bits": [8], "seeds": 1}
    [result] = compare(*digits, **settings, protocol=OwnSplit(parts)).results
    [expected] = compare(*digits, **settings, protocol=RetrievalSplit(*parts)).results
    assert result.scores["ap"] == expected.scores["ap"]


@pytest.mark.parametrize(
    ("protocol", "message"),
    [
        (KFold(3), "training rows, queries and database. KFold gave 2 parts."),
        (OwnSplit(), "OwnSplit gave None."),
        (OwnSplit([[2], [0], [1, 9999]]), "protocol has row 9999, but X has only 1797 rows"),
    ],
    ids=["two parts", "no split", "another row"],
)
def test_splits_that_are_none_are_refused(digits, protocol, message):
    with pytest.raises(ValueError, match=message):
        compare(*digits, methods=["lsh"], n_bits=[8], seeds=1, protocol=protocol)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"methods": []}, "at least one method"),
        ({"methods": ["lsh", "lsh"]}, "named once"),
        ({"methods": {"chance": LSHHasher()}}, "no method can be named 'chance'"),
        (
            {"columns": ["ndcg@3"]},
            "columns must be among ap, ndcg, .*encode_microseconds. Got 'ndcg@3'",
        ),
        ({"columns": []}, "at least one column"),
        ({"methods": {"a": 3}}, "method 'a' must be a hasher, or .* gives codes. Got 3"),
        ({"methods": {"a": LSHHasher}}, "method 'a' must be a hasher, or .* gives codes. Got <"),
        ({"n_bits": []}, "n_bits must hold at least one int"),
        ({"n_bits": [0]}, "n_bits must be ints >= 1. Got 0"),
        ({"seeds": [-1]}, "seeds must be ints >= 0. Got -1"),
        ({"protocol": 3}, "protocol must be a RetrievalSplit, a split object"),
        ({"protocol": PerClassRetrievalSplit(100, 500)}, "needs 500 training rows of every class"),
        ({"protocol": RetrievalSplit([1], [0], [1, 1797])}, "has row 1797, but X has only 1797"),
    ],
    ids=str,
)
def test_wrong_settings(digits, settings, message):
    with pytest.raises(ValueError, match=message):
        compare(*digits, **{"methods": ["lsh"], "n_bits": [8], "seeds": 1} | settings)


def test_bad_data(digits):
    X, y = digits
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        compare(X, y[:-1], methods=["lsh"])
    X = X.copy()
    X[3, 4] = np.nan
    with pytest.raises(ValueError, match="Input X contains NaN"):
        compare(X, y, methods=["lsh"])


def test_warnings_are_kept(digits):
    X, y = digits
    y = y.copy()
    y[:1] = 99  # a class of one row
    split = RetrievalSplit(np.arange(100, 300), np.arange(100), np.arange(100, 1797))
    [result] = compare(X, y, methods=["lsh"], n_bits=[8], seeds=1, protocol=split).results
    assert any("1 of 100 queries have no relevant item" in text for text in result.warnings)


@pytest.mark.parametrize("methods", [1, [1], ["lsh", 1], {1: LSHHasher()}, {None: LSHHasher()}])
def test_names_of_methods_are_checked_before_the_first_run(digits, methods, monkeypatch):
    monkeypatch.setattr("sklearn_hashrank.comparison._execution.execute", None)
    with pytest.raises(ValueError, match="methods must be named by str. Got (1|None)"):
        compare(*digits, methods=methods, n_bits=[8], seeds=1, protocol=PROTOCOL)


@pytest.mark.parametrize("n_jobs", [0, "2", 2.0, True])
def test_n_jobs_is_an_int(n_jobs):
    for function in (compare, cross_validate_retrieval):
        options = {"methods": ["lsh"]} if function is compare else {"estimator": LSHHasher()}
        with pytest.raises(ValueError, match="n_jobs must be an int other than 0, or None. Got"):
            function(X=np.eye(4), y=[0, 1, 0, 1], n_jobs=n_jobs, **options)


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (np.zeros(60, int), "every pair of rows is relevant.* perfect score.* y: 1 class of 60"),
        (np.arange(60), "no pair of rows is relevant, so that no score is defined. .* 60 classes"),
    ],
)
def test_labels_that_tell_nothing_apart_are_warned_of(y, message):
    X = np.random.default_rng(0).normal(size=(60, 4))
    protocol = RandomRetrievalSplit(10, 30)
    settings = {"n_bits": [4], "seeds": 1, "protocol": protocol}
    with pytest.warns(UserWarning, match=message):
        assert not compare(X, y, methods=["lsh"], **settings).failures
    with (
        pytest.warns(UserWarning, match=message),
        pytest.raises(ValueError, match="'lwh' with 4 bits: .* nothing to learn from"),
    ):
        compare(X, y, methods=["lsh", "lwh"], **settings)


@pytest.mark.parametrize(("n_neighbors", "is_said"), [(49, False), (50, True), ((50, 80), True)])
def test_as_many_neighbors_as_items_are_warned_of(n_neighbors, is_said):
    X = np.random.default_rng(0).normal(size=(60, 4))
    settings = {"n_bits": [4], "seeds": 1, "protocol": RandomRetrievalSplit(10, 30)}
    affinity = NeighborAffinity(n_neighbors)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        compare(X, methods=["lsh"], affinity=affinity, measures="recall@10", **settings)
    said = [str(warning.message) for warning in caught]
    expected = "the 50 nearest rows are relevant, and the database has 50 rows, so that any code"
    assert any(text.startswith(expected) for text in said) == is_said
