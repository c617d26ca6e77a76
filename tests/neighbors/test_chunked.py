"""HammingNeighbors over dask arrays of codes: the neighbors of one machine.

``tests/_features/test_dask.py`` kills a worker during a search.
"""

import pickle

import numpy as np
import pytest

from sklearn_hashrank import HammingNeighbors
from sklearn_hashrank.codes import pack_codes, unpack_codes

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")

N_BITS, CHUNKS = 12, (70, 1, 100, 29)
RNG = np.random.default_rng(0)
BITS = RNG.integers(0, 2, (200, N_BITS), dtype=np.uint8)
BITS[100:] = BITS[RNG.integers(0, 100, 100)]  # ties across chunks
QUERIES = RNG.integers(0, 2, (15, N_BITS), dtype=np.uint8)


@pytest.fixture(autouse=True)
def threads():
    with dask.config.set(scheduler="threads"):
        yield


def chunked(codes, chunks=CHUNKS):
    return da.from_array(codes, chunks=(chunks, codes.shape[1]))


def check_lists(found, expected):
    for ours, theirs in zip(found, expected, strict=True):
        assert [row.tolist() for row in ours] == [row.tolist() for row in theirs]


@pytest.mark.parametrize("output", ["bits", "signs", "packed"])
@pytest.mark.parametrize("chunks", [CHUNKS, (200,), (50,) * 4, (0, 150, 0, 50)])
def test_neighbors_are_those_in_memory(output, chunks):
    codes, queries = (
        unpack_codes(np.packbits(bits, axis=1), N_BITS, output) for bits in (BITS, QUERIES)
    )
    memory = HammingNeighbors(7, n_bits=N_BITS).fit(codes)
    index = HammingNeighbors(7, n_bits=N_BITS).fit(chunked(codes, chunks))
    assert (index.n_samples_fit_, index.n_bits_) == (200, N_BITS)
    for k in (1, 7, 90, 200):
        np.testing.assert_array_equal(index.kneighbors(queries, k), memory.kneighbors(queries, k))
    for radius in (0, 2, 5, N_BITS):
        for is_sorted in (False, True):
            check_lists(
                index.radius_neighbors(queries, radius, sort_results=is_sorted),
                memory.radius_neighbors(queries, radius, sort_results=is_sorted),
            )
    for method in ("kneighbors_graph", "radius_neighbors_graph"):
        ours, theirs = getattr(index, method)(queries), getattr(memory, method)(queries)
        assert (ours != theirs).nnz == 0
        np.testing.assert_array_equal(ours.indices, theirs.indices)


def test_chunks_of_columns_are_put_together():
    index = HammingNeighbors(3).fit(da.from_array(BITS, chunks=(60, 5)))
    expected = HammingNeighbors(3).fit(BITS).kneighbors(QUERIES)
    np.testing.assert_array_equal(index.kneighbors(QUERIES), expected)


def test_rescoring_is_that_in_memory():
    projections = RNG.normal(size=(15, N_BITS))
    options = {"n_neighbors": 4, "distance": "asymmetric", "n_candidates": 30}
    found, expected = (
        HammingNeighbors(**options).fit(codes).kneighbors(projections)
        for codes in (chunked(BITS), BITS)
    )
    np.testing.assert_array_equal(found[1], expected[1])
    np.testing.assert_allclose(found[0], expected[0])


def test_codes_come_into_memory_where_all_are_needed(tmp_path):
    index, memory = HammingNeighbors(3).fit(chunked(BITS)), HammingNeighbors(3).fit(BITS)
    np.testing.assert_array_equal(index.codes_, pack_codes(BITS))
    np.testing.assert_array_equal(index.kneighbors(), memory.kneighbors())
    index.save(tmp_path / "index")
    np.testing.assert_array_equal(
        HammingNeighbors.load(tmp_path / "index").kneighbors(QUERIES), memory.kneighbors(QUERIES)
    )
    copied = pickle.loads(pickle.dumps(index))
    np.testing.assert_array_equal(copied.kneighbors(QUERIES), memory.kneighbors(QUERIES))


def test_chunks_are_read_when_they_are_searched():
    read = []

    def note(block, block_info=None):
        read.append(block_info[0]["chunk-location"][0])
        return block

    codes = chunked(BITS).map_blocks(note, dtype=np.uint8, meta=BITS[:0])
    index = HammingNeighbors(3).fit(codes)
    assert not read
    index.kneighbors(QUERIES)
    assert sorted(read) == [0, 1, 2, 3]


@pytest.mark.parametrize(
    ("codes", "n_bits", "message"),
    [
        (da.from_array(BITS)[da.from_array(BITS)[:, 0] > 0], None, "unknown sizes"),
        (chunked(BITS), 11, "12 columns; codes of n_bits=11 have 11 columns"),
        (chunked(BITS.astype(np.int64)), 96, "packed codes are uint8. Got int64"),
    ],
)
def test_what_cannot_be_searched_is_refused_by_fit(codes, n_bits, message):
    with pytest.raises(ValueError, match=message):
        HammingNeighbors(n_bits=n_bits).fit(codes)


@pytest.mark.parametrize("output", ["bits", "packed"])
def test_queries_of_another_width_are_refused(output):
    codes = unpack_codes(np.packbits(BITS, axis=1), N_BITS, output)
    index = HammingNeighbors(3, n_bits=None if output == "bits" else N_BITS).fit(chunked(codes))
    for search in (index.kneighbors, index.radius_neighbors):
        for n_bits in (1, 5, 13):
            with pytest.raises(ValueError, match=f"query codes have {n_bits} columns; codes of"):
                search(QUERIES[:, :1].repeat(n_bits, axis=1))


def test_values_are_judged_over_all_chunks():
    mixed = BITS.astype(np.int8)
    mixed[150:] = 2 * mixed[150:] - 1
    index = HammingNeighbors(3).fit(chunked(mixed, (150, 50)))
    with pytest.raises(ValueError, match=r"all lie in \{0, 1\} or all in \{-1, \+1\}"):
        index.kneighbors(QUERIES)
    with pytest.raises(ValueError, match=r"all lie in \{0, 1\} or all in \{-1, \+1\}"):
        index.radius_neighbors(QUERIES)


def test_nothing_is_appended_to_a_dask_array():
    for first, second in [(chunked(BITS), BITS), (BITS, chunked(BITS))]:
        index = HammingNeighbors(3).fit(first)
        with pytest.raises(ValueError, match="pass the concatenation of all codes to fit"):
            index.partial_fit(second)
