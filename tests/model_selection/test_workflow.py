"""Every hasher in pipelines and searches: outputs, parameters, persistence."""

import functools
import io
import pickle

import joblib
import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.datasets import make_blobs
from sklearn.decomposition import PCA
from sklearn.metrics import make_scorer
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline

from sklearn_hashrank import AGHHasher, EuclideanAffinity, LSHHasher, TALRLinear
from sklearn_hashrank.metrics import (
    make_retrieval_scorer,
    tie_aware_average_precision_score,
    tie_aware_ndcg_score,
)
from sklearn_hashrank.model_selection import RetrievalKFold
from tests.instances import ENCODERS

X, Y = make_blobs(n_samples=80, n_features=6, centers=4, cluster_std=4.0, random_state=0)
FOLDS = RetrievalKFold(2, random_state=0)
GRADED = EuclideanAffinity(percentiles=(40, 10), levels=(1, 2))


def pipeline(hasher):
    return Pipeline([("pca", PCA(4)), ("hasher", clone(hasher).set_params(n_bits=3))])


def search(hasher):
    scoring = make_retrieval_scorer("ap", database="fit")
    return GridSearchCV(pipeline(hasher), {"hasher__n_bits": [2, 3]}, scoring=scoring, cv=FOLDS)


def search_of_a_hasher(hasher):
    scoring = make_retrieval_scorer(["ap", "ndcg"], database=(X, Y))
    grid = {"n_bits": [2, 3]}
    return GridSearchCV(clone(hasher), grid, scoring=scoring, refit="ap", cv=FOLDS)


@functools.cache
def fitted(make, hasher):
    return make(hasher).fit(X, Y)


every_hasher = pytest.mark.parametrize("hasher", ENCODERS, ids=lambda hasher: type(hasher).__name__)
# What searches add to a pipeline is the same for all; every one is searched in `test_frames_go_in`.
SEARCHED = [h for h in ENCODERS if isinstance(h, (AGHHasher, LSHHasher, TALRLinear))]


def of_every_hasher(*cases):
    """The first case for every hasher, the others for some."""
    named = [(hasher, *cases[0]) for hasher in ENCODERS]
    named += [(hasher, *case) for case in cases[1:] for hasher in SEARCHED]
    return [
        pytest.param(*each, id=f"{type(each[0]).__name__}-{each[1].__name__}") for each in named
    ]


def pickled(model):
    return pickle.loads(pickle.dumps(model))


def dumped(model):
    file = io.BytesIO()
    joblib.dump(model, file)
    return joblib.load(file)


def stored_by_skops(model):
    skops = pytest.importorskip("skops.io")
    data = skops.dumps(model)
    own = skops.get_untrusted_types(data=data)
    assert own
    assert all(name.startswith("sklearn_hashrank.") for name in own)
    return skops.loads(data, trusted=own)


@pytest.mark.parametrize(
    ("hasher", "make", "stores"),
    of_every_hasher(
        (pipeline, [pickled, stored_by_skops]),
        (search, [dumped]),
        (search_of_a_hasher, [pickled]),
    ),
)
def test_a_loaded_model_gives_identical_codes(hasher, make, stores):
    model = fitted(make, hasher)
    for store in stores:
        if store is stored_by_skops and type(hasher).__name__ == "DeepHasher":
            continue  # skops stores no tensors
        loaded = store(model)
        np.testing.assert_array_equal(loaded.predict(X), model.predict(X))
        np.testing.assert_array_equal(loaded.transform(X), model.transform(X))
        np.testing.assert_array_equal(loaded.decision_function(X), model.decision_function(X))
        for database in ("self", "fit"):
            scorer = make_retrieval_scorer("ndcg", database=database)
            assert scorer(loaded, X, Y) == scorer(model, X, Y)


@pytest.mark.parametrize(
    ("hasher", "make", "container", "frame"),
    of_every_hasher(
        (pipeline, "pandas", pd.DataFrame),
        (search, "polars", pl.DataFrame),
        (search_of_a_hasher, "pandas", pd.DataFrame),
    ),
)
def test_clones_fit_the_same_codes_and_give_frames(hasher, make, container, frame):
    model = clone(fitted(make, hasher))
    getattr(model, "estimator", model).set_output(transform=container)
    codes = clone(model).fit(X, Y).transform(X)
    assert isinstance(codes, frame)
    prefix = type(hasher).__name__.lower()
    n_bits = codes.shape[1]
    assert list(codes.columns) == [f"{prefix}{bit}" for bit in range(n_bits)]
    np.testing.assert_array_equal(codes.to_numpy(), fitted(make, hasher).transform(X))


@every_hasher
def test_frames_go_in(hasher):
    frame, labels = pd.DataFrame(X, columns=list("abcdef")), pd.Series(Y, index=range(7, 87))
    model = search(hasher).fit(frame, labels)
    np.testing.assert_array_equal(model.best_estimator_.feature_names_in_, frame.columns)
    scorer = make_retrieval_scorer("ap")
    expected = tie_aware_average_precision_score(Y, model.predict(frame))
    assert scorer(model, frame, labels) == expected


@every_hasher
def test_parameters_of_the_affinity_are_searched(hasher):
    if "affinity" not in hasher.get_params():
        pytest.skip("learns without an affinity")
    model = pipeline(hasher).set_params(hasher__affinity=GRADED)
    assert model.get_params()["hasher__affinity__percentiles"] == (40, 10)
    assert model.set_params(hasher__affinity__max_samples=50)[-1].affinity.max_samples == 50
    grid = {"hasher__affinity__percentiles": [(40, 10), (60, 30)]}
    scoring = make_scorer(tie_aware_ndcg_score, affinity=GRADED, zero_division=0.0)
    found = GridSearchCV(model, grid, scoring=scoring, cv=FOLDS).fit(X, X)
    percentiles = [
        params["hasher__affinity__percentiles"] for params in found.cv_results_["params"]
    ]
    assert percentiles == grid["hasher__affinity__percentiles"]
    assert (
        found.best_estimator_[-1].affinity_.percentiles
        == found.best_params_["hasher__affinity__percentiles"]
    )
    assert GRADED.percentiles == (40, 10)
