"""Exported hashers give the codes of ``transform``. ONNX and others are tested in tests.stores."""

import sys

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.datasets import load_digits
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsTransformer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    MinMaxScaler,
    RobustScaler,
    StandardScaler,
    normalize,
)

from sklearn_hashrank import HammingNeighbors, ITQHasher, LSHHasher, PCAHasher, SignHasher
from sklearn_hashrank.codes import truncate_codes
from sklearn_hashrank.codes._formats import FORMATS
from sklearn_hashrank.interop import to_faiss_index, to_onnx
from sklearn_hashrank.interop._folding import fold
from tests.interop.exported import (
    DATA,
    ESTIMATORS,
    OTHER_NORMS,
    check_codes,
    encode,
    fitted,
    near_a_hyperplane,
    rows_of,
)

X, Y = load_digits(return_X_y=True)


@pytest.mark.parametrize("data", DATA)
@pytest.mark.parametrize("name", ESTIMATORS | OTHER_NORMS)
def test_what_is_folded_and_faiss_give_the_codes_of_transform(name, data):
    faiss = pytest.importorskip("faiss")
    rows, _ = rows_of(data)
    for output in FORMATS:
        estimator = fitted(name, data, output)
        is_near = near_a_hyperplane(estimator, rows)
        expected = estimator.transform(rows)
        assert fold(estimator).n_features == rows.shape[1]
        for dtype in (np.float32, np.float64):
            check_codes(encode(fold(estimator), rows, dtype), expected, is_near)
    if name in OTHER_NORMS:
        with pytest.raises(TypeError, match=rf"faiss index .*'l2'\) only. .*'{name}'"):
            to_faiss_index(estimator)
        return
    index = to_faiss_index(estimator)
    index.add(rows.astype(np.float32))
    codes = faiss.vector_to_array(faiss.downcast_index(index.index).codes)
    codes = np.unpackbits(codes.reshape(len(rows), -1), axis=1, bitorder="little")
    check_codes(np.packbits(1 - codes[:, : index.index.d], axis=1), expected, is_near)


@pytest.mark.parametrize("n_bits", [5, 64])
def test_faiss_takes_floats_and_finds_our_neighbors(n_bits):
    faiss = pytest.importorskip("faiss")
    hasher = LSHHasher(n_bits, random_state=0).fit(X)
    index = to_faiss_index(hasher)
    assert index.is_trained
    assert index.ntotal == 0
    index = faiss.deserialize_index(faiss.serialize_index(index))
    index.add(X.astype(np.float32))
    distances, ids = index.search(X[:50].astype(np.float32), 10)
    ours = HammingNeighbors(10).fit(hasher.transform(X))
    np.testing.assert_array_equal(distances, ours.kneighbors(hasher.transform(X[:50]))[0])
    codes = hasher.transform(X)
    found = (codes[:50, None] != codes[ids]).sum(axis=2)
    np.testing.assert_array_equal(distances, found)


def test_zero_is_bit_0_in_faiss_too():
    """A row on every hyperplane: faiss sets these bits, so that ours are their complements."""
    pytest.importorskip("faiss")
    hasher = LSHHasher(16, random_state=0).fit(X)
    hasher.intercept_[:] = 0
    rows = np.vstack([np.zeros((1, 64)), X[:20]])
    index = to_faiss_index(hasher)
    index.add(rows.astype(np.float32))
    distances, ids = index.search(rows[:1].astype(np.float32), 21)
    codes = hasher.transform(rows)
    assert not codes[0].any()
    np.testing.assert_array_equal(distances[0], codes[ids[0]].sum(axis=1))


def test_a_search_is_exported_as_its_best_pipeline():
    grid = GridSearchCV(
        make_pipeline(StandardScaler(), PCAHasher(8)), {"pcahasher__n_bits": [6]}, cv=2
    )
    grid.fit(X, Y)
    components = fold(grid).hyperplanes.components_
    assert components.shape == (6, 64)
    nested = make_pipeline(StandardScaler(), GridSearchCV(ITQHasher(), {"n_bits": [7]}, cv=2))
    folded = fold(nested.fit(X, Y))
    np.testing.assert_array_equal(encode(folded, X), nested.transform(X))


@pytest.mark.parametrize(
    "scaler",
    [
        StandardScaler(with_mean=False),
        StandardScaler(with_std=False),
        StandardScaler(with_mean=False, with_std=False),
        RobustScaler(with_centering=False),
        RobustScaler(with_scaling=False),
    ],
    ids=repr,
)
def test_what_a_scaler_leaves_out_is_not_exported(scaler):
    pipeline = make_pipeline(scaler, SignHasher(16, center=False)).fit(X + 1)
    components, intercept = fold(pipeline).hyperplanes
    expected = pipeline.decision_function(X)
    np.testing.assert_allclose(X @ components.T + intercept, expected, atol=1e-12)


@pytest.mark.parametrize("n_bits", [1, 8, 11])
def test_truncated_hashers_are_exported(n_bits):
    pipeline = fitted("TALR of unit rows", "digits", "packed")
    shorter = make_pipeline(pipeline[0], pipeline[1].truncate(n_bits))
    expected = truncate_codes(pipeline.transform(X), n_bits)
    np.testing.assert_array_equal(shorter.transform(X), expected)
    check_codes(encode(fold(shorter), X), expected, near_a_hyperplane(shorter, X))


class Shifted(StandardScaler):
    """A scaler that does something else."""


@pytest.mark.parametrize(
    ("estimator", "message"),
    [
        (StandardScaler(), "must be a LinearHasher or have hyperplanes. Got StandardScaler"),
        (HammingNeighbors(), "must be a LinearHasher or have hyperplanes. Got HammingNeighbors"),
        (LSHHasher, "must be a LinearHasher or have hyperplanes. Got LSHHasher"),
        (
            make_pipeline(FunctionTransformer(normalize), LSHHasher()),
            r"must be affine: IncrementalPCA, .*, without clip=True; or Normalizer. Got "
            r"FunctionTransformer. In place of FunctionTransformer\(normalize\), use Normalizer",
        ),
        (
            make_pipeline(ColumnTransformer([("all", StandardScaler(), [0, 1])]), LSHHasher()),
            "or Normalizer. Got ColumnTransformer",
        ),
        (make_pipeline(MinMaxScaler(clip=True), LSHHasher()), "Got MinMaxScaler"),
        (make_pipeline(Shifted(), LSHHasher()), "Got Shifted"),
        (make_pipeline(KNeighborsTransformer(), LSHHasher()), "Got KNeighborsTransformer"),
    ],
)
def test_what_is_not_linear_is_refused(estimator, message):
    if not isinstance(estimator, type):
        estimator = clone(estimator).fit(X[:50] if hasattr(estimator, "steps") else X[:5] > 3)
    with pytest.raises(TypeError, match=message):
        fold(estimator)


def test_other_arithmetic_is_refused():
    pytest.importorskip("onnx")
    with pytest.raises(ValueError, match="Got float16"):
        to_onnx(LSHHasher(4).fit(X), dtype=np.float16)


def test_a_package_that_is_missing_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(ImportError, match=r'onnx is needed.*: pip install "\.\[onnx\]"'):
        to_onnx(LSHHasher(4).fit(X))
