"""The protocol that is chosen by what there is."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sklearn_hashrank.model_selection import (
    PerClassRetrievalSplit,
    RandomRetrievalSplit,
    choose_retrieval_split,
)


def chosen(y, n_rows=None):
    protocol, reason = choose_retrieval_split(np.empty(len(y) if n_rows is None else n_rows), y)
    return protocol, reason


@pytest.mark.parametrize(
    ("y", "protocol", "reason"),
    [
        (np.repeat(["a", "b"], [600, 9000]), PerClassRetrievalSplit(), "class 'a', has 600 rows"),
        (np.repeat([3, 5], 50), PerClassRetrievalSplit(8, 42), "of 2 classes, class 3, has 50"),
        (np.repeat([3, 5], [2, 3]), PerClassRetrievalSplit(1, 1), "class 3, has 2 rows"),
        (
            np.repeat(["dog", "cat"], [100, 30]),
            RandomRetrievalSplit(26),
            "class 'cat', has 30 rows and the largest 100",
        ),
        (np.arange(10), RandomRetrievalSplit(2), "class 0, has 1 row and the largest 1"),
        (np.repeat([0, 1], [100, 9900]), RandomRetrievalSplit(1000, 5000), "the largest 9,900"),
        (
            np.repeat(np.arange(40), [10, *[1000] * 39]),
            RandomRetrievalSplit(1000, 20_000),
            "the smallest of 40 classes, class 0, has 10 rows",
        ),
        (
            [["animal", "dog"], ["animal", "cat"], ["plant", "oak"]] * 7,
            PerClassRetrievalSplit(1, 6),
            "label path animal / cat, has 7 rows",
        ),
        (
            np.eye(3, dtype=int)[np.repeat([0, 1, 2], [40, 5, 30])],
            RandomRetrievalSplit(15),
            "the rarest of 3 labels, that of column 1, has 5 of 75 rows",
        ),
        (
            pd.DataFrame(np.eye(2, dtype=int)[np.repeat([0, 1], [40, 5])], columns=["sea", "sky"]),
            RandomRetrievalSplit(9),
            "the rarest of 2 labels, label 'sky', has 5 of 45 rows",
        ),
        (np.ones((1200, 2), dtype=int), PerClassRetrievalSplit(), "2 labels has 1,200 rows"),
        (np.ones((1199, 2), dtype=int), RandomRetrievalSplit(239), "has 1,199 of 1,199 rows"),
        (np.linspace(0, 1, 30), RandomRetrievalSplit(6), "30 rows without classes"),
    ],
)
def test_the_choice_and_its_reason(y, protocol, reason):
    found, why = chosen(y)
    assert found == protocol
    assert reason in why


@pytest.mark.parametrize(("n_rows", "n_queries"), [(20_000, 1000), (30, 6)])
def test_rows_without_y(n_rows, n_queries):
    reason = f"there are {n_rows:,} rows without classes"
    assert chosen(None, n_rows) == (RandomRetrievalSplit(n_queries), reason)


@given(st.data())
def test_the_rows_suffice_for_what_is_chosen(data):
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
    n_rows, n_classes = data.draw(st.integers(2, 3000)), data.draw(st.integers(1, 8))
    form = data.draw(st.sampled_from(["none", "classes", "even", "paths", "labels"]))
    if form == "none":
        y = None
    elif form == "even":
        y = np.arange(n_rows) % n_classes
    elif form == "classes":
        y = rng.choice(n_classes, n_rows, p=rng.dirichlet(np.ones(n_classes)))
    elif form == "paths":
        y = np.column_stack([np.full(n_rows, 7), rng.integers(2, 2 + n_classes, n_rows)])
    else:
        y = rng.random((n_rows, n_classes)) < rng.random(n_classes)
    X = np.empty((n_rows, 1))
    protocol, _ = choose_retrieval_split(X, y)
    for seed in range(2):
        protocol.random_state = seed
        [split] = protocol.split(X, y)
        assert set(split.train) <= set(split.database)
        assert len(split.query) + len(split.database) == n_rows


def test_one_class_is_not_the_smallest():
    _, reason = choose_retrieval_split(np.zeros((50, 2)), np.zeros(50, dtype=int))
    assert reason == "the only class, class 0, has 50 rows"
