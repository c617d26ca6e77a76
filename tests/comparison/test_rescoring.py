"""Columns of rescored rankings: against literal sorts."""

import csv
import json
from itertools import chain

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.datasets import load_digits

from sklearn_hashrank import (
    HammingNeighbors,
    ITQHasher,
    LabelAffinity,
    NeighborAffinity,
    load_hasher,
    retrieval_histogram,
)
from sklearn_hashrank.cli import main
from sklearn_hashrank.codes import hamming_distances, load_codes
from sklearn_hashrank.comparison import compare
from sklearn_hashrank.comparison._rescoring import Rescoring, measure_rescoring
from sklearn_hashrank.metrics import tie_aware_precision_score, tie_aware_recall_score
from sklearn_hashrank.metrics._retrieval import Encoded
from sklearn_hashrank.model_selection import RandomRetrievalSplit, RetrievalSplit
from tests.oracle.neighbors import nearest_by_projections

X, Y = load_digits(return_X_y=True)
X, Y = X[:260], Y[:260]
SPLIT = RetrievalSplit(np.arange(40, 260), np.arange(40), np.arange(40, 260))
SETTINGS = {"n_bits": [12], "seeds": 1, "protocol": SPLIT, "measures": ["ap"]}
K, OVERSAMPLING = 5, 4


class FirstBits(TransformerMixin, BaseEstimator):
    """A hasher without projections."""

    def fit(self, X, y=None):
        return self

    def transform(self, X):
        return X[:, 10:22] > 8


def share_of_class(found):
    return np.mean(Y[40:][np.asarray(found)] == Y[:40, None])


def cosine_distances(queries, rows):
    lengths = np.linalg.norm(queries, axis=1)[:, None] * np.linalg.norm(rows, axis=1)
    return 1 - queries @ rows.T / lengths


def test_columns_are_those_of_literal_rankings():
    rescore = {"n_neighbors": K, "oversampling": OVERSAMPLING}
    comparison = compare(X, Y, methods=["itq"], rescore=rescore, **SETTINGS)
    assert not comparison.failures
    scores = comparison.results[0].scores
    hasher = ITQHasher(12, random_state=0).fit(X[40:], Y[40:])
    codes = hasher.predict(X)
    database = Y[40:], codes[40:]
    expected = tie_aware_precision_score(Y[:40], codes[:40], database=database, k=K)
    assert scores["near_codes"] == pytest.approx(expected)
    projections = hasher.decision_function(X[:40])
    ranked = nearest_by_projections(projections.tolist(), codes[40:].tolist(), 10 * K, K)
    found = [[j for _, j in row] for row in ranked]
    assert scores["near_asymmetric"] == pytest.approx(share_of_class(found))
    order = np.argsort(hamming_distances(codes[:40], codes[40:]), axis=1, kind="stable")
    candidates = np.sort(order[:, : K * OVERSAMPLING], axis=1)
    distances = np.take_along_axis(cosine_distances(X[:40], X[40:]), candidates, axis=1)
    nearest = np.argsort(distances, axis=1, kind="stable")[:, :K]
    found = np.take_along_axis(candidates, nearest, axis=1)
    assert scores["near_floats"] == pytest.approx(share_of_class(found))
    assert (scores["code_bytes"], scores["row_bytes"]) == (2, 64 * 8)
    for name in ("codes", "asymmetric", "floats"):
        assert scores[f"{name}_microseconds"] > 0
    titles = [column.title for column in comparison.columns]
    assert titles[-8:-5] == ["P@5, codes", "P@5, asymmetric", "P@5, floats"]
    assert "P@5, floats" in comparison.to_markdown()
    assert "near_floats" in comparison.to_csv().splitlines()[0]


class Counted(np.memmap):
    """Rows in a file, which note how many of them were read at most at a time."""

    most = 0

    def __getitem__(self, rows):
        found = super().__getitem__(rows)
        Counted.most = max(Counted.most, len(np.atleast_1d(found)))
        return found


def test_floats_are_read_from_a_file_where_there_are_candidates(tmp_path):
    X.astype(np.float32).tofile(tmp_path / "rows")
    rows = np.memmap(tmp_path / "rows", np.float32, "r", shape=X.shape)
    options = {"affinity": NeighborAffinity(K), "rescore": K, "methods": ["itq"]}
    expected = compare(X.astype(np.float32), **options, **SETTINGS).results[0].scores
    found = compare(rows, **options, **SETTINGS).results[0].scores
    for name in ("ap", "near_codes", "near_asymmetric", "near_floats", "row_bytes"):
        assert found[name] == expected[name]

    hasher = ITQHasher(12, output="packed", random_state=0).fit(rows[40:])
    queries, codes = hasher.transform(rows[:40]), hasher.transform(rows[40:])
    counted, y = rows.view(Counted), (Y[:40], Y[40:])
    affinity = LabelAffinity().fit(y[1])
    histogram = retrieval_histogram(queries, codes, *y, affinity=affinity, n_bits=12)
    index = HammingNeighbors(n_bits=12).fit(codes)
    found = measure_rescoring(
        Rescoring(K, OVERSAMPLING), lambda n: index.kneighbors(queries, n)[1], rows[:40], counted,
        np.arange(40, 260), y, affinity, histogram, Encoded(codes, 12, None),
    )  # fmt: skip
    assert 0 < Counted.most <= K * OVERSAMPLING
    assert 0 < found["near_floats"] < 1


def test_all_candidates_give_all_true_neighbors():
    """Recall of the true neighbors; candidates are the whole database."""
    affinity = NeighborAffinity(K)
    comparison = compare(
        X,
        methods=["lsh"],
        affinity=affinity,
        rescore={"n_neighbors": K, "oversampling": 1000},
        **SETTINGS,
    )
    scores = comparison.results[0].scores
    assert scores["near_floats"] == 1
    assert scores["near_codes"] < scores["near_asymmetric"] < 1


def test_no_projections_no_asymmetric_distances():
    comparison = compare(X, Y, methods={"first": FirstBits()}, rescore=K, **SETTINGS)
    scores = comparison.results[0].scores
    assert np.isnan(scores["near_asymmetric"])
    assert scores["near_floats"] > 0.5


def test_runs_are_kept_by_their_rescoring(tmp_path):
    settings = {**SETTINGS, "methods": ["lsh"], "store": tmp_path}
    compare(X, Y, **settings)
    first, again, other = (
        compare(X, Y, rescore={"n_neighbors": K, "oversampling": n}, **settings).results[0]
        for n in (2, 2, 3)
    )
    assert tuple(run.from_store for run in (first, again, other)) == (False, True, False)
    assert again.scores == first.scores


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((0,), "n_neighbors must be an int >= 1. Got 0"),
        ((5, 1.5), "oversampling must be an int >= 1. Got 1.5"),
        ((5, 2, "hamming"), "metric must be one of .* Got 'hamming'"),
    ],
)
def test_bad_rescorings_are_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        Rescoring(*arguments)


def test_what_cannot_be_rescored_is_refused():
    with pytest.raises(ValueError, match="X must be dense"):
        compare(sparse.csr_matrix(X), Y, rescore=K, **SETTINGS)
    with pytest.raises(ValueError, match="n_neighbors must be an int >= 1. Got 'ten'"):
        compare(X, Y, rescore="ten", **SETTINGS)


def test_the_command_has_the_columns(tmp_path, capsys, no_pictures):
    np.savez(tmp_path / "data.npz", X=X, y=Y)
    options = ["--methods", "lsh", "--bits", "12", "--seeds", "1", "--queries", "3"]
    options += ["--training", "5", "--rescore", "5", "--quiet"]
    output = str(tmp_path / "out")
    assert (
        main(["compare", "--data", str(tmp_path / "data.npz"), *options, "--output", output]) == 0
    )
    capsys.readouterr()
    assert "P@5, floats" in (tmp_path / "out" / "tables.md").read_text()
    report = (tmp_path / "out" / "report.html").read_text()
    assert "Search by floats" in report


@pytest.fixture
def files(tmp_path):
    """Features, labels, model and codes, as options of ``hashrank evaluate``."""
    parts = {"q": slice(40), "d": slice(40, None)}
    for name, part in parts.items():
        np.save(tmp_path / f"{name}.npy", X[part])
        np.save(tmp_path / f"{name}_labels.npy", Y[part])
    model = str(tmp_path / "model.npz")
    data = ["--data", str(tmp_path / "d.npy"), "--labels", str(tmp_path / "d_labels.npy")]
    assert main(["fit", *data, "--method", "itq", "--bits", "12", "--output", model]) == 0
    for name in parts:
        codes = str(tmp_path / f"{name}_codes.npy")
        encode = ["encode", "--model", model, "--data", str(tmp_path / f"{name}.npy")]
        assert main([*encode, "--output", codes]) == 0
    options = {
        "--queries": "q_codes.npy",
        "--query-labels": "q_labels.npy",
        "--database": "d_codes.npy",
        "--database-labels": "d_labels.npy",
        "--model": "model.npz",
        "--query-data": "q.npy",
        "--database-data": "d.npy",
    }
    return {option: str(tmp_path / name) for option, name in options.items()}


def evaluate(files, *more):
    rescore = ["--rescore", str(K)]
    return main(["evaluate", *chain.from_iterable(files.items()), *rescore, *more, "--json"])


def test_evaluate_gives_the_numbers_of_compare(files, capsys):
    capsys.readouterr()
    assert evaluate(files) == 0
    found = json.loads(capsys.readouterr().out)
    expected = compare(X, Y, methods=["itq"], rescore=K, **SETTINGS).results[0].scores
    for name in ("near_codes", "near_asymmetric", "near_floats", "code_bytes"):
        assert found[name] == pytest.approx(expected[name])


@pytest.mark.parametrize("metric", ["cosine", "inner_product"])
def test_the_commands_measure_recall_of_neighbors(files, tmp_path, capsys, no_pictures, metric):
    """The same numbers from files of codes, from the command that compares, and from Python."""
    options = ["--neighbors", str(K), "--metric", metric, "--measures", "ap,recall@5"]
    files = {name: path for name, path in files.items() if "labels" not in name}
    capsys.readouterr()
    assert evaluate(files, *options) == 0
    found = json.loads(capsys.readouterr().out)
    [result] = compare(
        X, methods={"itq": load_hasher(files["--model"])}, n_bits=[12], seeds=1, protocol=SPLIT,
        affinity=NeighborAffinity(K, metric=metric), measures=["ap", "recall@5"],
        rescore={"n_neighbors": K, "metric": metric},
    ).results  # fmt: skip
    for name in ("ap", "recall@5", "near_codes", "near_asymmetric", "near_floats"):
        assert found[name] == pytest.approx(result.scores[name])

    np.savez(tmp_path / "data.npz", X=X, y=Y)
    command = ["compare", "--data", str(tmp_path / "data.npz"), *options, "--methods", "itq"]
    command += ["--bits", "12", "--seeds", "1", "--queries", "40", "--rescore", str(K), "--quiet"]
    assert main([*command, "--output", str(tmp_path / "out")]) == 0
    [result] = compare(
        X, methods=["itq"], n_bits=[12], seeds=1, protocol=RandomRetrievalSplit(40),
        affinity=NeighborAffinity(K, metric=metric), measures=["ap", "recall@5"],
    ).results  # fmt: skip
    with open(tmp_path / "out" / "runs.csv", encoding="utf-8") as file:
        [run] = csv.DictReader(file)
    assert float(run["recall@5"]) == pytest.approx(result.scores["recall@5"])
    assert float(run["near_floats"]) > float(run["near_codes"])


def test_every_item_searches_the_others_by_neighbors(files, tmp_path, capsys):
    """Without queries, each row is left out of its own neighbors."""
    names = ("--database", "--database-data")
    options = [*chain.from_iterable((name, files[name]) for name in names), "--neighbors", "5"]
    capsys.readouterr()
    assert main(["evaluate", *options, "--measures", "recall@5", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["recall@5"]
    sparse.save_npz(tmp_path / "rows.npz", sparse.csr_matrix(X[40:]))
    options[3] = str(tmp_path / "rows.npz")
    assert main(["evaluate", *options, "--measures", "recall@5", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["recall@5"] == pytest.approx(found)
    codes = load_codes(files["--database"])
    expected = tie_aware_recall_score(X[40:], codes, n_bits=12, k=5, affinity=NeighborAffinity(5))
    assert found == pytest.approx(expected)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({}, "--neighbors and --database-labels exclude"),
        ({"--database-labels": None}, "--neighbors and --query-labels exclude"),
        (
            {"--database-labels": None, "--query-labels": None, "--query-data": None},
            "--queries needs --query-data",
        ),
    ],
)
def test_neighbors_need_features_and_no_labels(files, capsys, change, message):
    kept = {name: path for name, path in files.items() if name not in change}
    assert evaluate(kept, "--neighbors", "3") == 2
    assert message in capsys.readouterr().err
    assert main(["evaluate", "--database", files["--database"]]) == 2
    assert "evaluate needs --database-labels, --qrels or --neighbors" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"--model": None}, "--rescore needs --model"),
        ({"--query-data": "d.npy"}, "d.npy has 220 rows, and"),
        ({"--query-data": "other.npy"}, "are not the codes of"),
    ],
)
def test_evaluate_refuses_what_does_not_go_together(files, tmp_path, capsys, change, message):
    np.save(tmp_path / "other.npy", X[100:140])
    for option, name in change.items():
        del files[option]
        if name is not None:
            files[option] = str(tmp_path / name)
    assert evaluate(files) == 2
    assert message in capsys.readouterr().err


def test_shares_of_as_many_nearest_rows_are_recalls():
    columns = {column.name: column for column in Rescoring(K).columns()}
    for affinity in ("auto", NeighborAffinity(K + 1), NeighborAffinity((K, K + 1))):
        assert Rescoring(K).columns(affinity) == tuple(columns.values())
    of_neighbors = Rescoring(K).columns(NeighborAffinity(K))
    assert [column.name for column in of_neighbors] == list(columns)
    titles = [column.title for column in of_neighbors]
    assert titles[:3] == [f"recall@{K}, {name}" for name in ("codes", "asymmetric", "floats")]
    assert of_neighbors[2].meaning.startswith(f"Share of the {K} nearest rows that are among")
    assert of_neighbors[3:] == tuple(columns.values())[3:]
