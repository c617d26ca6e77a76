"""Ids of rows: they are no features, and pairs of them say what is relevant."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from sklearn_hashrank import PrecomputedAffinity, TALRLinear, load_hasher, retrieval_histogram
from sklearn_hashrank.metrics import read_qrels
from tests.cli.commands import refusal, run

N, N_QUERIES, BITS = 120, 30, 8
RNG = np.random.default_rng(0)
TOPICS = np.arange(N) % 6
X = RNG.normal(size=(6, 9))[TOPICS] + 0.5 * RNG.normal(size=(N, 9))
IDS = np.array([f"p{number:03}" for number in RNG.permutation(N)])
NUMBERS = RNG.permutation(10 * N)[:N]
PAIRS = [
    (IDS[i], IDS[j], 1 + int(i % 2)) for i in range(N) for j in range(i) if TOPICS[i] == TOPICS[j]
]


def table(ids, rows=X, name="id"):
    columns = {f"f{number}": rows[:, number] for number in range(rows.shape[1])}
    return pd.DataFrame({name: ids, **columns, "topic": TOPICS[: len(rows)]})


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def write(frame, path):
    frame.to_csv(path, index=False) if path.endswith(".csv") else frame.to_parquet(path)


@pytest.mark.parametrize("kind", [".csv", ".parquet"])
@pytest.mark.parametrize("ids", [IDS, NUMBERS], ids=["text", "numbers"])
def test_ids_of_wide_tables_are_no_features(kind, ids, capsys):
    """The hasher is that of the same table without ids, and results are named by them."""
    write(table(ids), f"items{kind}")
    write(table(ids, name="doc"), f"named{kind}")
    write(table(ids).drop(columns="id"), f"plain{kind}")
    fit = "fit", "--label-column", "topic", "--bits", BITS, "--output", "m.npz", "--data"
    run(*fit, f"plain{kind}")
    wanted = load_hasher("m.npz")
    for data, more, said in (
        (f"items{kind}", [], f"items{kind}: column 'id' holds ids, which are no feature"),
        (f"named{kind}", ["--id-column", "doc"], "column 'doc' holds ids"),
    ):
        capsys.readouterr()
        run(*fit, data, *more)
        assert said in capsys.readouterr().err
        found = load_hasher("m.npz")
        assert [*found.feature_names_in_] == [*wanted.feature_names_in_]
        np.testing.assert_array_equal(found.components_, wanted.components_)
        run("encode", "--model", "m.npz", "--data", data, "--output", "codes.parquet", *more)
        assert pd.read_parquet("codes.parquet")["id"].tolist() == ids.tolist()
        search = "search", "--model", "m.npz", "--data", data, "--database", "codes.parquet"
        run(*search, *more, "-k", 1, "--output", "found.csv")
        nearest = pd.read_csv("found.csv")
        assert (nearest["distance"] == 0).all()
        assert nearest["query"].tolist() == ids.tolist()
    assert "has no column 'none'" in refusal(capsys, *fit, f"items{kind}", "--id-column", "none")


def test_a_column_of_ids_may_be_the_labels():
    write(table(TOPICS), "items.csv")
    run("fit", "--data", "items.csv", "--label-column", "id", "--bits", BITS, "--output", "m.npz")
    assert [*load_hasher("m.npz").feature_names_in_] == [*(f"f{i}" for i in range(9)), "topic"]


def write_pairs(pairs, path):
    if path.endswith(".txt"):
        Path(path).write_text("".join(f"{q} 0 {item} {grade}\n" for q, item, grade in pairs))
    elif "." not in path:
        Path(path).mkdir()
        for number in range(2):
            write_pairs(pairs[number::2], f"{path}/{number}.parquet")
    else:
        write(pd.DataFrame(pairs, columns=["query", "item", "grade"]), path)


@pytest.mark.parametrize("path", ["clicks.csv", "clicks.parquet", "clicks", "qrels.txt"])
def test_fit_and_evaluation_by_pairs_are_those_of_the_affinity(path, capsys):
    write(table(IDS).drop(columns="topic"), "items.parquet")
    write_pairs(PAIRS, path)
    method = "talr-ndcg:max_iter=3"
    run("fit", "--data", "items.parquet", "--qrels", path, "--method", method, *MODEL)
    assert load_hasher("m.npz").affinity == "auto", "the file does not hold the pairs"
    affinity = PrecomputedAffinity.from_pairs(PAIRS, [*IDS])
    rows = pd.read_parquet("items.parquet").drop(columns="id")
    hasher = TALRLinear(BITS, objective="ndcg", max_iter=3, affinity=affinity, random_state=0)
    hasher.fit(rows, np.arange(N))
    np.testing.assert_allclose(load_hasher("m.npz").components_, hasher.components_, atol=1e-9)
    run("encode", "--model", "m.npz", "--data", "items.parquet", "--output", "codes.parquet")
    capsys.readouterr()
    evaluate = "evaluate", "--database", "codes.parquet", "--measures", "ap,ndcg", "--json"
    run(*evaluate, "--qrels", path)
    printed = json.loads(capsys.readouterr().out)
    codes, y = load_hasher("m.npz").predict(rows), np.arange(N)
    histogram = retrieval_histogram(codes, codes, y, y, affinity=affinity, exclude_self=True)
    assert printed["ap"] == pytest.approx(histogram.average_precision().mean())
    assert printed["ndcg"] == pytest.approx(histogram.ndcg().mean())


MODEL = "--bits", BITS, "--output", "m.npz"


def test_queries_and_items_of_judgments_have_ids_of_their_own(capsys):
    """Numbers in a table are the same ids as their text in a TREC file."""
    write(table(NUMBERS), "items.csv")
    write(table(np.arange(N_QUERIES), X[:N_QUERIES]), "queries.csv")
    pairs = [(q, NUMBERS[i], 1) for q in range(N_QUERIES) for i in range(q, N, 6)]
    write_pairs([*pairs, (0, 99999, 1), (77777, 1, 1)], "qrels.txt")
    run("fit", "--data", "items.csv", "--label-column", "topic", "--method", "talr-ap", *MODEL)
    for name in ("items", "queries"):
        data = "--data", f"{name}.csv", "--output", f"{name}.parquet"
        run("encode", "--model", "m.npz", *data)
    capsys.readouterr()
    codes = "--queries", "queries.parquet", "--database", "items.parquet"
    run("evaluate", *codes, "--qrels", "qrels.txt", "--measures", "ap", "--json")
    shown = capsys.readouterr()
    assert f"2 of {len(pairs) + 2} pairs name no row: left out" in shown.err
    hasher = load_hasher("m.npz")
    del hasher.feature_names_in_
    affinity = PrecomputedAffinity.from_pairs(pairs, range(N_QUERIES), NUMBERS)
    rows = np.column_stack([X])
    histogram = retrieval_histogram(
        *(hasher.predict(part) for part in (rows[:N_QUERIES], rows)),
        *(np.arange(N_QUERIES), np.arange(N_QUERIES, N_QUERIES + N)),
        affinity=affinity,
    )
    assert json.loads(shown.out)["ap"] == pytest.approx(histogram.average_precision().mean())
    run("search", *codes, "-k", N, "--run", "found.run")
    capsys.readouterr()
    known = [
        f"{query} 0 {item} {level}\n"
        for query, judged in read_qrels("qrels.txt").items()
        for item, level in judged.items()
        if query != "77777" and item != "99999"
    ]
    Path("known.txt").write_text("".join(known))
    write_pairs(pairs, "clicks")
    for path in ("known.txt", "clicks", "clicks/*.parquet"):
        run("evaluate", "--run", "found.run", "--qrels", path, "--measures", "ap", "--json")
        by_run = json.loads(capsys.readouterr().out)
        assert by_run["ap"] == pytest.approx(histogram.average_precision().mean())


@pytest.mark.parametrize("path", ["clicks.csv", "clicks.parquet"])
def test_grades_under_another_name_are_not_passed_over_in_silence(path, capsys):
    """Else a grade of 0 makes a pair relevant, and nobody knows."""
    write(table(IDS), "items.csv")
    run("fit", "--data", "items.csv", *MODEL)
    run("encode", "--model", "m.npz", "--data", "items.csv", "--output", "c.parquet")
    evaluate = "evaluate", "--database", "c.parquet", "--measures", "ap", "--qrels", path
    pairs = pd.DataFrame(PAIRS, columns=["query", "item", "grade"])
    for frame, is_said in (
        (pairs.rename(columns={"grade": "rating"}), True),
        (pairs.assign(day=1), False),
        (pairs[["query", "item"]], False),
    ):
        write(frame, path)
        capsys.readouterr()
        run(*evaluate)
        said = "no column 'grade', so all pairs are relevant; not used: rating"
        assert (said in capsys.readouterr().err) == is_said


def test_pairs_in_several_files_have_the_same_columns(capsys):
    write(table(IDS), "items.csv")
    write_pairs(PAIRS, "clicks")
    pairs = pd.DataFrame(PAIRS[:2], columns=["query", "item", "grade"])
    write(pairs.drop(columns="grade"), "clicks/0.parquet")
    fit = "fit", "--data", "items.csv", *MODEL, "--method", "talr-ap", "--qrels", "clicks"
    reason = "clicks/0.parquet: there is no column 'grade' in this file, but in clicks/1.parquet."
    assert reason in refusal(capsys, *fit).replace("\\", "/")
    Path("none").mkdir()
    assert "none: there are no .parquet files in this folder" in refusal(capsys, *fit[:-1], "none")


def test_pairs_that_say_nothing_are_refused(capsys):
    write(table(IDS), "items.csv")
    write_pairs([("a", "b", 1)], "strange.csv")
    write_pairs([("new query", IDS[1], 1)], "queries.csv")
    write_pairs([(IDS[0], IDS[1], "many")], "words.csv")
    pd.DataFrame({"query": ["a"], "thing": ["b"]}).to_csv("columns.csv", index=False)
    pd.DataFrame({"query": [], "item": []}).to_csv("empty.csv", index=False)
    write_pairs(PAIRS, "clicks.csv")
    fit = "fit", "--data", "items.csv", *MODEL, "--qrels"
    talr = "--method", "talr-ap"
    for options, reason in (
        (["strange.csv", *talr], "none of its 1 pairs is of two ids of the rows"),
        (["queries.csv", *talr], "a folder with the rows of both"),
        (["words.csv", *talr], "row 0 must have a query, an item and a number as grade"),
        (["columns.csv", *talr], "has no column 'item'"),
        (["empty.csv", *talr], "there are no pairs"),
        (["clicks.csv"], "itq learns from no relevance: leave out --qrels"),
        (["clicks.csv", *talr, "--label-column", "topic"], "--qrels and --label-column exclude"),
    ):
        assert reason in refusal(capsys, *fit, *options)
    run("fit", "--data", "items.csv", "--label-column", "topic", *MODEL)
    run("encode", "--model", "m.npz", "--data", "items.csv", "--output", "c.parquet")
    message = refusal(
        *(capsys, "evaluate", "--database", "c.parquet", "--qrels", "clicks.csv"),
        *("--database-labels", "items.csv", "--label-column", "topic"),
    )
    assert "--qrels and --database-labels exclude" in message
