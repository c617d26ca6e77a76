"""RetrievalGridDisplay: the items of a search, their ties by a histogram, and what is drawn."""

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA
from sklearn.pipeline import make_pipeline

from sklearn_hashrank import (
    HammingNeighbors,
    HierarchicalAffinity,
    ITQHasher,
    LSHHasher,
    NeighborAffinity,
    retrieval_histogram,
)
from sklearn_hashrank.metrics import RetrievalGridDisplay, RetrievedItems

DIGITS = load_digits()
X, Y, IMAGES = DIGITS.data[:400], DIGITS.target[:400], DIGITS.images[:400]
HASHER = LSHHasher(8, random_state=0).fit(X)


@pytest.fixture
def plt():
    plt = pytest.importorskip("matplotlib.pyplot")
    yield plt
    plt.close("all")


@pytest.mark.parametrize("apart", [False, True])
def test_items_are_those_of_a_search_and_ties_those_of_a_histogram(apart):
    queries = [5, 0, 17]
    database = (X[100:], Y[100:], IMAGES[100:]) if apart else None
    display = RetrievalGridDisplay.from_estimator(
        HASHER, X, Y, looks=IMAGES, queries=queries, n_neighbors=30, database=database
    )
    found, codes = display.retrieved, HASHER.transform(X)
    own = slice(100, None) if apart else slice(None)
    index = HammingNeighbors().fit(codes[own])
    if apart:
        distances, indices = index.kneighbors(codes[queries], 30)
        counts = retrieval_histogram(codes[queries], codes[own], Y[queries], Y[own]).counts
    else:
        distances, indices = (part[queries] for part in index.kneighbors(n_neighbors=30))
        counts = retrieval_histogram(codes, codes, Y, Y, exclude_self=True).counts[queries]
    np.testing.assert_array_equal(found.indices, indices)
    np.testing.assert_array_equal(found.distances, distances)
    np.testing.assert_array_equal(found.levels, Y[own][indices] == Y[queries][:, None])
    for row in range(3):
        np.testing.assert_array_equal(found.n_tied[row], counts[row].sum(axis=0)[distances[row]])
        np.testing.assert_array_equal(found.n_relevant[row], counts[row, 1][distances[row]])
    np.testing.assert_array_equal(display.items[1][2], IMAGES[own][indices[1, 2]])


def test_nothing_is_said_by_colour_alone(plt):
    display = RetrievalGridDisplay.from_estimator(
        HASHER, X, Y, looks=IMAGES, queries=2, n_neighbors=12
    ).plot()
    assert display.axes_.shape == (2, 13)
    found = display.retrieved
    for row, axes in enumerate(display.axes_):
        for place, ax in enumerate(axes[1:]):
            is_relevant = found.levels[row, place] > 0
            assert ax.get_xlabel().strip() == ("relevant" if is_relevant else "")
            assert ax.spines["left"].get_linestyle() == ("-" if is_relevant else ":")
            begins = place == 0 or found.distances[row, place] != found.distances[row, place - 1]
            n_relevant, n_tied = found.n_relevant[row, place], found.n_tied[row, place]
            title = ax.get_title(loc="left")
            assert (f"\n{n_relevant} of {n_tied}" in title) == begins
    display.figure_.canvas.draw()


def test_grades_are_said_by_level(plt):
    paths = np.stack([Y // 5, Y], axis=1)
    display = RetrievalGridDisplay.from_estimator(
        HASHER, X, paths, looks=IMAGES, affinity=HierarchicalAffinity(), queries=3
    ).plot()
    said = {ax.get_xlabel().strip() for ax in display.axes_[:, 1:].ravel()}
    assert {"level 1", "level 2"} <= said


def test_texts_pipelines_and_rows_without_labels(plt):
    model = make_pipeline(PCA(10), ITQHasher(8, random_state=0)).fit(X)
    texts = [f"${label} " + "unbreakableword" * 5 + " and more words" * 9 for label in Y]
    display = RetrievalGridDisplay.from_estimator(
        model, X, looks=texts, affinity=NeighborAffinity(5), queries=[1], n_neighbors=3
    ).plot(figure=plt.figure())
    [shown] = display.axes_[0, 0].texts
    lines = shown.get_text().split("\n")
    assert len(lines) == 6
    assert max(map(len, lines)) <= 16
    display.figure_.canvas.draw()
    labelled = RetrievalGridDisplay.from_estimator(HASHER, X, Y, queries=[3], n_neighbors=2)
    assert labelled.queries == [str(Y[3])]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"queries": 0}, "queries must be an int >= 1, or numbers of rows. Got 0"),
        ({"queries": [400]}, "rows of X, from 0 to 399. Got 400 to 400"),
        ({"queries": [0.5]}, r"or numbers of rows. Got \[0.5\]"),
        ({"n_neighbors": 400}, "from 1 to the 399 items .* Got 400"),
        ({"n_neighbors": True}, "n_neighbors must be an int"),
        ({"looks": IMAGES[:9]}, "one for each of 400 rows. Got 9"),
        ({"looks": X}, r"texts, or pictures of shape .* Got ndarray of shape \(64,\)"),
        ({"database": (X, Y)}, r"None or a tuple \(X, y, looks\). Got tuple"),
        ({"database": (X, None, IMAGES)}, "queries and database both need y, or neither"),
    ],
)
def test_bad_arguments_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        RetrievalGridDisplay.from_estimator(HASHER, X, Y, **options)


def test_rows_that_do_not_fit_are_refused():
    values = RetrievedItems(*np.zeros((5, 1, 2)))
    with pytest.raises(ValueError, match="items must have a row for each query"):
        RetrievalGridDisplay(["a"], [["b"]], values)
