"""One source of rows: the same blocks, maps and sums from every origin, each row read once."""

import itertools
from operator import add

import numpy as np
import pytest
from scipy import sparse

from sklearn_hashrank import LSHHasher, RSHHasher, retrieval_histogram
from sklearn_hashrank._features import block_rows
from sklearn_hashrank._features.block_rows import in_memory, source

RNG = np.random.default_rng(0)
X, Y = RNG.integers(0, 2, (60, 8), dtype=np.uint8), RNG.integers(0, 3, 60)
CUTS = (0, 7, 20, 21, 60)


def as_dask(array, chunks=None):
    da = pytest.importorskip("dask.array")
    return da.from_array(array, chunks=(chunks or tuple(np.diff(CUTS)), *array.shape[1:]))


def as_memmap(folder):
    np.save(folder / "rows.npy", X)
    return np.load(folder / "rows.npy", mmap_mode="r")


def pairs():
    return ((X[i:j], Y[i:j]) for i, j in itertools.pairwise(CUTS))


SOURCES = {
    "array": lambda folder: source(X, Y),
    "array in blocks": lambda folder: source(X, Y, batch_size=13),
    "list": lambda folder: source(X.tolist(), Y.tolist(), batch_size=13),
    "memmap": lambda folder: source(as_memmap(folder), Y, batch_size=13),
    "sparse": lambda folder: source(sparse.coo_array(X), Y, batch_size=13),
    "iterator": lambda folder: source(pairs()),
    "iterator, gathered": lambda folder: source(pairs(), check=lambda pair: pair),
    "dask": lambda folder: source(as_dask(X), Y),
    "dask, y too": lambda folder: source(as_dask(X), as_dask(Y, 33)),
}
every_source = pytest.mark.parametrize("make", SOURCES.values(), ids=SOURCES)


@pytest.fixture(autouse=True)
def _without_a_cluster():
    dask = pytest.importorskip("dask")
    with dask.config.set(scheduler="synchronous"):
        yield


def dense(rows):
    return rows.toarray() if sparse.issparse(rows) else np.asarray(rows)


class Product:
    """``X.T @ X`` and so on: what adds up, and which rows came first."""

    def __init__(self, rows, y, start):
        rows = dense(rows).astype(int)
        self.value, self.starts = (rows.T @ rows, np.asarray(y) @ rows), [start]

    def __add__(self, other):
        total = Product.__new__(Product)
        total.value = tuple(map(add, self.value, other.value))
        total.starts = self.starts + other.starts
        return total


@every_source
def test_blocks_maps_and_sums_are_those_of_the_whole(make, tmp_path):
    rows, y = zip(*make(tmp_path).blocks())
    np.testing.assert_array_equal(np.vstack([dense(block) for block in rows]), X)
    np.testing.assert_array_equal(np.concatenate(y), Y)
    for n_jobs in (None, 2):
        columns = list(make(tmp_path).map(lambda pair: dense(pair[0])[:, 3], n_jobs))
        np.testing.assert_array_equal(np.concatenate(columns), X[:, 3])
    product = make(tmp_path).sum(Product)
    whole = Product(X, Y, 0)
    for found, expected in zip(product.value, whole.value):
        np.testing.assert_array_equal(found, expected)
    assert product.starts == sorted(product.starts)
    assert product.starts[0] == 0
    known = make(tmp_path)
    np.testing.assert_array_equal(known.first_y(), Y[: len(known.first_y())])
    assert known.n_rows in (None, len(X))
    np.testing.assert_array_equal(np.concatenate([y for _, y in known.blocks()]), Y)


def test_what_is_in_one_block():
    assert source(X, Y).in_one_block
    assert source(X, Y, batch_size=60).in_one_block
    assert not source(X, Y, batch_size=59).in_one_block
    assert not source(pairs()).in_one_block
    assert not source(as_dask(X), Y).in_one_block


def test_rows_alone_are_no_pairs():
    for rows in (source(X, batch_size=13), source(iter([X])), source(as_dask(X))):
        assert not rows.are_pairs
        np.testing.assert_array_equal(np.vstack(list(rows.blocks())), X)
    assert source(as_dask(X)).sum(lambda rows, y, start: len(rows) if y is None else 0) == 60


def test_an_iterator_is_read_no_further_than_its_first_block():
    read = []

    def blocks():
        for block in pairs():
            read.append(len(block[0]))
            yield block

    rows = source(blocks(), check=lambda pair: pair)
    np.testing.assert_array_equal(rows.first_y(), Y[:7])
    assert read == [7]
    assert len(rows.first_y()) == 7
    assert sum(len(block) for block, _ in rows.blocks()) == 60


def test_small_blocks_wait_for_each_other(monkeypatch):
    monkeypatch.setattr(block_rows, "_MOST_GATHERED_ROWS", 60)
    blocks = source(pairs(), check=lambda pair: pair).blocks()
    assert [len(rows) for rows, _ in blocks] == [7, 14, 39]


def counting(array, chunks=None):
    """The same array, and how often each of its chunks is computed."""
    computed = []

    def note(block, block_info=None):
        if block_info:
            computed.append(block_info[0]["chunk-location"][0])
        return block

    return as_dask(array, chunks).map_blocks(note, dtype=array.dtype, meta=array[:0]), computed


@pytest.mark.parametrize("chunks", [None, 33, (60,), (1, 59), (50, 10)])
def test_every_chunk_of_y_is_computed_once(chunks):
    """Although the first is needed for the affinity before the counting begins."""
    y, computed = counting(Y, chunks)
    codes, of_codes = counting(X)
    expected = retrieval_histogram(X[:5], X, Y[:5], Y)
    found = retrieval_histogram(X[:5], codes, Y[:5], y)
    np.testing.assert_array_equal(found.counts, expected.counts)
    assert sorted(computed) == list(range(y.numblocks[0]))
    assert sorted(of_codes) == [0, 1, 2, 3]


def test_every_chunk_of_y_is_computed_once_where_sizes_are_unknown():
    da = pytest.importorskip("dask.array")
    y, computed = counting(Y)
    unknown = [
        da.Array(
            array.dask,
            array.name,
            ((np.nan,) * 4, *array.chunks[1:]),
            array.dtype,
            meta=array._meta,
        )
        for array in (as_dask(X), y)
    ]
    expected = retrieval_histogram(X[:5], X, Y[:5], Y)
    found = retrieval_histogram(X[:5], unknown[0], Y[:5], unknown[1])
    np.testing.assert_array_equal(found.counts, expected.counts)
    assert sorted(computed) == [0, 1, 2, 3]


def test_learning_computes_every_chunk_once():
    rows, of_rows = counting(X.astype(float))
    y, of_y = counting(Y)
    RSHHasher(4, random_state=0).fit(rows, y)
    assert sorted(of_rows) == sorted(of_y) == [0, 1, 2, 3]


def test_encoding_computes_every_chunk_once_and_few_at_a_time(tmp_path):
    hasher = LSHHasher(12, output="packed", random_state=0).fit(X.astype(float))
    rows, computed = counting(X.astype(float))
    codes = hasher.encode_blocks(rows, out=tmp_path / "codes.npy", verbose=0)
    np.testing.assert_array_equal(codes, hasher.transform(X.astype(float)))
    assert sorted(computed) == [0, 1, 2, 3]
    computed.clear()
    results = source(rows).map(np.sum)
    next(results)
    assert computed == [0]


def test_an_affinity_of_the_first_chunk_with_rows():
    """Chunks without rows come first."""
    codes, y = as_dask(X), as_dask(Y)
    kept = as_dask(np.arange(60) >= 20)
    expected = retrieval_histogram(X[:5], X[20:], Y[:5], Y[20:])
    for sizes_known in (False, True):
        parts = codes[kept], y[kept]
        if sizes_known:
            parts = [part.compute_chunk_sizes() for part in parts]
        found = retrieval_histogram(X[:5], parts[0], Y[:5], parts[1])
        np.testing.assert_array_equal(found.counts, expected.counts)
    nothing = as_dask(np.zeros(60, dtype=bool))
    with pytest.raises(ValueError, match="the dask array is empty; at least one row is needed"):
        retrieval_histogram(X[:5], codes[nothing], Y[:5], y[nothing])


@pytest.mark.parametrize("exclude_self", [False, True])
def test_counts_of_every_origin_are_equal(tmp_path, exclude_self):
    """Also the codes that are kept for the measures of code usage."""
    origins = {
        "array": (X, Y),
        "memmap": (as_memmap(tmp_path), Y),
        "iterator": (pairs(), None),
        "encoded": (((X[i : i + 1], Y[i : i + 1]) for i in range(60)), None),
    }
    if not exclude_self:
        origins |= {"dask": (as_dask(X), Y), "dask, y too": (as_dask(X), as_dask(Y, 33))}
    options = {"exclude_self": exclude_self, "keep_codes": True}
    queries, query_y = (X, Y) if exclude_self else (X[:9], Y[:9])
    expected = retrieval_histogram(queries, X, query_y, Y, **options)
    for codes, y in origins.values():
        found = retrieval_histogram(queries, codes, query_y, y, n_jobs=2, **options)
        np.testing.assert_array_equal(found.counts, expected.counts)
        np.testing.assert_array_equal(
            found.local_group_average_precision(), expected.local_group_average_precision()
        )
        assert found.code_usage().n_items == expected.code_usage().n_items


def test_what_comes_back_from_a_task_is_the_counts_alone():
    """Neither queries nor their y travel with every chunk."""
    import pickle

    from sklearn_hashrank._kernels import hamming
    from sklearn_hashrank.affinity._labels import LabelAffinity
    from sklearn_hashrank.codes._formats import CodeReader
    from sklearn_hashrank.metrics._counting import BlockCounter, Queries

    assert hamming
    reader = CodeReader()
    words = reader.words(np.tile(X, (200, 1)), "query codes")
    affinity = LabelAffinity().fit(Y)
    queries = Queries(words, affinity.validate(np.tile(Y, 200)), affinity, 8, None)
    count = pickle.loads(pickle.dumps(BlockCounter(queries, reader, False, False, 1)))(X, Y, 0)
    assert len(pickle.dumps(count)) < count.counts.nbytes + 2000
    both = count + count
    np.testing.assert_array_equal(both.counts, 2 * count.counts)
    assert both.counts is not count.counts


def test_only_dask_arrays_are_computed():
    assert in_memory(X) is X
    np.testing.assert_array_equal(in_memory(as_dask(X)), X)
