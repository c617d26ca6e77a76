"""An index that changes: while other threads search it, and while callers change what they gave."""

import threading

import numpy as np
import pytest

from sklearn_hashrank import BinaryAutoencoderHasher, HammingNeighbors
from sklearn_hashrank.neighbors import DecodedNeighbors, rescore

RNG = np.random.default_rng(0)


@pytest.mark.parametrize("n_bits", [5, 8, 12, 64, 128, 200])
@pytest.mark.parametrize("begin", ["fit", "partial_fit"])
def test_codes_that_are_added_are_copied(n_bits, begin):
    blocks = RNG.integers(0, 256, (5, 40, -(-n_bits // 8)), dtype=np.uint8)
    blocks[..., -1] &= 255 << -n_bits % 8 & 255
    buffer = blocks[0].copy()
    index = getattr(HammingNeighbors(n_bits=n_bits), begin)(blocks[0] if begin == "fit" else buffer)
    for block in blocks[1:3]:
        buffer[:] = block
        index.add(buffer)
    for block in blocks[3:]:
        buffer[:] = block
        index.partial_fit(buffer)
    buffer[:] = 0
    np.testing.assert_array_equal(index.codes_, np.concatenate(blocks))
    distances, _ = index.kneighbors(blocks[2], 1)
    assert not distances.any()


@pytest.mark.parametrize("n_bits", [12, 64])
def test_codes_of_an_index_are_read_only(n_bits):
    index = HammingNeighbors(n_bits=n_bits).fit(np.zeros((3, -(-n_bits // 8)), np.uint8))
    with pytest.raises(ValueError, match="read-only"):
        index.codes_[0] = 1
    names = HammingNeighbors().fit(np.eye(3), ids=[3, 4, 5])
    names.ids_[0] = 7
    assert names.ids_[0] == 3


def test_decoded_codes_are_copied():
    X = RNG.normal(size=(200, 8))
    hasher = BinaryAutoencoderHasher(16, output="packed", random_state=0).fit(X)
    codes = hasher.transform(X)
    index = DecodedNeighbors(hasher).fit(codes)
    expected = index.kneighbors(X[:5])[1]
    codes[:] = 0
    np.testing.assert_array_equal(index.kneighbors(X[:5])[1], expected)


@pytest.mark.parametrize(
    "options", [{}, {"prefix": 64}, {"algorithm": "multi_index"}], ids=lambda o: str(o)
)
def test_searches_meet_one_state_of_an_index_that_changes(options):
    """Whatever other threads add and remove, a search has as many results as it should."""
    rng = np.random.default_rng(1)
    codes = rng.integers(0, 256, (400, 16), dtype=np.uint8)
    names = np.arange(len(codes)) + 10_000
    index = HammingNeighbors(3, n_bits=128, **options).fit(codes[:100], ids=names[:100])
    errors, is_done = [], threading.Event()

    def search():
        try:
            while not is_done.is_set():
                distances, found = index.kneighbors(codes[:3])
                assert (found >= 10_000).all()
                np.testing.assert_array_equal(distances[:, 0] == 0, found[:, 0] == names[:3])
                index.radius_neighbors(codes[:3], 2)
                graph = index.kneighbors_graph()
                assert graph.nnz == 3 * graph.shape[0] == 3 * graph.shape[1]
        except Exception as error:
            errors.append(error)

    threads = [threading.Thread(target=search) for _ in range(3)]
    for thread in threads:
        thread.start()
    for _ in range(30):
        index.add(codes[100:], ids=names[100:])
        index.remove(names[100:])
    is_done.set()
    for thread in threads:
        thread.join()
    assert not errors, errors[0]


def test_ids_that_are_not_there_can_be_ignored():
    index = HammingNeighbors().fit(np.eye(4), ids=["a", "b", "c", "d"])
    with pytest.raises(ValueError, match="'x'"):
        index.remove(["a", "x"])
    assert index.remove(["a", "x"], missing="ignore").ids_.tolist() == ["b", "c", "d"]
    assert index.remove(["a", "x"], missing="ignore").n_samples_fit_ == 3
    with pytest.raises(ValueError, match="'no'"):
        index.remove(["b"], missing="no")


@pytest.mark.parametrize(
    "names",
    [
        RNG.permutation(50),  # each of them is a row index, too
        RNG.permutation(50) * 10**15 - 7,
        np.array([f"item {i}" for i in range(50)], dtype=object),
        np.array([(i, "x") if i % 2 else i / 3 for i in range(50)] + [None], dtype=object)[:-1],
    ],
    ids=["permutation", "integers", "strings", "objects"],
)
def test_candidates_that_are_ids_are_rescored_by_their_rows(names):
    rows = RNG.normal(size=(50, 6))
    queries = rows[:4] + 0.1
    codes = (rows > 0).astype(np.uint8)
    index = HammingNeighbors(20).fit(codes, ids=names)
    mask = np.arange(50) % 5 != 0
    found = index.kneighbors((queries > 0).astype(np.uint8), 45, return_distance=False, mask=mask)
    numbers = HammingNeighbors(20).fit(codes)
    places = numbers.kneighbors((queries > 0).astype(np.uint8), 45, False, mask=mask)
    assert (places == -1).any()
    distances, expected = rescore(queries, rows, places, 42)
    of_names, given = rescore(queries, rows, found, 42, ids=names)
    np.testing.assert_array_equal(of_names, distances)
    missing = -1 if found.dtype.kind == "i" else None
    assert given.tolist() == [[missing if i == -1 else names[i] for i in row] for row in expected]


def test_ids_that_no_row_has_are_refused():
    rows = RNG.normal(size=(3, 2))
    with pytest.raises(ValueError, match="Got 7"):
        rescore(rows[:1], rows, [[4, 7]], ids=[4, 5, 6])
    with pytest.raises(ValueError, match="3 codes. Got 2"):
        rescore(rows[:1], rows, [[4]], ids=[4, 5])
