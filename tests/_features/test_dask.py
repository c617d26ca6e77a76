"""Dask arrays on a cluster of processes: the numbers of one machine, also when a worker dies."""

import faulthandler
import multiprocessing
import os
import signal
from functools import partial

import joblib
import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

from sklearn_hashrank import (
    EuclideanAffinity,
    HammingNeighbors,
    ITQHasher,
    LabelAffinity,
    LSHHasher,
    PCAHasher,
    PrecomputedAffinity,
    RSHHasher,
    SharedLabelAffinity,
    TALRLinear,
    retrieval_histogram,
)
from sklearn_hashrank._features import out_of_memory as _many_rows
from sklearn_hashrank.hashers.rsh import _statistics

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")
distributed = pytest.importorskip("distributed")

N, N_FEATURES, N_BITS = 200, 6, 12
RNG = np.random.default_rng(0)
X = RNG.normal(size=(N, N_FEATURES)).astype(np.float32)
Y = RNG.integers(0, 3, N)
HASHER = LSHHasher(N_BITS, random_state=0).fit(X, Y)
PACKED = HASHER.encode_blocks(X)
CHUNKS = (30, 50, 1, 119)
SECONDS = 180


@pytest.fixture(scope="module")
def client():
    """A cluster of two processes. They are forked from one that has imported this module."""
    method = "forkserver" if "forkserver" in multiprocessing.get_all_start_methods() else "spawn"
    with dask.config.set({"distributed.worker.multiprocessing-method": method}):
        # In which dask names what the server imports, so that it has to come first.
        distributed.utils.get_mp_context().set_forkserver_preload([__name__])
        with (
            distributed.LocalCluster(
                n_workers=2, threads_per_worker=1, dashboard_address=":0"
            ) as cluster,
            distributed.Client(cluster) as client,
        ):
            yield client


def in_chunks(array, chunks=CHUNKS):
    return da.from_array(array, chunks=(chunks, *array.shape[1:]))


def of_unknown_sizes(array, chunks=CHUNKS):
    known = in_chunks(array, chunks)
    unknown = (np.nan,) * len(chunks)
    return da.Array(known.dask, known.name, (unknown, *known.chunks[1:]), known.dtype)


@pytest.mark.parametrize("method", ["decision_function", "predict", "transform"])
@pytest.mark.parametrize("output", ["bits", "signs", "packed"])
def test_codes_are_those_of_arrays(client, method, output):
    hasher = LSHHasher(N_BITS, output=output, random_state=0).fit(X, Y)
    expected = getattr(hasher, method)(X)
    for rows in (in_chunks(X), in_chunks(X).rechunk({1: 2}), of_unknown_sizes(X)):
        found = getattr(hasher, method)(rows)
        assert isinstance(found, da.Array)
        assert found.dtype == expected.dtype
        assert found.shape[1] == expected.shape[1]
        np.testing.assert_allclose(found.compute(), expected, atol=1e-6)
    assert found.npartitions == len(CHUNKS)


def test_what_is_sent_is_small(client):
    """One copy of the hyperplanes, and no training rows."""
    rows = np.random.default_rng(0).normal(size=(20_000, 10))
    hasher = PCAHasher(4).fit(rows)
    codes = hasher.transform(da.zeros((1000, 10), chunks=(10, 10)))
    graph = dict(codes.__dask_graph__())
    assert len(distributed.protocol.pickle.dumps(graph)) < 100_000
    assert hasher.codes_.shape == (20_000, 1)


def test_set_output_does_not_reach_the_workers(client):
    hasher = LSHHasher(N_BITS, random_state=0).fit(X, Y).set_output(transform="pandas")
    np.testing.assert_array_equal(hasher.predict(in_chunks(X)).compute(), HASHER.predict(X))


def test_encode_blocks_and_score(client, tmp_path):
    codes = HASHER.encode_blocks(in_chunks(X), out=tmp_path / "codes.npy", batch_size=60)
    np.testing.assert_array_equal(codes, PACKED)
    assert HASHER.score(in_chunks(X), Y) == HASHER.score(X, Y)


DATABASES = {
    "labels": (Y, "auto"),
    "label sets": (RNG.integers(0, 2, (N, 4)), SharedLabelAffinity()),
    "vectors": (X[:, :2], EuclideanAffinity((40, 10), (1, 3)).fit(X[:, :2])),
    "matrix": (np.arange(N), PrecomputedAffinity(RNG.integers(0, 3, (N, N)))),
}


@pytest.mark.parametrize("y_in_chunks", [False, True])
@pytest.mark.parametrize(("y", "affinity"), DATABASES.values(), ids=DATABASES.keys())
def test_histogram_is_that_of_arrays(client, y, affinity, y_in_chunks):
    expected = retrieval_histogram(PACKED[:9], PACKED, y[:9], y, affinity=affinity, n_bits=N_BITS)
    database_y = da.from_array(y, chunks=33) if y_in_chunks else y
    found = retrieval_histogram(
        PACKED[:9], in_chunks(PACKED), y[:9], database_y, affinity=affinity, n_bits=N_BITS
    )
    np.testing.assert_array_equal(found.counts, expected.counts)
    np.testing.assert_array_equal(found.levels, expected.levels)


def test_from_rows_to_histogram_without_coming_back(client):
    expected = retrieval_histogram(PACKED[:9], PACKED, Y[:9], Y, n_bits=N_BITS)
    codes = HASHER.transform(of_unknown_sizes(X))
    queries = HASHER.transform(in_chunks(X)[:9])
    found = retrieval_histogram(queries, codes, in_chunks(Y)[:9], of_unknown_sizes(Y))
    np.testing.assert_array_equal(found.counts, expected.counts)


def test_sparse_label_sets_are_cut(client):
    labels = sparse.csr_array(RNG.integers(0, 2, (N, 4)))
    expected = retrieval_histogram(PACKED[:9], PACKED, labels[:9], labels, n_bits=N_BITS)
    found = retrieval_histogram(PACKED[:9], in_chunks(PACKED), labels[:9], labels, n_bits=N_BITS)
    np.testing.assert_array_equal(found.counts, expected.counts)


BITS = HASHER.predict(X)
MIXED = BITS.astype(np.int8)
MIXED[80:] = 2 * MIXED[80:] - 1
BROKEN = PACKED.copy()
BROKEN[150, 1] |= 1
NUMBERS_AND_TEXT = [*Y[:-1].tolist(), "1"]


@pytest.mark.parametrize(
    ("codes", "y", "options", "message"),
    [
        (BROKEN, Y, {"n_bits": N_BITS}, "database codes have non-zero bits beyond n_bits=12"),
        (MIXED, Y, {}, r"must all lie in \{0, 1\} or all in \{-1, \+1\}"),
        (BITS[:, :8], Y, {}, "database codes have 8 columns"),
        (BITS, Y[:-1], {}, r"y must have one row per row of the dask array, 200. Got 199"),
        (BITS, NUMBERS_AND_TEXT, {}, "database y must hold only numbers or only strings"),
        (BITS, in_chunks(Y + 0.5), {}, "y holds non-integral numbers such as"),
        (BITS, Y, {"exclude_self": True}, "a dask array needs database_y and exclude_self=False"),
        (BITS, None, {}, "a dask array needs database_y"),
        (BITS, X, {"affinity": EuclideanAffinity()}, "thresholds of EuclideanAffinity cannot"),
        (BITS, in_chunks(Y)[:-1], {}, "one row per row of the dask array, 200. Got 199"),
        (BITS, of_unknown_sizes(Y, (N,)), {}, "must have the same number of chunks. Got 4"),
    ],
)
def test_bad_databases_are_refused(client, codes, y, options, message):
    queries = PACKED[:9] if options.get("n_bits") else BITS[:9]
    query_y = X[:9] if "affinity" in options else Y[:9]
    with pytest.raises(ValueError, match=message):
        retrieval_histogram(queries, in_chunks(codes), query_y, y, **options)


def test_formats_are_judged_together_although_each_chunk_fits():
    """All ones agree with bits and with signs; chunks of both do not."""
    ones = np.ones((4, 3), dtype=np.int8)
    bits, signs = np.vstack([ones[:2], 0 * ones[:2]]), np.vstack([ones[:2], -ones[:2]])
    y = np.zeros(8, dtype=int)
    codes = da.from_array(np.vstack([bits, signs]), chunks=(4, 3))
    with pytest.raises(ValueError, match="must all lie in"):
        retrieval_histogram(ones[:1], codes, y[:1], y)


def test_chunks_of_unknown_size_need_y_in_chunks(client):
    with pytest.raises(ValueError, match="unknown sizes, so that an array y cannot be cut"):
        retrieval_histogram(BITS[:9], of_unknown_sizes(BITS), Y[:9], Y)
    y = of_unknown_sizes(Y, (50,) * 4)
    with pytest.raises(ValueError, match="one row per database code, (30|1|119). Got shape .50,"):
        retrieval_histogram(BITS[:9], of_unknown_sizes(BITS), Y[:9], y)


# Fits in this process, while the cluster is there: some versions of dask warn of that.
in_threads = pytest.mark.filterwarnings("ignore:Running on a single-machine scheduler")


@in_threads
@pytest.mark.parametrize("few", [False, True])
@pytest.mark.parametrize(
    ("y", "affinity"),
    [DATABASES["labels"], DATABASES["vectors"], DATABASES["matrix"], (None, None)],
    ids=["labels", "vectors", "matrix", "none"],
)
def test_rsh_learns_the_same(y, affinity, few, monkeypatch):
    if few:  # threads, as the workers know nothing of this
        monkeypatch.setattr(_statistics, "_STATISTICS_ROWS", 50)
        monkeypatch.setattr(_statistics, "_QUERIES", 20)
        monkeypatch.setattr(_statistics, "_DATABASE", 40)
    affinity = affinity or EuclideanAffinity((40, 10), (1, 3)).fit(X)
    hasher = RSHHasher(4, affinity=affinity, random_state=0, solver="eigh")
    expected = hasher.fit(X.astype(float), y)
    found = RSHHasher(4, affinity=affinity, random_state=0, solver="eigh")
    with dask.config.set(scheduler="threads"):
        found.fit(in_chunks(X.astype(float)), None if y is None else in_chunks(y))
    np.testing.assert_allclose(found.components_, expected.components_, atol=1e-10)
    np.testing.assert_allclose(found.intercept_, expected.intercept_, atol=1e-10)
    assert not hasattr(found, "codes_")
    assert not hasattr(found, "y_")


@in_threads
def test_chunks_without_rows_are_left_out():
    """As a selection leaves them behind, of known sizes or not."""
    kept = np.arange(N) >= 90
    unknown = [in_chunks(array)[in_chunks(kept)] for array in (X, Y)]
    known = [array.copy().compute_chunk_sizes() for array in unknown]
    codes = HASHER.transform(X)[kept]
    expected = retrieval_histogram(codes, codes, Y[kept], Y[kept])
    learned = RSHHasher(4, random_state=0).fit(X[kept], Y[kept])
    with dask.config.set(scheduler="synchronous"):
        for rows, y in (unknown, known):
            found = HASHER.transform(rows)
            np.testing.assert_array_equal(found.compute(), codes)
            h = retrieval_histogram(codes, found, Y[kept], y)
            np.testing.assert_array_equal(h.counts, expected.counts)
        hasher = RSHHasher(4, random_state=0).fit(rows, y)
        np.testing.assert_allclose(hasher.components_, learned.components_, atol=1e-5)
        with pytest.raises(ValueError, match="dask array is empty; at least one row"):
            retrieval_histogram(codes, found[:0], Y[kept], y[:0])


@in_threads
def test_sums_and_samples_on_the_cluster(client, monkeypatch):
    """The client alone decides how many rows are sampled."""
    monkeypatch.setattr(_many_rows, "MOST_NUMBERS", 100 * N_FEATURES)
    rows = in_chunks(X)
    with dask.config.set(scheduler="synchronous"):
        expected = [hasher.fit(rows, Y).components_ for hasher in OF_MANY_ROWS]
    for hasher, components in zip(OF_MANY_ROWS, expected):
        np.testing.assert_allclose(clone(hasher).fit(rows, Y).components_, components, atol=1e-6)


def test_rsh_on_the_cluster(client):
    expected = RSHHasher(4, random_state=0).fit(X, Y)
    found = RSHHasher(4, random_state=0).fit(in_chunks(X), Y)
    np.testing.assert_allclose(found.components_, expected.components_, atol=1e-6)
    assert found.score(X, Y) == pytest.approx(expected.score(X, Y), abs=1e-6)
    with pytest.raises(ValueError, match="X has 3 features, but RSHHasher is expecting 6"):
        found.transform(in_chunks(X[:, :3]))


@in_threads
@pytest.mark.parametrize(
    ("rows", "y", "options", "message"),
    [
        (of_unknown_sizes(X), Y, {}, "unknown sizes; call compute_chunk_sizes"),
        (in_chunks(X), Y[:-1], {}, "y must have one row per row of the dask array, 200. Got 199"),
        (in_chunks(X), NUMBERS_AND_TEXT, {}, "y must hold only numbers or only strings"),
        (in_chunks(X[:, :3]), Y, {"spread": "orthogonal"}, "n_bits=4 must be at most n_features"),
        (in_chunks(X), 0 * Y, {}, "B = 0, there is nothing to learn"),
        (in_chunks(np.where(X > 2, np.nan, X)), Y, {}, "Input X contains NaN"),
        (in_chunks(X), None, {"affinity": EuclideanAffinity()}, "thresholds of EuclideanAffinity"),
        (
            in_chunks(X),
            np.arange(N),
            {"n_queries": None, "affinity": DATABASES["matrix"][1]},
            "n_queries=None would keep every row",
        ),
    ],
)
def test_rsh_refuses(rows, y, options, message):
    with (
        dask.config.set(scheduler="synchronous"),
        pytest.raises(ValueError, match=message),
    ):
        RSHHasher(4, random_state=0, **options).fit(rows, y)


OF_MANY_ROWS = [
    PCAHasher(4),
    ITQHasher(4, random_state=0),
    TALRLinear(4, max_iter=2, random_state=0),
]


def kill_worker_once(block, marker, block_info=None):
    """The rows; but the process that is first to work on the third chunk dies."""
    if block_info[0]["chunk-location"][0] == 2:
        try:
            marker.touch(exist_ok=False)
        except FileExistsError:
            return block
        os.kill(os.getpid(), signal.SIGKILL)
    return block


@pytest.fixture
def deadline():
    """Ends a test that waits for ever, as for workers that a loaded machine did not start again."""

    def give_up(*_):
        faulthandler.dump_traceback()
        raise TimeoutError(f"not done after {SECONDS} seconds")

    before = signal.signal(signal.SIGALRM, give_up)
    signal.alarm(SECONDS)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def wait_for_two_workers(client):
    """Wait for the one that was killed, or for another one where it does not start again."""
    try:
        client.wait_for_workers(2, timeout=20)
    except TimeoutError:  # a busy machine: its nanny has given up
        client.cluster.scale(len(client.cluster.worker_spec) + 1)
        client.wait_for_workers(2, timeout=60)


@pytest.mark.parametrize("work", ["codes and histogram", "fit", "neighbors"])
def test_a_killed_worker_changes_nothing(deadline, client, tmp_path, work):
    marker = tmp_path / "killed"
    rows = da.from_array(X, chunks=(20, N_FEATURES))
    rows = rows.map_blocks(partial(kill_worker_once, marker=marker), dtype=X.dtype, meta=X[:0])
    before = set(client.scheduler_info()["workers"])
    if work == "codes and histogram":
        found = retrieval_histogram(BITS[:9], HASHER.transform(rows), Y[:9], Y).counts
        expected = retrieval_histogram(BITS[:9], BITS, Y[:9], Y).counts
    elif work == "neighbors":
        found = HammingNeighbors(7).fit(HASHER.predict(rows)).kneighbors(BITS[:9])
        expected = HammingNeighbors(7).fit(BITS).kneighbors(BITS[:9])
    else:
        found = RSHHasher(4, random_state=0).fit(rows, Y).predict(X)
        expected = RSHHasher(4, random_state=0).fit(X, Y).predict(X)
    assert marker.exists()
    np.testing.assert_array_equal(found, expected)
    wait_for_two_workers(client)
    assert set(client.scheduler_info()["workers"]) != before


def test_grid_search_on_the_cluster(client):
    grid = {"shrinkage": [0.3, 1.0]}
    search = GridSearchCV(RSHHasher(4, random_state=0), grid, cv=2)
    expected = search.fit(X, Y).cv_results_["mean_test_score"]
    with joblib.parallel_config(backend="dask"):
        found = search.fit(X, Y).cv_results_["mean_test_score"]
        histogram = retrieval_histogram(BITS[:9], BITS, Y[:9], Y, n_jobs=2)
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    assert histogram.counts.sum() == 9 * N


def test_label_affinity_is_fitted_on_the_first_chunk(client):
    y = Y.astype(str)
    fitted = retrieval_histogram(BITS[:9], BITS, y[:9], y, affinity=LabelAffinity().fit(y))
    found = retrieval_histogram(BITS[:9], in_chunks(BITS), y[:9], in_chunks(y))
    np.testing.assert_array_equal(found.counts, fitted.counts)


@pytest.mark.parametrize("chunks", [(20, 0, 20), (0, 20, 20), (20, 20, 0)])
@pytest.mark.parametrize("make", [RSHHasher, partial(TALRLinear, max_iter=2)])
def test_labels_that_are_objects_may_have_empty_chunks(make, chunks):
    rows, names = X[:40], np.array(list("abcd") * 10, object)
    expected = make(4, random_state=0).fit(rows, names).transform(rows)
    y = da.from_array(names, chunks=(chunks,))
    found = make(4, random_state=0).fit(da.from_array(rows, chunks=(chunks, -1)), y)
    np.testing.assert_array_equal(found.transform(rows), expected)
    histogram = retrieval_histogram(expected[:5], expected, names[:5], names)
    codes = da.from_array(expected, chunks=(chunks, -1))
    np.testing.assert_array_equal(
        retrieval_histogram(expected[:5], codes, names[:5], y).counts, histogram.counts
    )
