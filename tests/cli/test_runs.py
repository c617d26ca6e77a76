"""``hashrank evaluate --run`` and ``--per-query``, ``hashrank search --run``."""

import csv
import json

import numpy as np
import pytest

from sklearn_hashrank import LSHHasher, RetrievalHistogram, retrieval_histogram, save_hasher
from sklearn_hashrank.cli import main
from sklearn_hashrank.metrics import paired_test, read_run, tie_aware_average_precision_score

RUN = "q1 Q0 a 1 0.5 x\nq1 Q0 b 2 0.5 x\nq2 Q0 a 1 0.9 x\nq2 Q0 c 2 0.3 x\n"
QRELS = "q1 0 a 1\nq1 0 b 0\nq2 0 c 2\nq3 0 c 0\nq4 0 a 1\n"


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "run").write_text(RUN)
    (tmp_path / "qrels").write_text(QRELS)
    return ["--run", "run", "--qrels", "qrels"]


@pytest.mark.filterwarnings("ignore:.* of 4 queries have no relevant item")
def test_a_run_is_evaluated(files, capsys):
    names = "rr,ndcg@10:gain=linear,ap@10:min_relevance=2"
    assert main(["evaluate", *files, "--measures", names, "--json"]) == 0
    printed = capsys.readouterr()
    scores = json.loads(printed.out)
    h = RetrievalHistogram.from_run("qrels", "run")
    assert scores["rr"] == pytest.approx((0.75 + 0.5 + 0) / 3)
    assert (scores["rr_pessimistic"], scores["rr_optimistic"]) == (1 / 3, 0.5)
    assert scores["ndcg@10:gain=linear"] == np.nanmean(h.measure("ndcg@10:gain=linear"))
    assert scores["ap@10:min_relevance=2"] == 0.5
    assert "4 queries of qrels, ranked by run" in printed.err
    assert "rr: ties decide the value of 33.3% of the queries" in printed.err


@pytest.mark.filterwarnings("ignore:.* of 4 queries have no relevant item")
def test_measures_of_a_run_by_default(files, capsys):
    assert main(["evaluate", *files]) == 0
    printed = capsys.readouterr().out
    assert [line.split()[0] for line in printed.splitlines()[1:]] == [
        *("ap", "ndcg:gain=linear", "ndcg@10:gain=linear", "precision@10", "recall@100", "rr")
    ]


@pytest.mark.filterwarnings("ignore:.* of 4 queries have no relevant item")
@pytest.mark.filterwarnings("ignore::sklearn_hashrank.metrics.TieWarning")
def test_the_order_of_trec_eval_is_printed_alone(files, capsys):
    names = "ndcg@10:ties=docid,ap@5:min_relevance=2:ties=docid"
    assert main(["evaluate", *files, "--measures", names, "--json"]) == 0
    scores = json.loads(capsys.readouterr().out)
    h = RetrievalHistogram.from_run("qrels", "run")
    assert scores == {
        "ndcg@10:ties=docid": np.nanmean(h.measure("ndcg@10", ties="docid")),
        "ap@5:min_relevance=2:ties=docid": 0.5,
    }


def test_policies_of_a_run(files, capsys):
    options = ["--query-set", "both", "--unjudged", "remove", "--measures", "rr", "--json"]
    assert main(["evaluate", *files, *options]) == 0
    assert json.loads(capsys.readouterr().out)["rr"] == pytest.approx((0.75 + 1) / 2)
    assert main(["evaluate", *files, "--query-set", "equal"]) == 2
    assert "queries='equal' needs the same queries in qrels and run" in capsys.readouterr().err


@pytest.mark.filterwarnings("ignore:.* of 4 queries have no relevant item")
def test_values_of_each_query_are_in_the_order_of_queries(files, capsys):
    options = ["--per-query", "queries.csv", "--measures", "rr,precision@1"]
    assert main(["evaluate", *files, *options]) == 0
    with open("queries.csv", newline="") as file:
        rows = list(csv.reader(file))
    assert rows == [
        ["query", "rr", "precision@1"],
        ["q1", "0.75", "0.5"],
        ["q2", "0.5", "0.0"],
        ["q3", "", ""],
        ["q4", "0.0", "0.0"],
    ]


def test_values_of_each_query_of_codes(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    codes, y = rng.integers(0, 2, (30, 8)), rng.integers(0, 3, 30)
    np.save("codes.npy", codes.astype(np.uint8))
    np.save("labels.npy", y)
    words = "evaluate --database codes.npy --database-labels labels.npy --bits 8"
    assert main([*words.split(), "--measures", "ap,mlgap", "--per-query", "q.csv"]) == 0
    with open("q.csv", newline="") as file:
        _, *rows = csv.reader(file)
    wanted = tie_aware_average_precision_score(y, codes, average=False)
    np.testing.assert_allclose([float(row[1]) for row in rows], wanted)
    assert [int(row[0]) for row in rows] == list(range(30))


def test_found_neighbors_make_a_run(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 2, (30, 8)).astype(np.uint8)
    y = rng.integers(0, 3, 30)
    np.save("codes.npy", codes)
    words = ["search", "--database", "codes.npy", "--queries", "codes.npy", "--bits", "8"]
    assert main([*words, "-k", "30", "--run", "found.run"]) == 0
    assert "found.run: 900 items of 30 queries" in capsys.readouterr().out
    run = read_run("found.run")
    assert run["0"]["0"] == 0
    qrels = {str(q): {str(i): int(y[i] == y[q]) for i in range(30)} for q in range(30)}
    found = RetrievalHistogram.from_run(qrels, run).average_precision()
    distances = (codes[:, None] != codes).sum(axis=2)
    h = RetrievalHistogram.from_scores(np.equal.outer(y, y), distances, order="distance")
    np.testing.assert_allclose(found, h.average_precision())


def test_no_order_of_rows_decides_what_a_run_holds(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 2, (40, 12)).astype(np.uint8)
    np.save("codes.npy", codes)
    np.save("queries.npy", codes[:7])
    distances = (codes[:7, None] != codes).sum(axis=2)
    words = ["search", "--database", "codes.npy", "--queries", "queries.npy", "--bits", "12"]
    words += ["-k", "9", "--run", "found.run"]
    assert main(words) == 0
    run = read_run("found.run")
    for query, far in enumerate(distances):
        near = np.flatnonzero(far <= np.sort(far)[8])
        assert run[str(query)] == {str(item): -far[item] for item in near}
    n_tied = int((np.sort(distances)[:, 8] == np.sort(distances)[:, 9]).sum())
    assert 0 < n_tied < 7
    n_more = sum(map(len, run.values())) - 63
    said = f"{n_tied} of 7 queries have ties at place 9: they hold all of them, {n_more} items more"
    assert said in capsys.readouterr().err
    y = rng.integers(0, 3, 40)
    qrels = {str(q): {str(i): int(y[i] == y[q]) for i in range(40)} for q in range(7)}
    relevance = np.equal.outer(y[:7], y)
    h = RetrievalHistogram.from_scores(relevance, distances, order="distance")
    found = RetrievalHistogram.from_run(qrels, run)
    for name in ("precision@9", "recall@9", "ndcg@9", "ap@9"):
        np.testing.assert_allclose(found.measure(name), h.measure(name))
    assert main([*words, "--ties", "cut"]) == 0
    assert {len(items) for items in read_run("found.run").values()} == {9}
    said = "the order of the database decides which of them are among the first"
    assert said in capsys.readouterr().err


@pytest.mark.parametrize("oversampling", [1, 2])
@pytest.mark.parametrize("candidates", [["--rescore", "x.npy"], ["--prefix", "3"]], ids=" ".join)
def test_a_run_holds_the_best_candidates_as_a_table_does(
    tmp_path, monkeypatch, candidates, oversampling
):
    """Not those of more candidates, though a run looks whether its last item ties."""
    monkeypatch.chdir(tmp_path)
    X = np.random.default_rng(0).normal(size=(90, 6))
    save_hasher("m.npz", LSHHasher(5, random_state=0).fit(X))
    np.save("x.npy", X)
    np.save("q.npy", X[:9] + 0.1)
    assert main(["encode", "--model", "m.npz", "--data", "x.npy", "--output", "c.npy"]) == 0
    words = ["search", "--model", "m.npz", "--database", "c.npy", "--data", "q.npy", "-k", "3"]
    words += [*candidates, "--oversampling", str(oversampling)]
    assert main([*words, "--output", "found.csv"]) == 0
    assert main([*words, "--run", "found.run"]) == 0
    with open("found.csv", newline="") as file:
        expected = [(row["query"], row["item"]) for row in csv.DictReader(file)]
    lines = [line.split() for line in (tmp_path / "found.run").read_text().splitlines()]
    assert [(query, item) for query, _, item, *_ in lines] == expected


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--output", "found.csv", "--ties", "all"], "--ties needs --run"),
        (["--radius", "2", "--run", "r", "--ties", "all"], "--ties and --radius exclude"),
        (
            ["--data", "x.npy", "--model", "m.npz", "--rescore", "x.npy", "--run", "r"]
            + ["--ties", "all"],
            "--ties all needs all distances",
        ),
        (["--prefix", "3", "--run", "r", "--ties", "all"], "--ties all needs all distances"),
    ],
)
def test_ties_of_other_searches_are_refused(files, capsys, words, message):
    queries = [] if "--data" in words else ["--queries", "c.npy"]
    assert main(["search", "--database", "c.npy", *queries, *words]) == 2
    assert message in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--run", "run"], "--run needs --qrels"),
        (["--qrels", "qrels"], "evaluate needs --database, or --run and --qrels"),
        ([], "evaluate needs --database, or --run and --qrels"),
        (
            ["--run", "run", "--qrels", "qrels", "--database", "c.npy"],
            "--run and --database exclude",
        ),
        *(
            (["--run", "run", "--qrels", "qrels", option, value], f"--run and {option} exclude")
            for option, value in (
                ("--threshold", "0"),
                ("--label-column", "y"),
                ("--affinity", "labels"),
                ("--metric", "euclidean"),
            )
        ),
        (["--database", "c.npy", "--unjudged", "remove"], "--unjudged needs --run"),
        (["--run", "run", "--qrels", "qrels", "--measures", "ph2"], "ph2 looks within a Hamming"),
        (["--run", "run", "--qrels", "run"], "run: line 1 must hold query, iteration, item"),
        (["--run", "run", "--qrels", "qrels", "--per-query", "a.txt"], "must end in .csv"),
        (["--run", "run", "--qrels", "qrels", "--per-query", "no/a.csv"], "no such folder"),
        (["--run", "none", "--qrels", "qrels"], "No such file"),
    ],
)
def test_wrong_words_are_said_in_one_line(files, capsys, words, message):
    assert main(["evaluate", *words]) == 2
    error = capsys.readouterr().err
    assert message in error
    assert len(error.strip().splitlines()) == 1


def test_a_run_and_an_output_exclude_each_other(files, capsys):
    words = ["search", "--database", "c.npy", "--queries", "c.npy", "--output", "a.csv"]
    with pytest.raises(SystemExit, match="2"):
        main([*words, "--run", "found.run"])
    assert "not allowed with argument --output" in capsys.readouterr().err


@pytest.mark.filterwarnings("ignore:.* queries have no relevant item")
def test_a_run_is_tested_against_another(files, capsys, tmp_path):
    (tmp_path / "other").write_text("q4 Q0 a 1 0.5 x\nq2 Q0 c 1 0.9 x\nq1 Q0 b 1 0.5 x\n")
    command = ["evaluate", *files, "--baseline", "other", "--measures", "rr,recall@1"]
    for queries in ("judged", "both"):
        assert main([*command, "--query-set", queries, "--json"]) == 0
        scores = json.loads(capsys.readouterr().out)
        ours, theirs = (
            RetrievalHistogram.from_run("qrels", name, queries=queries) for name in ("run", "other")
        )
        common = [query for query in ours.query_ids if query in theirs.query_ids]
        a, b = (h.measure("rr")[[h.query_ids.index(q) for q in common]] for h in (ours, theirs))
        result = paired_test(a, b, random_state=0)
        assert scores["rr_ahead"] == result.statistic
        found = scores["rr_ahead_low"], scores["rr_ahead_high"]
        assert found == result.confidence_interval
        assert scores["rr_p"] >= result.pvalue
    assert main(command) == 0
    assert "ahead of other, 3 queries" in capsys.readouterr().out


@pytest.mark.parametrize("has_queries", [False, True])
def test_codes_are_tested_against_others(has_queries, tmp_path, monkeypatch, capsys):
    """On the same queries, with the p-values of a paired test."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 60)
    good = (np.eye(3)[y].repeat(4, axis=1) + rng.random((60, 12)) > 0.8).astype(np.uint8)
    bad = rng.integers(0, 2, (60, 16)).astype(np.uint8)
    np.save("y.npy", y)
    for name, codes in (("good", good), ("bad", bad)):
        np.save(f"{name}.npy", codes)
        np.save(f"{name}_q.npy", codes[:20])
    np.save("y_q.npy", y[:20])
    np.save("short.npy", bad[:50])
    words = ["evaluate", "--database", "good.npy", "--database-labels", "y.npy"]
    words += ["--measures", "ap,ph2"]
    others = ["--baseline", "bad.npy"]
    h = {}
    for name, codes in (("good", good), ("bad", bad)):
        queries, query_y = (codes[:20], y[:20]) if has_queries else (codes, y)
        h[name] = retrieval_histogram(queries, codes, query_y, y, exclude_self=not has_queries)
    if has_queries:
        words += ["--queries", "good_q.npy", "--query-labels", "y_q.npy"]
        assert main([*words, *others]) == 2
        assert "--baseline-queries" in capsys.readouterr().err
        others += ["--baseline-queries", "bad_q.npy"]
    assert main([*words, *others, "--json"]) == 0
    scores = json.loads(capsys.readouterr().out)
    wanted = paired_test(*(h[name].average_precision() for name in h), random_state=0)
    assert scores["ap"] == pytest.approx(h["good"].average_precision().mean())
    assert scores["ap_ahead"] == pytest.approx(wanted.statistic)
    assert (scores["ap_ahead_low"], scores["ap_ahead_high"]) == wanted.confidence_interval
    assert scores["ap_p"] >= wanted.pvalue
    assert main([*words, *others]) == 0
    assert "ahead of bad.npy" in capsys.readouterr().out
    assert main([*words, "--baseline", "short.npy", *others[2:]]) == 2
    assert "short.npy has 50 rows, and good.npy has 60" in capsys.readouterr().err


def test_tiny_scores_are_printed_in_full(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 2, (60, 40)).astype(np.uint8)
    codes[1] = codes[0]
    codes[1, :2] ^= 1  # the only pair within a radius of 2
    np.save("codes.npy", codes)
    np.save("y.npy", np.arange(60) // 2)
    words = ["evaluate", "--database", "codes.npy", "--database-labels", "y.npy"]
    words += ["--measures", "mlgap,lookup_recall:radius=0"]
    assert main([*words, "--json"]) == 0
    small, zero, *_ = json.loads(capsys.readouterr().out).values()
    assert main(["evaluate", *words[1:]]) == 0
    shown = [line.split()[1] for line in capsys.readouterr().out.splitlines()[1:]]
    assert 0 < small < 5e-5
    assert float(shown[0]) == pytest.approx(small, rel=0.06)
    assert (zero, shown[1]) == (0, "0.0000")


def test_ids_in_csv_files_are_no_formulas(tmp_path, monkeypatch, capsys):
    """As text of other tables: a spreadsheet computes nothing."""
    pq = pytest.importorskip("pyarrow.parquet")
    pa = pytest.importorskip("pyarrow")
    monkeypatch.chdir(tmp_path)
    names = ["=cmd()", "+1", "-2", "@x", "plain", "7"]
    codes = pa.array([bytes([n]) for n in range(6)], pa.binary(1))
    pq.write_table(pa.table({"id": names, "code": codes, "y": [0, 1] * 3}), "c.parquet")
    search = "search --database c.parquet --queries c.parquet --bits 8 -k 6"
    assert main([*search.split(), "--output", "found.csv"]) == 0
    assert main(search.split()) == 0
    (tmp_path / "printed.csv").write_text(capsys.readouterr().out.partition("\n")[2])
    evaluate = "evaluate --database c.parquet --bits 8 --database-labels c.parquet --label-column y"
    assert main([*evaluate.split(), "--per-query", "values.csv"]) == 0
    for path in ("found.csv", "printed.csv", "values.csv"):
        with open(path, newline="") as file:
            cells = {cell for row in csv.reader(file) for cell in row}
        assert not any(cell.startswith(("=", "+", "@", "-")) for cell in cells)
        assert {"'=cmd()", "'+1", "'-2", "'@x", "plain", "7"} <= cells
