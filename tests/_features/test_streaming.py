"""encode_blocks: the codes of transform, from every source to every target, whole or not at all."""

import os
import weakref

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.exceptions import NotFittedError

from sklearn_hashrank import LSHHasher, TALRLinear, retrieval_histogram
from sklearn_hashrank.codes import load_codes
from tests.retrieval import retrieve, shuffled_digits

N, N_FEATURES, N_BITS = 103, 7, 12
RNG = np.random.default_rng(0)
X = RNG.normal(size=(N, N_FEATURES)).astype(np.float32)
Y = RNG.integers(0, 3, N)
HASHER = LSHHasher(N_BITS, output="packed", random_state=0).fit(X)
CODES = HASHER.transform(X)


def blocks_of(*arrays, step=10):
    for start in range(0, N, step):
        parts = tuple(array[start : start + step] for array in arrays)
        yield parts if len(parts) > 1 else parts[0]


def as_memmap(X, folder):
    mapped = np.memmap(folder / "features", X.dtype, "w+", shape=X.shape)
    mapped[:] = X
    mapped.flush()
    return np.memmap(folder / "features", X.dtype, "r", shape=X.shape)


SOURCES = {
    "array": lambda folder: X,
    "list": lambda folder: X.tolist(),
    "memmap": lambda folder: as_memmap(X, folder),
    "csr matrix": lambda folder: sparse.csr_matrix(X),
    "csc array": lambda folder: sparse.csc_array(X),
    "frame": lambda folder: pd.DataFrame(X),
    "blocks": lambda folder: blocks_of(X),
    "sparse blocks": lambda folder: blocks_of(sparse.csr_array(X)),
}


@pytest.mark.parametrize(
    ("source", "target"),
    [*((source, "file") for source in SOURCES)]
    + [("memmap", "memory"), ("blocks", "memory"), ("array", "array"), ("blocks", "memmap")],
)
@pytest.mark.parametrize(("batch_size", "n_jobs"), [("auto", None), (1, 1), (15, 3)])
def test_codes_are_those_of_transform(source, target, batch_size, n_jobs, tmp_path):
    out = {
        "memory": lambda: None,
        "file": lambda: tmp_path / "codes.npy",
        "array": lambda: np.empty_like(CODES),
        "memmap": lambda: np.memmap(tmp_path / "codes", np.uint8, "w+", shape=CODES.shape),
    }[target]()
    rows = SOURCES[source](tmp_path)
    codes = HASHER.encode_blocks(rows, out=out, batch_size=batch_size, n_jobs=n_jobs)
    np.testing.assert_array_equal(codes, CODES)
    assert codes.dtype == np.uint8
    if target == "file":
        assert isinstance(codes, np.memmap)
        assert not codes.flags.writeable
        np.testing.assert_array_equal(np.load(out), CODES)
        assert sorted(path.name for path in tmp_path.iterdir() if path.name != "features") == [
            "codes.npy"
        ]
    elif target != "memory":
        assert codes is out
    if target == "memmap":
        np.testing.assert_array_equal(np.fromfile(tmp_path / "codes", np.uint8), CODES.ravel())


@pytest.mark.parametrize("n_jobs", [None, 2])
def test_pairs_are_a_database(n_jobs):
    expected = retrieval_histogram(CODES[:9], CODES, Y[:9], Y, n_bits=N_BITS)
    database = HASHER.encode_blocks(blocks_of(X, Y), n_jobs=n_jobs)
    found = retrieval_histogram(CODES[:9], database, Y[:9], n_bits=N_BITS)
    np.testing.assert_array_equal(found.counts, expected.counts)


def test_a_file_of_codes_is_a_database(tmp_path):
    codes = HASHER.encode_blocks(blocks_of(X), out=str(tmp_path / "codes.npy"))
    expected = retrieval_histogram(CODES[:9], CODES, Y[:9], Y, n_bits=N_BITS)
    found = retrieval_histogram(codes[:9], codes, Y[:9], Y, n_bits=N_BITS)
    np.testing.assert_array_equal(found.counts, expected.counts)


def test_only_the_blocks_at_work_are_alive(tmp_path):
    made = []

    def blocks():
        for seed in range(20):
            block = np.random.default_rng(seed).normal(size=(10, N_FEATURES))
            made.append(weakref.ref(block))
            yield block
            del block
            assert sum(reference() is not None for reference in made) <= 3

    assert len(HASHER.encode_blocks(blocks(), out=tmp_path / "codes.npy")) == 200
    assert len(HASHER.encode_blocks(blocks(), out=tmp_path / "codes.npy", n_jobs=2)) == 200


def failing_blocks():
    yield X[:50]
    raise OSError("the disk is gone")


def test_a_file_is_complete_or_is_not_there(tmp_path):
    path = tmp_path / "codes.npy"
    with pytest.raises(OSError, match="the disk is gone"):
        HASHER.encode_blocks(failing_blocks(), out=path)
    assert list(tmp_path.iterdir()) == []
    HASHER.encode_blocks(X, out=path)
    with pytest.raises(ValueError, match="3 features.*LSHHasher.* 7"):
        HASHER.encode_blocks(iter([X, X[:, :3]]), out=path)
    np.testing.assert_array_equal(np.load(path), CODES)
    HASHER.encode_blocks(X[:20], out=path)
    np.testing.assert_array_equal(np.load(path), CODES[:20])


def test_a_truncated_file_is_an_error(tmp_path):
    path = tmp_path / "codes.npy"
    HASHER.encode_blocks(X, out=path)
    os.truncate(path, path.stat().st_size - 60)
    with pytest.raises(ValueError, match="codes.npy' is truncated"):
        load_codes(path)
    start = np.load(path, mmap_mode="r").offset
    os.truncate(path, start + CODES.nbytes - 60)  # numpy looks at no more than the codes
    with pytest.raises(ValueError, match="greater than file size"):
        np.load(path, mmap_mode="r")
    raw = tmp_path / "raw"
    CODES[:50].tofile(raw)
    with pytest.raises(ValueError, match="greater than file size"):
        np.memmap(raw, np.uint8, "r", shape=CODES.shape)
    short = np.memmap(raw, np.uint8, "r").reshape(-1, 2)
    with pytest.raises(ValueError, match="database y .*50"):
        retrieval_histogram(CODES[:5], short, Y[:5], Y, n_bits=N_BITS)


@pytest.mark.parametrize("as_blocks", [False, True])
def test_codes_of_another_length_are_an_error_or_the_same_ranking(as_blocks):
    """In one array and in the second of two blocks."""

    def count(codes, n_bits=N_BITS, queries=CODES[:5]):
        database = iter([(CODES, Y), (codes, Y)]) if as_blocks else codes
        return retrieval_histogram(
            queries, database, Y[:5], None if as_blocks else Y, n_bits=n_bits
        )

    other = {
        bits: LSHHasher(bits, output="packed", random_state=0).fit(X).transform(X)
        for bits in (8, 16, 20)
    }
    with pytest.raises(ValueError, match="database codes have 1 columns"):
        count(other[8])
    with pytest.raises(ValueError, match="database codes .*n_bits=12"):
        count(other[16])
    with pytest.raises(ValueError, match="database codes have 3 columns"):
        count(other[20])
    with pytest.raises(ValueError, match="uint8.*uint16"):
        count(CODES.astype(np.uint16))
    with pytest.raises(ValueError, match="database codes .*2-d"):
        count(CODES.ravel())
    with pytest.raises(ValueError, match="query codes"):
        count(CODES, queries=other[16][:5])
    expected, found = count(CODES), count(CODES, 16)  # no bit is set beyond the twelfth
    np.testing.assert_array_equal(found.counts[:, :, :13], expected.counts)
    assert not found.counts[:, :, 13:].any()


def test_blocks_of_signs_do_not_meet_blocks_of_bits():
    ones = np.ones((3, 4), dtype=np.int8)
    with pytest.raises(ValueError, match="must all lie in"):
        retrieval_histogram(ones[:1], iter([(0 * ones, Y[:3]), (-ones, Y[:3])]), Y[:1])


def test_verbose_prints_every_so_often(capsys):
    HASHER.encode_blocks(X, batch_size=25, verbose=2)
    assert capsys.readouterr().out.splitlines() == [
        "[LSHHasher] block 2: 50 of 103 rows",
        "[LSHHasher] block 4: 100 of 103 rows",
        "[LSHHasher] block 5: 103 of 103 rows",
    ]
    assert len(list(HASHER.encode_blocks(blocks_of(X, Y, step=50), verbose=1))) == 3
    assert capsys.readouterr().out.splitlines()[-1] == "[LSHHasher] block 3: 103 rows"


@pytest.mark.parametrize(
    ("rows", "options", "message"),
    [
        (X, {"batch_size": 0}, "batch_size must be 'auto' or an int >= 1. Got 0"),
        (X, {"batch_size": "all"}, "batch_size must be 'auto' or an int >= 1. Got 'all'"),
        (X, {"out": 3}, "out must be None, a path or an array. Got int"),
        (X, {"out": np.empty((N, 3), np.uint8)}, r"uint8 array of shape \(103, 2\). Got uint8 of"),
        (X, {"out": np.empty((N - 1, 2), np.uint8)}, r"uint8 array of shape \(103, 2\)"),
        (X, {"out": np.empty((N, 2))}, r"\(103, 2\). Got float64"),
        (X, {"out": np.frombuffer(bytes(2 * N), np.uint8).reshape(N, 2)}, "out is read-only"),
        (blocks_of(X), {"out": np.empty((N - 9, 2), np.uint8)}, "94 rows, but .* at least 100"),
        (blocks_of(X), {"out": np.empty((N + 1, 2), np.uint8)}, "104 rows, but .* gave 103"),
        (blocks_of(X, Y), {"out": "codes.npy"}, r"out must be None where blocks are pairs"),
        (iter([]), {}, "the iterator gave no block"),
        (iter([(X, Y, Y)]), {}, r"a block must be rows or a pair \(rows, y\). Got 3 values"),
        (iter([X, (X, Y)]), {}, "blocks must be rows, as the first is. Got a tuple of 2 instead"),
        (X[:0], {}, "Found array with 0 sample"),
        (X[0], {}, "Expected 2D array"),
        (X[:, :3], {}, "X has 3 features, but LSHHasher is expecting 7"),
        (np.full_like(X, np.nan), {}, "Input X contains NaN"),
    ],
)
def test_bad_input_is_refused(rows, options, message):
    with pytest.raises(ValueError, match=message):
        HASHER.encode_blocks(rows, **options)


@pytest.mark.parametrize(
    ("block", "given"), [(X[:2], "ndarray"), (X[:2].tolist(), "list"), ((X, Y, Y), "a tuple of 3")]
)
def test_blocks_are_all_pairs_or_none_is(block, given):
    codes = HASHER.encode_blocks(iter([(X, Y), block]))
    message = rf"blocks must be pairs \(rows, y\), as the first is. Got {given} instead"
    with pytest.raises(ValueError, match=message):
        list(codes)


def test_needs_a_fitted_hasher():
    with pytest.raises(NotFittedError):
        LSHHasher().encode_blocks(X)


@pytest.mark.learning
def test_talr_learns_from_the_blocks_of_a_memmap(tmp_path):
    """From a read-only memmap as from memory, and to the quality of its retrieval."""
    X, y, X_query, y_query = shuffled_digits()
    mapped = as_memmap(X, tmp_path)
    streamed, in_memory = (TALRLinear(16, batch_size=128, random_state=0) for _ in range(2))
    for _ in range(10):
        for start in range(0, len(X), 300):
            part = slice(start, start + 300)
            streamed.partial_fit(mapped[part], y[part])
            in_memory.partial_fit(X[part], y[part])
    np.testing.assert_array_equal(streamed.components_, in_memory.components_)
    random = LSHHasher(16, random_state=0).fit(X)
    assert retrieve(streamed, mapped, y, X_query, y_query) > 0.1 + retrieve(
        random, X, y, X_query, y_query
    )
