"""Pages of explore: what they hold, how large they are, and what is refused."""

import base64
import json
import re
import sys
import zlib
from html.parser import HTMLParser

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_digits, make_multilabel_classification
from sklearn.decomposition import PCA
from sklearn.pipeline import make_pipeline
from sklearn.random_projection import GaussianRandomProjection

from sklearn_hashrank import (
    EuclideanAffinity,
    HierarchicalAffinity,
    LSHHasher,
    NeighborAffinity,
    PCAHasher,
    SignHasher,
    retrieval_histogram,
)
from sklearn_hashrank.codes import hamming_distances
from sklearn_hashrank.explore import write_page
from sklearn_hashrank.metrics import distance_histogram
from tests.hostile import HOSTILE


def read(path):
    """The data block of a page, as its script reads it."""
    page = path.read_text("utf-8")
    [block] = re.findall(r'<script type="application/json" id="data">(.*?)</script>', page, re.S)
    return json.loads(block)


def array(encoded):
    data = base64.b64decode(encoded["base64"])
    return np.frombuffer(zlib.decompress(data) if encoded["deflated"] else data, encoded["type"])


def levels_of(data):
    """Levels of each listed query with each item of the database, as the script finds them."""
    queries, n = array(data["queries"]), data["nDatabase"]
    relevance = data["relevance"]
    if "rows" in relevance:
        return array(relevance["rows"]).reshape(len(queries), n)
    groups = array(relevance["groups"])
    matrix = array(relevance["ofGroups"])
    matrix = matrix.reshape([round(len(matrix) ** 0.5)] * 2)
    return matrix[groups[queries]][:, groups[:n]]


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(return_X_y=True)
    return X[:300], y[:300]


@pytest.fixture
def path(tmp_path):
    return tmp_path / "page.html"


def written(path, *arguments, **options):
    page = write_page(path, *arguments, **options)
    assert page.n_bytes == path.stat().st_size
    return page, read(path)


class Elements(HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.found = []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.found.append((tag, dict(attributes)))


def test_a_page_holds_codes_queries_and_labels(digits, path):
    X, y = digits
    models = {"first": LSHHasher(13, random_state=0).fit(X), "second": PCAHasher(24).fit(X)}
    page, data = written(path, models, X, y, queries=20, title="digits")
    assert (page.n_items, page.n_rows, page.n_queries, page.is_sampled) == (300, 300, 20, False)
    assert data["sampledFrom"] is None
    np.testing.assert_array_equal(array(data["rows"]), np.arange(300))
    assert len(set(array(data["queries"]))) == 20
    for (name, model), given in zip(models.items(), data["models"], strict=True):
        assert (given["name"], given["nBits"]) == (name, model.n_bits)
        codes = array(given["codes"]).reshape(300, -1)
        np.testing.assert_array_equal(codes, model.packed_codes(X))
    words = np.array(data["labels"]["words"])
    np.testing.assert_array_equal(words[array(data["labels"]["of"])], y.astype(str))
    assert data["items"] == {"kind": "numbers"}
    assert "first" in data["models"][0]["name"]
    assert "relevant where the class is the same" in data["relevance"]["description"]


def test_nothing_comes_from_elsewhere(digits, path):
    pytest.importorskip("PIL")
    X, y = digits
    write_page(path, LSHHasher(8).fit(X), X, y, image_shape=(8, 8))
    page = path.read_text("utf-8")
    for tag, attributes in Elements(page).found:
        assert tag not in ("link", "iframe", "object", "img", "base")
        assert "src" not in attributes
        assert "style" not in attributes
        assert not any(name.startswith("on") for name in attributes)
        assert attributes.get("href", "#").startswith("#")
    style = re.search("<style>(.*?)</style>", page, re.S).group(1)
    assert "url(" not in style
    assert "@import" not in style
    [policy] = [a["content"] for _, a in Elements(page).found if a.get("http-equiv")]
    assert "unsafe" not in policy
    assert "http" not in policy
    assert "img-src 'none'" in policy


def random_paths(rng):
    return np.stack([rng.integers(2, 5, 80), rng.integers(2, 9, 80)], axis=1)


RELEVANCE = {
    "classes": (lambda rng, X: rng.integers(0, 4, 80), "auto", "groups"),
    "label sets": (lambda rng, X: rng.integers(0, 2, (80, 5)), "auto", "groups"),
    "paths": (lambda rng, X: random_paths(rng), HierarchicalAffinity(), "groups"),
    "near rows": (lambda rng, X: None, NeighborAffinity(5), "rows"),
    "thresholds": (lambda rng, X: X, EuclideanAffinity(), "rows"),
}


@pytest.mark.parametrize("case", RELEVANCE)
@pytest.mark.parametrize("is_split", [False, True])
def test_levels_give_the_counts_of_retrieval_histogram(case, is_split, path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 6))
    make, affinity, form = RELEVANCE[case]
    y = make(rng, X)
    hasher = LSHHasher(7, random_state=0).fit(X)
    split = {"queries": np.arange(10), "database": np.arange(10, 80)} if is_split else {}
    _, data = written(path, hasher, X, y, affinity=affinity, **split)
    assert form in data["relevance"]
    compared, codes = X if y is None else y, hasher.transform(X)
    queries, database = (np.arange(10), np.arange(10, 80)) if is_split else (np.arange(80),) * 2
    expected = retrieval_histogram(
        codes[queries],
        codes[database],
        compared[queries],
        compared[database],
        affinity=affinity,
        exclude_self=not is_split,
    )
    levels, rows = levels_of(data), array(data["rows"])
    n_levels = len(expected.levels)  # a page has those that no query meets, too
    assert data["relevance"]["levels"][:n_levels] == expected.levels.tolist()
    for place, query in enumerate(array(data["queries"])):
        found = hamming_distances(codes[rows[[query]]], codes[rows[: data["nDatabase"]]])[0]
        counts = np.zeros((len(data["relevance"]["levels"]), 8), int)
        others = np.arange(data["nDatabase"]) != query
        np.add.at(counts, (levels[place][others], found[others]), 1)
        [of_query] = expected.counts[queries == rows[query]]
        np.testing.assert_array_equal(counts[:n_levels], of_query)
        assert not counts[n_levels:].any()


def test_many_label_sets_are_kept_row_by_row(path):
    X, Y = make_multilabel_classification(
        1500, n_features=5, n_classes=40, n_labels=20, random_state=0
    )
    _, data = written(path, LSHHasher(8).fit(X), X, Y, queries=5)
    assert "rows" in data["relevance"]
    queries = array(data["queries"])
    np.testing.assert_array_equal(levels_of(data), Y[queries] @ Y.T)


@pytest.mark.parametrize("metric", ["cosine", "euclidean", "inner_product"])
def test_exact_neighbors_and_their_measures(digits, path, metric):
    X, y = digits
    X = np.vstack([X, X[:5]])  # rows that are equal are tied
    y = np.concatenate([y, 9 - y[:5]])
    _, data = written(path, LSHHasher(8).fit(X), X, y, metric=metric, n_neighbors=7)
    queries, exact = array(data["queries"]), data["exact"]
    distances = {
        "cosine": 1 - (X @ X.T) / np.linalg.norm(X, axis=1) / np.linalg.norm(X, axis=1)[:, None],
        "euclidean": np.sqrt(((X[:, None] - X) ** 2).sum(2)),
        "inner_product": -(X @ X.T),
    }[metric].round(9)
    expected = distance_histogram(distances, y, exclude_self=True)
    for name, values in {
        "ap": expected.average_precision(),
        "apBest": expected.average_precision(ties="optimistic"),
        "ndcgWorst": expected.ndcg(ties="pessimistic"),
    }.items():
        np.testing.assert_allclose(array(exact["measures"][name]), values[queries], atol=1e-12)
    np.fill_diagonal(distances, np.inf)
    nearest = np.sort(distances, axis=1)[queries, :7]
    ids = array(exact["ids"]).reshape(-1, 7)
    kept = array(exact["distances"]).reshape(-1, 7)
    np.testing.assert_allclose(kept, nearest, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(
        np.take_along_axis(distances[queries], ids.astype(int), 1), nearest, atol=1e-8
    )


@pytest.mark.parametrize("metric", ["cosine", "euclidean", "inner_product"])
def test_exact_neighbors_do_not_depend_on_the_unit(digits, path, metric):
    X, y = digits
    hasher = LSHHasher(8, random_state=0).fit(X)
    units = [2.0**-600, 1.0] + [2.0**600] * (metric == "cosine")
    exact = [written(path, hasher, unit * X, y, metric=metric)[1]["exact"] for unit in units]
    for other in exact:
        assert other["ids"] == exact[1]["ids"]
        assert other["measures"] == exact[1]["measures"]


def test_distances_that_the_page_cannot_hold_are_refused(digits, path):
    X, y = digits
    with pytest.raises(ValueError, match="X holds numbers too large for euclidean distances"):
        write_page(path, LSHHasher(8).fit(X), 2.0**600 * X, y, metric="euclidean")


def test_queries_and_database_may_be_given(digits, path):
    X, y = digits
    page, data = written(
        path, LSHHasher(8).fit(X), X, y, queries=[7, 3], database=np.arange(50, 90), texts=list(y)
    )
    assert (page.n_items, page.n_queries) == (40, 2)
    rows, queries = array(data["rows"]), array(data["queries"])
    assert rows[queries].tolist() == [3, 7]
    assert rows[:40].tolist() == list(range(50, 90))
    assert data["items"]["texts"] == [str(y[row]) for row in rows]


def test_larger_data_are_sampled_and_the_page_says_so(digits, path):
    X, y = digits
    page, data = written(path, LSHHasher(8).fit(X), X, y, n_items=100, queries=10)
    assert page.is_sampled
    assert (data["nDatabase"], data["sampledFrom"]) == (100, 300)
    assert "100 of 300 items are shown, sampled at random" in path.read_text("utf-8")
    again = tuple(write_page(path, LSHHasher(8).fit(X), X, y, n_items=100, queries=10))
    assert again[1:4] == tuple(page)[1:4]
    np.testing.assert_array_equal(array(read(path)["rows"]), array(data["rows"]))


def test_without_labels_rows_are_compared(digits, path):
    X, _ = digits
    hasher = make_pipeline(PCA(4), PCAHasher(3)).fit(X)
    _, data = written(path, hasher, X, queries=10)
    assert data["labels"] is None
    assert data["exact"]["metric"] == "cosine"
    seen = hasher[:-1].transform(X)
    near = seen @ seen.T / np.linalg.norm(seen, axis=1) / np.linalg.norm(seen, axis=1)[:, None]
    np.fill_diagonal(near, -1)
    ids = array(data["exact"]["ids"]).reshape(10, -1)
    np.testing.assert_array_equal(ids[:, 0], near[array(data["queries"])].argmax(1))


def test_any_estimator_that_gives_codes_goes_in(digits, path):
    class Outsider(GaussianRandomProjection):
        def transform(self, X):
            return (super().transform(X) > 0).astype(int)

    X, y = digits
    model = Outsider(6, random_state=0).fit(X)
    _, data = written(path, model, X, y)
    assert data["models"][0]["name"] == "Outsider"
    np.testing.assert_array_equal(
        array(data["models"][0]["codes"]), np.packbits(model.transform(X), axis=1).ravel()
    )


def test_sparse_rows_have_no_exact_neighbors(digits, path):
    X, y = digits
    _, data = written(path, LSHHasher(8).fit(X), sparse.csr_array(X), y)
    assert data["exact"] is None
    _, data = written(path, LSHHasher(8).fit(X), X, y, metric=None)
    assert data["exact"] is None


def test_labels_that_are_not_compared_are_shown(digits, path):
    X, y = digits
    _, data = written(path, LSHHasher(8).fit(X), X, labels=y, label_names=list("abcdefghij"))
    assert data["labels"]["words"] == list("abcdefghij")
    assert "rows" in data["relevance"]


def test_words_of_label_sets_and_paths(path):
    X = np.random.default_rng(0).normal(size=(3, 4))
    hasher = LSHHasher(4).fit(X)
    sets = [[1, 0, 1], [0, 0, 0], [0, 1, 0]]
    _, data = written(path, hasher, X, sets, label_names=["sky", "sea", "sun"])
    assert data["labels"]["words"] == ["none", "sea", "sky, sun"]
    _, data = written(path, hasher, X, [[10, 2], [9, 3], [10, 2]])
    assert data["labels"]["words"] == ["10 / 2", "9 / 3"]
    _, data = written(path, hasher, X, [10, 9, -1])
    assert data["labels"]["words"] == ["-1", "9", "10"]


def noise(n, side):
    return np.random.default_rng(0).integers(0, 256, (n, side, side), dtype=np.uint8)


@pytest.mark.slow
def test_ten_thousand_pictures_take_twelve_megabytes(path):
    """Noise cannot be compressed: no pictures take more."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(10_500, 64)), rng.integers(0, 10, 10_500)
    models = {"a": SignHasher(64).fit(X), "b": LSHHasher(64, random_state=0).fit(X)}
    page = write_page(path, models, X, y, images=noise(10_500, 28), queries=500)
    assert page.n_items >= 10_000
    assert page.n_bytes <= 12e6


@pytest.mark.slow
def test_a_hundred_thousand_codes_take_ten_megabytes(path):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(120_000, 64)).astype(np.float32), rng.integers(0, 10, 120_000)
    models = {"a": SignHasher(64).fit(X), "b": LSHHasher(64, random_state=0).fit(X)}
    page = write_page(path, models, X, y, queries=10)
    assert (page.n_items, page.n_rows) == (100_000, 120_000)
    assert page.n_bytes <= 10e6


def test_hostile_texts_labels_and_names_stay_data(path):
    n = len(HOSTILE)
    X = np.random.default_rng(0).normal(size=(n, 4))
    labels = np.array(HOSTILE, dtype=object)
    models = {HOSTILE[0]: LSHHasher(4).fit(X), HOSTILE[1]: LSHHasher(5).fit(X)}
    write_page(path, models, X, labels.astype(str), texts=HOSTILE, title=HOSTILE[2])
    page = path.read_text("utf-8")
    found = Elements(page).found
    assert [tag for tag, _ in found].count("script") == 2
    assert not {"img", "iframe", "base", "svg", "a href"} & {tag for tag, _ in found}
    data = read(path)
    assert data["items"]["texts"][0] == HOSTILE[0]
    assert data["models"][1]["name"] == HOSTILE[1]
    assert not any("\n" in text or "\u202e" in text for text in data["items"]["texts"])
    write_page(path, models, X, table={name or "x": HOSTILE for name in HOSTILE[:8]})
    assert read(path)["items"]["cells"][0][0] == HOSTILE[0]


REFUSED = {
    "models must be one estimator or two": {"models": {}},
    "models must be named by str. Got 3": {"models": {3: 1}},
    "metric must be one of": {"metric": "manhattan"},
    "n_neighbors must be an int >= 1. Got 0": {"n_neighbors": 0},
    "n_items must be an int >= 2. Got 1": {"n_items": 1},
    "queries must be an int >= 1 or row numbers. Got 0": {"queries": 0},
    "queries must be numbers of the 300 rows of X": {"queries": [300]},
    "queries must not hold a row twice": {"queries": [1, 1]},
    "database must be row numbers": {"database": [[1]]},
    "the database must have at least 2 rows. Got 1": {"database": [1]},
    "y must have 300 rows, as X has. Got shape (3,)": {"y": [1, 2, 3]},
    "labels must have 300 rows, as X has. Got shape (2,)": {"labels": [1, 2]},
    "items are shown in one way. Got image_shape and texts": {"image_shape": (8, 8), "texts": []},
    "image_shape=(-1, 8) does not fit rows of (64,) numbers": {"image_shape": (-1, 8)},
    "image_shape=(7, 8) does not fit rows of (64,) numbers": {"image_shape": (7, 8)},
    "images must be numbers of shape": {"images": np.zeros((300, 8))},
    "images must have one entry for each of the 300 rows. Got 2": {"images": np.zeros((2, 8, 8))},
    "texts must have one entry for each of the 300 rows. Got 1": {"texts": ["a"]},
    "texts must be one str for each row of X": {"texts": "abc"},
    "table must be a mapping of names to columns": {"table": [1]},
    "column 'a' of table must have one entry": {"table": {"a": [1]}},
    "label_names must name classes 0 to 1": {"label_names": ["a", "b"]},
    "must be finite numbers. Got NaN": {"images": np.full((300, 2, 2), np.nan)},
}


@pytest.mark.parametrize("message", REFUSED)
def test_errors_say_what_was_given(message, digits, path):
    X, y = digits
    given = {"models": LSHHasher(8).fit(X), "y": y, **REFUSED[message]}
    with pytest.raises(ValueError, match=re.escape(message)):
        write_page(path, X=X, **given)
    assert not path.exists()


def test_a_query_in_and_one_out_of_the_database_have_no_common_near_rows(digits, path):
    X, _ = digits
    with pytest.raises(ValueError, match="all be rows of the database"):
        write_page(
            path,
            LSHHasher(8).fit(X),
            X,
            affinity=NeighborAffinity(3),
            queries=[0, 60],
            database=np.arange(50, 90),
        )


def test_pictures_without_pillow_say_what_to_install(digits, path, monkeypatch):
    monkeypatch.setitem(sys.modules, "PIL", None)
    X, y = digits
    with pytest.raises(ValueError, match="needs Pillow, which is not installed: pip install"):
        write_page(path, LSHHasher(8).fit(X), X, y, image_shape=(8, 8))
    assert not path.exists()


def test_a_page_says_which_of_its_queries_are_sampled(tmp_path):
    X = np.random.default_rng(0).normal(size=(40, 6))
    for queries, is_said in ((5, True), (40, False), (np.arange(7), False)):
        path = write_page(
            tmp_path / "page.html", LSHHasher(4).fit(X), X, queries=queries, note="<made> here"
        ).path
        text = path.read_text(encoding="utf-8")
        assert (f"{queries} of 40 items are listed as queries" in text) == is_said
        assert "&lt;made&gt; here" in text


def test_codes_are_shown_as_a_model_with_the_same_codes_is(tmp_path):
    X = np.random.default_rng(0).normal(size=(60, 6))
    y = np.arange(60) % 3
    model = LSHHasher(11, random_state=0).fit(X)
    options = {"n_items": 40, "queries": 10}
    pages = [
        read(write_page(tmp_path / "page.html", {"a": each}, X, y, **options).path)
        for each in (model, model.transform(X), 2 * model.transform(X).astype(int) - 1)
    ]
    for page in pages:
        page["models"][0].pop("description")
    assert pages[0] == pages[1] == pages[2]
    with pytest.raises(ValueError, match="60. Got 59"):
        write_page(tmp_path / "page.html", model.transform(X)[1:], X, y)
