"""The page of the two best methods of a comparison."""

from importlib.util import find_spec

import numpy as np
import pytest

from sklearn_hashrank import ClassifierHasher, ITQHasher, LSHHasher, NeighborAffinity
from sklearn_hashrank.cli import main
from sklearn_hashrank.comparison import compare
from sklearn_hashrank.metrics._retrieval import retrieve
from sklearn_hashrank.model_selection import PerClassRetrievalSplit, RandomRetrievalSplit
from tests.comparison.conftest import PROTOCOL
from tests.explore.test_page_writer import array, read

METHODS = {"lsh": LSHHasher(), "itq": ITQHasher(max_iter=5), "classes <b>": ClassifierHasher()}


class Failing(LSHHasher):
    def fit(self, X, y=None):
        raise ValueError("never")


@pytest.fixture(scope="module")
def explored(digits):
    pytest.importorskip("PIL")
    options = {"image_shape": (8, 8)}
    return compare(
        *digits, methods=METHODS, n_bits=[8, 12], seeds=2, protocol=PROTOCOL, explore=options,
        name="digits",
    )  # fmt: skip


def test_the_two_best_methods_of_the_longest_codes(explored, no_pictures, tmp_path):
    [table] = explored.tables(["ap"])
    means = {method: table.cells[method, 12].mean for method in METHODS}
    best = sorted(means, key=means.get, reverse=True)[:2]
    paths = explored.write(tmp_path)
    data = read(paths["explore"])
    assert [model["name"] for model in data["models"]] == best
    assert {model["nBits"] for model in data["models"]} == {12}
    assert data["items"]["kind"] == "pictures"
    assert (len(array(data["queries"])), data["nDatabase"]) == (50, 1747)


def test_a_page_has_the_numbers_of_the_runs(explored, digits):
    X, y = digits
    page = explored.explore_page
    queries, database = page.options["queries"], page.options["database"]
    for method, model in page.models.items():
        found = retrieve(model, X[queries], y[queries], database=(X[database], y[database]))
        [run] = [r for r in explored.results if (r.method, r.n_bits, r.seed) == (method, 12, 0)]
        assert found.average_precision().mean() == pytest.approx(run.scores["ap"])


def test_the_report_links_to_the_page(explored, comparison, no_pictures):
    text = explored.to_html()
    assert text.count('href="explore.html"') == 1
    assert "classes &lt;b&gt;" in text
    assert "explore.html" not in comparison.to_html()


def test_without_it_no_page_is_written(comparison, no_pictures, tmp_path):
    assert set(comparison.write(tmp_path)) == {"report", "csv", "markdown", "latex"}
    assert not (tmp_path / "explore.html").exists()


def test_methods_that_failed_are_not_shown(digits):
    options = {"n_bits": [8], "seeds": 1, "protocol": PROTOCOL, "explore": True}
    found = compare(*digits, methods={"bad": Failing(), "lsh": LSHHasher()}, **options)
    assert list(found.explore_page.models) == ["lsh"]
    assert compare(*digits, methods={"bad": Failing()}, **options).explore_page is None


def test_rows_are_compared_without_labels(no_pictures, tmp_path):
    X = np.random.default_rng(0).normal(size=(300, 10))
    found = compare(
        X, methods=["lsh", "itq"], n_bits=[8], seeds=1, affinity=NeighborAffinity(5),
        protocol=RandomRetrievalSplit(n_queries=20), explore=True,
    )  # fmt: skip
    data = read(found.write(tmp_path)["explore"])
    assert data["labels"] is None
    levels = array(data["relevance"]["rows"]).reshape(20, 280)
    assert (levels.sum(axis=1) == 5).all()


@pytest.mark.parametrize("n_queries", [60, 110])
def test_the_page_has_all_queries_of_the_run_or_says_how_many(
    digits, no_pictures, tmp_path, n_queries
):
    protocol = PerClassRetrievalSplit(n_queries=n_queries, n_train=30)
    found = compare(*digits, methods=["lsh"], n_bits=[8], seeds=2, protocol=protocol, explore=True)
    path = found.write(tmp_path)["explore"]
    n_all = 10 * n_queries
    assert len(array(read(path)["queries"])) == min(n_all, 1000)
    text = path.read_text(encoding="utf-8")
    assert f"seed 0, where ap is {found.results[0].scores['ap']:.3f} of lsh" in text
    assert ("1,000 of 1,100 queries, sampled" in text) == (n_all > 1000)
    assert found.explore_page.options["note"] in found.to_html()


def test_errors_say_what_was_given(digits):
    with pytest.raises(ValueError, match="explore must be a bool, or a dict of arguments"):
        compare(*digits, explore="page.html")


def test_the_command_writes_the_page(no_pictures, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    options = ["compare", "--data", "digits", "--methods", "lsh", "--bits", "8", "--seeds", "1"]
    assert main([*options, "--explore", "--quiet", "--output", "out"]) == 0
    assert "page: out/explore.html" in capsys.readouterr().out.replace("\\", "/")
    assert read(tmp_path / "out" / "explore.html")["items"]["kind"] == "pictures"
    assert main([*options, "--texts", "a.txt"]) == 2
    assert "--texts needs --explore" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["text", "queries", "path"])
def test_arguments_of_the_page_are_checked_before_anything_is_fitted(digits, name):
    with pytest.raises(ValueError, match=f"arguments of write_page, .*'texts'.* Got '{name}'"):
        compare(*digits, methods={"lsh": Failing(8)}, explore={name: 1})


def test_a_page_that_fails_leaves_everything_else_written(digits, tmp_path, one_picture):
    options = {"images": [tmp_path / f"{row}.png" for row in range(len(digits[0]))]}
    found = compare(
        *digits,
        methods={"lsh": LSHHasher()},
        n_bits=[8],
        seeds=1,
        protocol=PROTOCOL,
        explore=options,
    )
    with pytest.raises(ValueError, match="cannot be read as a picture"):
        found.write(tmp_path)
    assert (tmp_path / "report.html").exists()
    assert find_spec("matplotlib") is None or list((tmp_path / "figures").iterdir())
