"""Rows that are not in memory: what every hasher learns, and how many rows it holds at once."""

import re
import weakref
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone

from sklearn_hashrank import (
    CMHHasher,
    ITQHasher,
    LSHHasher,
    PCAHasher,
    RSHHasher,
    SignHasher,
    SSHHasher,
    TALRLinear,
    WTAHasher,
)
from sklearn_hashrank import base as _base
from sklearn_hashrank._features import block_rows as _block_rows
from sklearn_hashrank._features import out_of_memory as _many_rows
from sklearn_hashrank._features.out_of_memory import ManyRows, StoredRows
from sklearn_hashrank.hashers import pca as _pca
from tests.instances import ENCODERS

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")

N, N_FEATURES, N_CHUNK, MOST_ROWS = 600, 6, 50, 200
RNG = np.random.default_rng(0)
X = (RNG.normal(size=(N, N_FEATURES)) + np.arange(N_FEATURES)).astype(np.float32)
Y = RNG.integers(0, 3, N)
SCALING = Path(__file__).parents[2] / "docs" / "how_to" / "scaling.rst"


def small(hasher):
    """A copy, whose anchors do not make a row more numbers than its features."""
    hasher = clone(hasher)
    if "n_anchors" in hasher.get_params():
        hasher.set_params(n_anchors=N_FEATURES)
    return hasher


@pytest.fixture
def little_memory(monkeypatch):
    """Memory that fewer rows fit into than there are."""
    monkeypatch.setattr(_many_rows, "MOST_NUMBERS", MOST_ROWS * N_FEATURES)
    monkeypatch.setattr(_block_rows, "_BLOCK_BYTES", MOST_ROWS * N_FEATURES * 8)
    with dask.config.set(scheduler="synchronous"):
        yield


class Counted(np.ndarray):
    """Rows of a chunk, which can be told apart from what is made of them."""


class ChunksInMemory:
    """A dask array, and the most rows of it that were in memory at a time."""

    def __init__(self, rows, n_chunk):
        self.now = self.most = 0
        self._rows = rows
        chunks = ((n_chunk,) * (len(rows) // n_chunk), rows.shape[1:])
        self.array = da.map_blocks(self._read, chunks=chunks, dtype=rows.dtype, meta=rows[:0])

    def _read(self, block_info=None):
        (start, stop), _ = block_info[None]["array-location"]
        chunk = self._rows[start:stop].copy().view(Counted)
        self._count(len(chunk))
        weakref.finalize(chunk, self._count, -len(chunk))
        return chunk

    def _count(self, n):
        self.now += n
        self.most = max(self.most, self.now)


class RowsOfAFile(StoredRows):
    """Rows that say how many of them are read at a time."""

    def __init__(self, rows):
        self.rows, self.shape, self.dtype, self.most = rows, rows.shape, rows.dtype, 0

    def read(self, start, stop):
        self.most = max(self.most, stop - start)
        return self.rows[start:stop].copy()


def memmap_of(rows, path):
    np.save(path, rows)
    return np.load(path, mmap_mode="r")


@pytest.mark.parametrize("hasher", ENCODERS, ids=lambda each: str(each)[:40])
def test_every_hasher_holds_few_rows(little_memory, hasher):
    chunks, file = ChunksInMemory(X, N_CHUNK), RowsOfAFile(X)
    learned = small(hasher).fit(chunks.array, Y)
    assert 0 < chunks.most <= N_CHUNK
    again = small(hasher).fit(file, Y)
    assert 0 < file.most <= MOST_ROWS
    for found in (learned, again):
        assert not {"codes_", "y_", "_many_rows"} & set(vars(found))
    # Rows are sampled by their numbers, so that it does not matter where they come from.
    np.testing.assert_allclose(
        learned.decision_function(X), again.decision_function(X), rtol=1e-3, atol=1e-4
    )


@pytest.mark.parametrize("hasher", ENCODERS, ids=lambda each: str(each)[:40])
def test_rows_that_fit_are_learned_from_as_arrays_are(hasher):
    expected = small(hasher).fit(X, Y)
    with dask.config.set(scheduler="synchronous"):
        found = small(hasher).fit(da.from_array(X, chunks=(150, 4)), da.from_array(Y, chunks=70))
    tolerance = 1e-5 if isinstance(hasher, RSHHasher) else 0  # which adds up blocks
    np.testing.assert_allclose(
        found.decision_function(X), expected.decision_function(X), atol=tolerance
    )


@pytest.mark.parametrize("hasher", [SignHasher(), LSHHasher(9), PCAHasher(4), CMHHasher(9)])
def test_sums_are_those_of_all_rows(little_memory, hasher, tmp_path):
    if "random_state" in hasher.get_params():
        hasher.set_params(random_state=0)
    expected = clone(hasher).fit(X)
    for n_chunk in (20, 50, 200):
        rows = ChunksInMemory(X, n_chunk).array
        found = clone(hasher).fit(rows)
        np.testing.assert_allclose(found.components_, expected.components_, atol=1e-5)
        np.testing.assert_allclose(found.intercept_, expected.intercept_, atol=1e-5)
    found = clone(hasher).fit(memmap_of(X, tmp_path / "rows.npy"))
    np.testing.assert_allclose(found.intercept_, expected.intercept_, atol=1e-5)


@pytest.mark.parametrize(
    ("hasher", "is_sampled"),
    [
        (SignHasher(), False),
        (SignHasher(center=False), False),
        (SignHasher(center="median"), True),
        (LSHHasher(9), False),
        (CMHHasher(9), False),
        (WTAHasher(9), False),
        (PCAHasher(4), False),
        (ITQHasher(4), True),
        (TALRLinear(4, max_iter=1), True),
    ],
    ids=repr,
)
def test_only_what_learns_from_a_sample_takes_one(little_memory, hasher, is_sampled, monkeypatch):
    sampled = []
    sample = ManyRows.sample
    monkeypatch.setattr(ManyRows, "sample", lambda *args: sampled.append(1) or sample(*args))
    file = RowsOfAFile(X)
    hasher.fit(file, Y)
    assert bool(sampled) == is_sampled
    said = hasher._said_to_learn_from(file)
    assert ("sample" in said) == is_sampled


def test_directions_of_many_features_are_those_of_a_sample(little_memory, monkeypatch):
    monkeypatch.setattr(_pca, "EXACT_FEATURES", 3)
    monkeypatch.setattr(_base, "EXACT_FEATURES", 3)
    hasher, file = PCAHasher(2), RowsOfAFile(X)
    assert hasher._said_to_learn_from(file).startswith("a sample of ")
    hasher.fit(file)
    assert hasher.components_.shape == (2, X.shape[1])


def test_a_memmap_keeps_its_codes(little_memory, tmp_path):
    rows = memmap_of(X, tmp_path / "rows.npy")
    for hasher in (ITQHasher(4, random_state=0), RSHHasher(4, random_state=0)):
        hasher.fit(rows, Y)
        np.testing.assert_array_equal(hasher.codes_, hasher.packed_codes(X))
        np.testing.assert_array_equal(hasher.y_, Y)
    some = np.where(np.arange(N) < 400, Y, -1)
    labeled = SSHHasher(4, random_state=0).fit(rows, some)
    np.testing.assert_array_equal(labeled.codes_, labeled.packed_codes(X[:400]))
    np.testing.assert_array_equal(labeled.y_, Y[:400])


def test_a_file_of_few_rows_is_read_whole(tmp_path):
    expected = ITQHasher(4, random_state=0).fit(X)
    found = ITQHasher(4, random_state=0).fit(RowsOfAFile(X))
    np.testing.assert_array_equal(found.components_, expected.components_)
    np.testing.assert_array_equal(np.asarray(RowsOfAFile(X)), X)


def test_rows_without_y(little_memory):
    rows = ChunksInMemory(X, N_CHUNK).array
    for hasher in (TALRLinear(4, max_iter=2, random_state=0), RSHHasher(4, random_state=0)):
        hasher.fit(rows)
        with pytest.raises(ValueError, match=r"takes rows in memory.*X\[:2000\]\.compute"):
            hasher.score(rows)
        assert hasher.predict(rows).compute().mean(axis=0) == pytest.approx(0.5, abs=0.4)


def test_what_cannot_be_learned_from_is_refused():
    rows = da.from_array(X, chunks=(100, -1))
    unknown = rows[rows[:, 0] > 0]
    for wanted, error, call in (
        ("compute_chunk_sizes", ValueError, lambda: ITQHasher(4).fit(unknown)),
        ("compute_chunk_sizes", ValueError, lambda: ITQHasher(4).fit(rows, unknown[:, 0])),
        (
            "one row per row of the dask array, 600",
            ValueError,
            lambda: PCAHasher(4).fit(rows, Y[1:]),
        ),
        ("one row per row of X, 600", ValueError, lambda: PCAHasher(4).fit(RowsOfAFile(X), Y[1:])),
        (r"X\.blocks\[i\]\.compute", ValueError, lambda: TALRLinear(4).partial_fit(rows, Y)),
        ("X contains NaN", ValueError, lambda: ITQHasher(4).fit(da.where(rows > 7, np.nan, rows))),
        (r"to_dask_array\(lengths=True\)", TypeError, lambda: ITQHasher(4).fit(LazyTable())),
    ):
        with pytest.raises(error, match=wanted):
            call()


@pytest.mark.parametrize(
    "hasher", {each._learned_from_many(X.shape): each for each in ENCODERS}.values(), ids=repr
)
def test_rows_that_are_not_numbers_are_refused_wherever_they_are(little_memory, hasher, tmp_path):
    """Also those that are not sampled: nobody looks at them while a hasher learns."""
    looks = small(hasher)._learned_from_many(X.shape) != "nothing"
    for number, bad, message in (
        (0, np.inf, "infinity"),
        (N // 2, np.nan, "NaN"),
        (N - 1, np.nan, "NaN"),
    ):
        broken = X.copy()
        broken[number, 1] = bad
        given = [broken, memmap_of(broken, tmp_path / "rows.npy")]
        given += [RowsOfAFile(broken), ChunksInMemory(broken, N_CHUNK).array] if looks else []
        for rows in given:
            with pytest.raises(ValueError, match=f"Input X contains {message}"):
                small(hasher).fit(rows, Y)


def test_rows_are_looked_at_before_anything_is_learned(little_memory, tmp_path):
    broken = X.copy()
    broken[N - 1, 1] = np.nan
    hasher = TALRLinear(4)
    with pytest.raises(ValueError, match="TALRLinear does not accept missing values"):
        hasher.fit(memmap_of(broken, tmp_path / "rows.npy"), Y)
    assert not hasattr(hasher, "components_")


def test_a_sample_is_the_rows_of_its_numbers():
    """All rows are looked at on the way."""
    chunks = ChunksInMemory(X, N_CHUNK).array
    in_chunks_of_csr = chunks.map_blocks(sparse.csr_matrix, meta=sparse.csr_matrix(X[:0]))
    samples, seen = [], []
    with dask.config.set(scheduler="synchronous"):
        for rows in (X, RowsOfAFile(X), chunks, in_chunks_of_csr):
            found, y = ManyRows(rows, Y).sample(70, 3, seen.append)
            assert sum(block.shape[0] for block in seen) == N
            seen.clear()
            samples.append(found.toarray() if sparse.issparse(found) else found)
    numbers = np.flatnonzero(np.isin(X[:, 0], samples[0][:, 0]))
    assert len(numbers) == 70
    for found in samples:
        np.testing.assert_array_equal(found, X[numbers])
    np.testing.assert_array_equal(y, Y[numbers])


class LazyTable:
    """What a table of dask looks like, which needs pandas."""

    __module__ = "dask.dataframe"

    def to_dask_array(self):
        raise AssertionError("it must not be computed")


def test_the_page_says_what_each_hasher_learns_from():
    words = {
        "learn from sums over all rows. ": "sums",
        "learn from sums over all rows, and from a sample": "sums and a sample",
        "learns nothing from rows": "nothing",
    }
    said = {}
    for names, text in re.findall(r"^(:class:.*)\n    (.*)", SCALING.read_text(), re.MULTILINE):
        [kind] = [kind for phrase, kind in words.items() if phrase in text] or [None]
        said |= dict.fromkeys(re.findall(r"\.(\w+)`", names), kind)
    for each in ENCODERS:
        assert said.get(type(each).__name__, "a sample") == each._learns_from_many


def test_scores_of_labels_in_chunks_are_those_of_labels_in_memory():
    hasher = LSHHasher(8, random_state=0).fit(X)
    y = da.from_array(Y, chunks=70)
    wanted = hasher.score(X, Y)
    assert hasher.score(X, y) == wanted
    assert hasher.score(da.from_array(X, chunks=(N_CHUNK, -1)), y) == wanted
