"""Hashers to export, and what an exported form has to give."""

from functools import cache

import numpy as np
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.decomposition import PCA, IncrementalPCA, TruncatedSVD
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    MaxAbsScaler,
    MinMaxScaler,
    Normalizer,
    RobustScaler,
    StandardScaler,
    normalize,
)

from sklearn_hashrank import (
    ITQHasher,
    LSHHasher,
    LWHHasher,
    PCAHasher,
    RSHHasher,
    SignHasher,
    TALRLinear,
)
from sklearn_hashrank.codes._formats import write_codes
from sklearn_hashrank.interop._folding import fold
from sklearn_hashrank.metrics._retrieval import unwrap

DATA = {"digits": load_digits, "breast cancer": load_breast_cancer}
ESTIMATORS = {
    "LSH": LSHHasher(70, random_state=0),
    "ITQ": ITQHasher(13, random_state=0),
    "sign": SignHasher(9),
    "RSH": RSHHasher(12, random_state=0),
    "LWH after scaling": make_pipeline(StandardScaler(), LWHHasher(8, tol=0.5, random_state=0)),
    "TALR after a whitening PCA": make_pipeline(
        RobustScaler(),
        make_pipeline("passthrough", PCA(16, whiten=True, random_state=0)),
        TALRLinear(16, max_iter=2, random_state=0),
    ),
    "PCA after everything": make_pipeline(
        MinMaxScaler(),
        IncrementalPCA(12),
        MaxAbsScaler(),
        TruncatedSVD(8, random_state=0),
        PCAHasher(8),
        "passthrough",
    ),
    "TALR of unit rows": make_pipeline(
        Normalizer(), TALRLinear(16, prefixes=(8, 16), max_iter=2, random_state=0)
    ),
    "ITQ of unit rows of a whitening PCA": make_pipeline(
        StandardScaler(), PCA(12, whiten=True, random_state=0), Normalizer(), ITQHasher(9)
    ),
    "normalized twice": make_pipeline(
        Normalizer(), StandardScaler(), Normalizer(), TruncatedSVD(10, random_state=0), PCAHasher(9)
    ),
    "normalized before and after a PCA, twice": make_pipeline(
        Normalizer(), PCA(10, random_state=0), Normalizer(), Normalizer(), LSHHasher(9)
    ),
}
OTHER_NORMS = {
    norm: make_pipeline(MinMaxScaler(), Normalizer(norm), LSHHasher(21, random_state=0))
    for norm in ("l1", "max")
}


@cache
def rows_of(name):
    """Rows and labels of a data set."""
    return DATA[name](return_X_y=True)


@cache
def _fitted(name, data):
    return clone((ESTIMATORS | OTHER_NORMS)[name]).fit(*rows_of(data))


def fitted(name, data, output):
    """An estimator, fitted once to a data set, that gives codes in a format."""
    estimator = _fitted(name, data)
    unwrap(estimator)[1].set_params(output=output)
    return estimator


def near_a_hyperplane(estimator, X):
    """Which rows lie on a hyperplane within 1e-6, relative to the sum that decides the side."""
    components, intercept = fold(estimator).hyperplanes
    for affine, norm in fold(estimator).normalizations:
        rows = X if affine is None else X @ affine.components_.T + affine.intercept_
        X = normalize(rows, norm)
    projections = X @ components.T + intercept
    sizes = np.abs(X) @ np.abs(components).T + np.abs(intercept)
    return (np.abs(projections) < 1e-6 * sizes).any(axis=1)


def encode(folded, X, dtype=np.float64):
    """What any program computes of a folded estimator."""
    X = np.asarray(X, dtype)
    for affine, norm in folded.normalizations:
        if affine is not None:
            X = X @ affine.components_.T.astype(dtype) + affine.intercept_.astype(dtype)
        X = normalize(X, norm)
    components, intercept = (each.astype(dtype) for each in folded.hyperplanes)
    return write_codes(
        np.packbits(X @ components.T + intercept > 0, axis=1), len(intercept), folded.output
    )


def check_codes(codes, expected, is_near):
    """Codes are the expected ones, except in rows near a hyperplane, which are few."""
    assert codes.dtype == expected.dtype
    assert codes.shape == expected.shape
    differ = (codes != expected).any(axis=1)
    print(f"{differ.sum()} rows differ, {is_near.sum()} of {len(codes)} are near a hyperplane")
    assert not (differ & ~is_near).any()
    assert is_near.mean() < 0.01
