"""The tables of the papers' experiments are those of the results in the repository."""

import re
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.datasets import load_digits

from benchmarks.papers import experiments, paper_results, paper_tables, reproduction
from sklearn_hashrank import EuclideanAffinity, LabelAffinity, RSHHasher
from sklearn_hashrank.metrics import tie_aware_ndcg_score
from sklearn_hashrank.model_selection import PerClassRetrievalSplit, RandomRetrievalSplit

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "docs" / "notes" / "reproduction"
PARTS = sorted(path.stem for path in FOLDER.glob("results/*.csv"))

of_every_part = pytest.mark.parametrize("part", PARTS)


@of_every_part
def test_tables_are_what_the_results_give(part):
    results = paper_results.Results(FOLDER / "results", part)
    made = paper_tables.text_of(part, results)
    assert made == (FOLDER / f"{part}.inc").read_text(encoding="utf-8"), (
        "run: python -m benchmarks.papers.reproduction --tables docs/notes/reproduction"
    )


def test_every_part_has_results():
    assert set(PARTS) == set(experiments.PARTS)


@of_every_part
def test_every_result_says_what_it_was_made_by(part, tmp_path):
    results = paper_results.Results(FOLDER / "results", part)
    declared = {task.key: task for task in experiments.PARTS[part].tasks}
    for line in results.lines:
        task = declared[line["task"]]
        made = results.about["methods"][line["task"]][line["method"]]
        assert line["part"] == part
        assert line["method"] in task.methods
        assert line["n_bits"] in task.n_bits
        assert all(results.about["stamps"][place]["commit"] for place in made["stamps"])
        if line["low"] is not None:
            assert line["low"] <= line["value"] <= line["high"]
    results.csv_path, results.json_path = tmp_path / "again.csv", tmp_path / "again.json"
    results.write()
    for kind in ("csv", "json"):
        kept = (FOLDER / "results" / f"{part}.{kind}").read_bytes()
        assert (tmp_path / f"again.{kind}").read_bytes() == kept


@of_every_part
def test_a_changed_default_marks_the_tables(part):
    results = paper_results.Results(FOLDER / "results", part)
    _, methods = next(iter(results.about["methods"].items()))
    method = next(iter(methods))
    if method.startswith("deep-"):  # nobody can say what it would be today without torch
        pytest.importorskip("torch")
    methods[method]["parameters"]["n_passes"] = "7"
    text = paper_tables.text_of(part, results)
    assert text.startswith(".. warning::")
    assert f"* ``{method}``: " in text
    assert "``n_passes``, then 7, now nothing" in text


def test_commands_have_options_that_exist():
    known = set(reproduction.make_parser()._option_string_actions)
    texts = [path.read_text(encoding="utf-8") for path in FOLDER.glob("*.inc")]
    texts += [
        reproduction.__doc__,
        *re.findall("benchmarks/papers/reproduction.py.*|papers.reproduction .*", _makefile()),
    ]
    commands = re.findall(r"(?:papers\.reproduction|make reproduce)[^`]*", "\n".join(texts))
    options = set(re.findall(r"--[a-z][a-z0-9-]*", "\n".join(commands)))
    assert {"--tables", "--minutes", "--seeds"} <= options
    assert options <= known


def _makefile():
    return (ROOT / "Makefile").read_text(encoding="utf-8")


def test_all_is_run_once_and_quick_methods_first():
    turns = reproduction.in_turns(list(experiments.PARTS), 5)
    runs = [(part, task.key, seed, row) for part, task, seed, rows in turns for row in rows]
    assert len(set(runs)) == len(runs)
    for part, of_part in experiments.PARTS.items():
        for task in of_part.tasks:
            seeds = range(task.seeds or 5)
            wanted = {(part, task.key, seed, row) for seed in seeds for row in task.methods}
            assert wanted == {run for run in runs if run[:2] == (part, task.key)}
    places = {run: place for place, run in enumerate(runs)}
    quick, slow = (("talr_cifar", "setting-1", s, m) for s, m in ((4, "mihash"), (0, "machash")))
    assert places[quick] < places[slow]
    assert places["talr_cifar", "setting-1", 0, "dpsh"] < places["rsh", "distances", 1, "rsh"]


def test_every_row_is_a_method_with_the_dropout_of_its_task():
    for part, of in experiments.PARTS.items():
        for task in of.tasks:
            notations = reproduction.notations_of(task, n_features=10, n_train=40)
            for row, notation in notations.items():
                if not notation.startswith("deep-"):  # needs torch
                    parameters = paper_results.parameters_of(notation)
                    if row.endswith("equal budget"):
                        assert parameters["dropout"] == "0.25", (part, row)
                        assert parameters["max_iter"] == "120", (part, row)


@pytest.mark.parametrize("part", ["rsh", "lwh", "talr_cifar", "talr_nus_wide", "mlgap", "deep"])
def test_tables_have_rows_and_columns_of_their_tasks(part):
    tasks = {task.key: task for task in experiments.PARTS[part].tasks}
    for table in experiments.PARTS[part].tables:
        task = tasks[table.task]
        assert set(table.methods or task.methods) <= set(task.methods)
        assert set(table.n_bits or task.n_bits) <= set(task.n_bits)
        further = {"fit_seconds", "encode_microseconds", *task.also}
        if table.kind != "curve":
            assert table.measure in {*task.measures, *further}


def test_cells_name_a_number_of_seeds_that_is_not_the_usual_one():
    tables = paper_tables
    values = {("a", 8): {0: 0.1, 1: 0.3}, ("b", 8): {0: 0.2, 1: 0.2}, ("c", 8): {0: 0.5}}
    assert tables.usual_seeds(values) == 2
    assert tables.usual_seeds({("a", 8): {0: 0.1}, ("b", 8): {0: 0.2, 1: 0.2}}) == 2
    assert tables._mean_text(values["a", 8], "ap", False, 2) == ".200 ±.141"
    assert tables._mean_text(values["a", 8], "ap", False, 1) == ".200 ±.141, 2 seeds"
    assert tables._mean_text(values["c", 8], "ap", True, 2) == "**.500**, 1 seed"


def test_best_is_ahead_of_every_other_over_the_seeds():
    best_of = paper_tables.best_of
    behind, random = {0: 0.5, 1: 0.55, 2: 0.6}, {0: 0.62, 1: 0.5, 2: 0.65}
    ahead = {seed: value + 0.02 + 0.001 * seed for seed, value in behind.items()}
    assert best_of({"a": behind, "b": ahead}) == "b"
    assert best_of({"a": behind, "b": random}) is None
    assert best_of({"a": behind, "b": ahead, "c": random}) is None
    assert best_of({"a": {0: 0.5}, "b": {0: 0.9}}) is None
    assert best_of({"a": behind}) is None
    assert best_of({}) is None
    assert best_of({"a": behind, "b": ahead, "c": {0: 0.1}}) == "b"
    assert best_of({"a": behind, "b": ahead, "c": {0: 0.9}}) is None


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    """A part of two quick methods on digits, run with a time that is over at once, then again."""
    X, y = load_digits(return_X_y=True)
    data = experiments.Data("Digits", X[:600].astype(np.float32), y[:600])
    task = experiments.Task(
        "classes",
        "digits",
        LabelAffinity(),
        PerClassRetrievalSplit(3, 20),
        ["ap", "mlgap"],
        [8, 16],
        {"lsh": "lsh", "equal": "lsh"},
        also=("distinct_codes",),
        curve_bits=(8,),
        later={"equal": 1},
    )
    table = experiments.Table("classes", "ap", "AP", {"lsh": {8: 0.5}})
    part = experiments.Part("Two", [task], [table])
    folder = tmp_path_factory.mktemp("small")
    options = reproduction.make_parser().parse_args(["small", "--seeds", "2"])
    options.results, options.store = folder / "results", folder / "store"
    experiments.Sets._digits = lambda self: data
    experiments.PARTS["small"] = part
    found = []
    for minutes in (0, 1, 1):
        options.minutes = minutes
        reproduction.run(options)
        found.append(paper_results.Results(options.results, "small"))
    del experiments.PARTS["small"], experiments.Sets._digits
    return SimpleNamespace(part=part, found=found, options=options, data=data)


def test_a_part_stops_when_the_time_is_over_and_goes_on(small):
    first, second, third = small.found
    assert len(set(first.runs)) == 1
    assert len(set(second.runs)) == 8
    assert third.lines == second.lines  # kept, their times included
    assert set(first.runs) < set(second.runs)
    for run, lines in first.runs.items():
        assert second.runs[run] == lines


def test_results_have_what_a_run_gave(small):
    results = small.found[-1]
    assert results.sizes("classes")["lsh", 8] == (30, 570, 200)
    values = results.values("classes", "ap")
    assert values["lsh", 8] == values["equal", 8]
    assert set(values["lsh", 16]) == {0, 1}
    measures = {line["measure"] for line in results.lines if line["n_bits"] == 8}
    assert measures >= {"ap", "mlgap", "distinct_codes", "encode_microseconds", "recall@10"}
    assert "recall@300" in measures
    assert "recall@1000" not in measures  # of 570 rows
    assert results.values("classes", None, "fit_seconds")["lsh", 8][0] > 0


def test_without_labels_hashers_learn_from_the_levels_of_the_task(tmp_path, monkeypatch):
    """The papers learn from the levels that they judge by, whatever is best to learn from."""
    X = load_digits(return_X_y=True)[0][:400].astype(np.float32)
    affinity, protocol = EuclideanAffinity([5, 2], [1, 2]), RandomRetrievalSplit(50, 200)
    row = {"rsh": "rsh:rotation=None"}
    task = experiments.Task("none", "digits", affinity, protocol, ["ndcg"], [8], row)
    data = experiments.Data("Digits", X, None)
    monkeypatch.setattr(experiments.Sets, "_digits", lambda self: data, raising=False)
    monkeypatch.setitem(experiments.PARTS, "small", experiments.Part("", [task], []))
    options = reproduction.make_parser().parse_args(["small", "--seeds", "1"])
    options.results, options.store = tmp_path / "results", tmp_path / "store"
    reproduction.run(options)
    results = paper_results.Results(options.results, "small")
    protocol.random_state = 0
    [(train, query, database)] = protocol.split(X)
    hasher = RSHHasher(8, affinity=affinity, rotation=None, random_state=0).fit(X[train])
    score = tie_aware_ndcg_score(
        X[query],
        hasher.predict(X[query]),
        database=(X[database], hasher.predict(X[database])),
        affinity=hasher.affinity_,
    )
    assert results.values("none", "ndcg")["rsh", 8][0] == pytest.approx(score, abs=1e-5)


def test_points_of_curves_lie_on_them():
    k = [1, 5, 20, 400]
    curves = {"k": k, "precision": [0.5] * 4, "recall": [each / 400 for each in k]}
    points = reproduction.points_of_curves(curves)
    assert set(points) == {f"{n}@{k}" for n in ("precision", "recall") for k in (10, 30, 100, 300)}
    for k in (10, 300):
        assert points[f"precision@{k}"][0] == pytest.approx(0.5)
        assert points[f"recall@{k}"][0] == pytest.approx(k / 400)


def test_tables_show_means_spreads_and_printed_figures(small, monkeypatch):
    results = small.found[-1]
    monkeypatch.setitem(experiments.PARTS, "small", small.part)
    text = paper_tables.text_of("small", results)
    assert "*Digits*: 30 queries, 570 database rows, 200 training rows; 2 seeds." in text
    values = list(results.values("classes", "ap")["lsh", 8].values())
    mean, spread = (paper_tables.show(f(values)) for f in (np.mean, _deviation))
    assert f'"``lsh``", "{mean} ±{spread} (.500)"' in text
    assert "--seeds 2`` at commit" in text


def _deviation(values):
    return np.std(values, ddof=1)


def test_runs_of_other_code_are_forgotten(small):
    results = paper_results.Results(small.options.results, "small")
    stamp = dict(results.about["stamps"][0])
    results.describe("classes", "lsh", "lsh", dict(stamp, date="2030-01-01"))
    assert ("classes", "lsh", 8, 0) in results.runs
    results.describe("classes", "lsh", "lsh", dict(stamp, package="another"))
    assert ("classes", "lsh", 8, 0) not in results.runs
    assert ("classes", "equal", 8, 0) in results.runs


def test_a_check_makes_a_run_again(small, monkeypatch):
    results = paper_results.Results
    monkeypatch.setitem(experiments.PARTS, "small", small.part)
    monkeypatch.setattr(experiments.Sets, "_digits", lambda self: small.data, raising=False)
    stamp = reproduction.stamp_of() | {"package": "another", "commit": "new"}
    monkeypatch.setattr(reproduction, "stamp_of", lambda: stamp)
    monkeypatch.setattr(small.options, "check", True)
    monkeypatch.setattr(small.options, "rows", ["lsh"])
    reproduction.run(small.options)
    found = results(small.options.results, "small")
    [check] = found.about["methods"]["classes"]["lsh"]["checks"]
    assert "checks" not in found.about["methods"]["classes"]["equal"]
    assert (check["n_bits"], check["seed"], check["measure"]) == (8, 0, "ap")
    assert check["now"] == check["before"] == found.values("classes", "ap")["lsh", 8][0]
    text = paper_tables.text_of("small", found)
    assert "At commit ``new``" in text
    assert "one run of each of 1 rows was made again: 1 gave the same figure" in text
    assert ".. warning::" not in text
    # Code that gives the same figure adds to the runs that there are.
    found.describe("classes", "lsh", "lsh", stamp)
    assert ("classes", "lsh", 8, 0) in found.runs
    assert len(found.about["methods"]["classes"]["lsh"]["stamps"]) == 2
    found.write()
    assert [each["commit"] for each in found.about["stamps"]][1:] == ["new"]


def test_a_check_that_gives_another_figure_marks_the_tables(small, monkeypatch):
    monkeypatch.setitem(experiments.PARTS, "small", small.part)
    results = paper_results.Results(small.options.results, "small")
    stamp = results.about["stamps"][0] | {"package": "third", "commit": "newer"}
    value = results.values("classes", "ap")["lsh", 8][0]
    results.check("classes", "lsh", (8, 0), "ap", value + 0.1, stamp)
    text = paper_tables.text_of("small", results)
    assert text.startswith(".. warning::")
    was, now = (paper_tables.show(each) for each in (value, value + 0.1))
    assert f"``ap`` (classes, 8 bits, seed 0), then {was}, at commit ``newer`` {now}" in text
    results.describe("classes", "lsh", "lsh", stamp)
    assert ("classes", "lsh", 8, 0) not in results.runs


def test_a_database_of_training_rows():
    X, y = load_digits(return_X_y=True)
    protocol = experiments.DatabaseOfTrainingRows(PerClassRetrievalSplit(3, 20), random_state=1)
    [(train, query, database)] = protocol.split(X, y)
    [other] = PerClassRetrievalSplit(3, 20, random_state=1).split(X, y)
    assert np.array_equal(train, database)
    assert np.array_equal(train, other.train)
    assert np.array_equal(query, other.query)
    [(small, *_)] = reproduction.scaled(protocol, 0.5).split(X, y)
    assert len(small) == len(train) / 2


def test_rows_can_be_run_alone():
    turns = reproduction.in_turns(["talr_cifar"], 2, ["mihash", "lsh"])
    assert {row for *_, rows in turns for row in rows} == {"mihash", "lsh"}
    turns = reproduction.in_turns(["talr_cifar"], 2, ["mihash", "lsh"], ["setting-2"])
    assert [(task.key, seed, rows) for _, task, seed, rows in turns] == [
        ("setting-2", 0, ["mihash"]),
        ("setting-2", 1, ["mihash"]),
    ]


def test_a_parameter_that_was_added_since_makes_no_table_stale():
    then = paper_results.parameters_of("ssh")
    for name in paper_results.ADDED:
        then.pop(name, None)
    about = {"methods": {"task": {"ssh": {"notation": "ssh", "parameters": then}}}}
    assert paper_tables.stale_text(SimpleNamespace(about=about)) == ""
    then["eta"] = "0.3"
    text = paper_tables.stale_text(SimpleNamespace(about=about))
    assert "``eta``, then 0.3, now 0.2" in text
    assert "step_size" not in text
