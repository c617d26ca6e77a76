"""HammingNeighbors: against a literal sort, faiss and scikit-learn."""

import json
import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import train_test_split
from sklearn.neighbors import KNeighborsClassifier, NearestNeighbors
from sklearn.pipeline import make_pipeline

from sklearn_hashrank import HammingNeighbors, LSHHasher
from sklearn_hashrank.codes import unpack_codes
from sklearn_hashrank.neighbors import _index_file, _scan
from tests.oracle.neighbors import nearest, ranking, within

ALGORITHMS = ["auto", "brute", "multi_index"]


@st.composite
def searches(draw):
    """Queries and a database with heavy ties and duplicates, and k; few distinct codes."""
    n_bits = draw(st.sampled_from([1, 2, 7, 8, 13, 63, 64, 65, 254, 255]))
    n, n_queries = draw(st.integers(1, 25)), draw(st.integers(1, 5))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    centers = rng.integers(0, 2, (draw(st.integers(1, 4)), n_bits), dtype=np.uint8)
    codes = centers[rng.integers(0, len(centers), n + n_queries)]
    codes ^= rng.random(codes.shape) < draw(st.sampled_from([0, 0.02, 0.5]))
    return codes[:n_queries], codes[n_queries:]


def check_rows(found, expected):
    for distances, indices, pairs in zip(*found, expected, strict=True):
        assert list(zip(distances.tolist(), indices.tolist())) == pairs


@settings(max_examples=30)
@given(searches(), st.integers(1, 25))
def test_kneighbors_equal_a_literal_sort(search, k):
    queries, database = search
    n = len(database)
    indexes = [HammingNeighbors(algorithm=name).fit(database) for name in ALGORITHMS]
    ranked = ranking(queries, database)
    for index in indexes:
        for few in {1, min(k, n), n}:
            check_rows(index.kneighbors(queries, few), nearest(ranked, few))
    ranked = ranking(database, database, exclude_self=True)
    for index in indexes:
        for few in {1, min(k, n - 1), n - 1} - {0}:
            if few < n:
                check_rows(index.kneighbors(n_neighbors=few), nearest(ranked, few))


@settings(max_examples=30)
@given(searches(), st.floats(0, 1))
def test_radius_neighbors_equal_a_literal_filter(search, share):
    queries, database = search
    n_bits = queries.shape[1]
    indexes = [HammingNeighbors(algorithm=name).fit(database) for name in ALGORITHMS]
    ranked = ranking(queries, database)
    ranked_others = ranking(database, database, exclude_self=True)
    for index in indexes:
        for radius in (0, round(share * n_bits), n_bits, n_bits + 3):
            expected = within(ranked, radius)
            check_rows(index.radius_neighbors(queries, radius, sort_results=True), expected)
            by_index = [sorted(pairs, key=lambda pair: pair[1]) for pairs in expected]
            check_rows(index.radius_neighbors(queries, radius), by_index)
        others = within(ranked_others, radius)
        check_rows(index.radius_neighbors(radius=radius, sort_results=True), others)


def random_codes(n, n_bits, seed=0):
    packed = np.random.default_rng(seed).integers(0, 256, (n, -(-n_bits // 8)), dtype=np.uint8)
    return np.packbits(np.unpackbits(packed, axis=1, count=n_bits), axis=1)


def stable_sort(queries, database, k):
    """Distances and indices of the k nearest packed codes by numpy's stable sort."""
    distances = np.bitwise_count(queries[:, None] ^ database).sum(axis=2, dtype=np.int32)
    order = np.argsort(distances, axis=1, kind="stable")[:, :k]
    return np.take_along_axis(distances, order, axis=1), order


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("n_bits", [4, 16, 64, 72, 1024])
def test_large_searches_equal_a_stable_sort(algorithm, n_bits):
    """Many tiles, a bound from a sample, more queries than share a tile, in threads."""
    queries, database = random_codes(70, n_bits, 1), random_codes(9000, n_bits, 2)
    index = HammingNeighbors(n_bits=n_bits, algorithm=algorithm).fit(database)
    all_distances, order = stable_sort(queries, database, len(database))
    for n_jobs in (1, 2):
        index.set_params(n_jobs=n_jobs)
        for k in (1, 10, 4000, 9000):
            distances, indices = index.kneighbors(queries, k)
            np.testing.assert_array_equal(indices, order[:, :k])
            np.testing.assert_array_equal(distances, all_distances[:, :k])
        radius = int(all_distances[0, 50])
        found = index.radius_neighbors(queries, radius, sort_results=True)
        for row, (distances, indices) in enumerate(zip(*found)):
            n_within = np.searchsorted(all_distances[row], radius, side="right")
            np.testing.assert_array_equal(indices, order[row, :n_within])
            np.testing.assert_array_equal(distances, all_distances[row, :n_within])


@pytest.mark.parametrize("n_constant", [0, 40])
def test_tables_give_what_scanning_gives(n_constant):
    """Also where many bits are the same for all, and lists are long."""
    bits = np.random.default_rng(0).integers(0, 2, (20_000, 64), dtype=np.uint8)
    bits[:, :n_constant] = 1
    queries = bits[:50].copy()
    queries[:, ::31] ^= 1
    tables = HammingNeighbors(algorithm="multi_index", n_jobs=2).fit(bits)
    scan = HammingNeighbors(algorithm="brute").fit(bits)
    for radius in (0, 2, 3, 5, 30):
        found = tables.radius_neighbors(queries, radius, sort_results=True)
        expected = scan.radius_neighbors(queries, radius, sort_results=True)
        for ours, theirs in zip(found, expected):
            np.testing.assert_array_equal(np.concatenate(ours), np.concatenate(theirs))
    np.testing.assert_array_equal(tables.kneighbors(queries, 3), scan.kneighbors(queries, 3))
    assert len(tables._state[0].tables.tables[1]) == len(tables._state[0].tables.starts) > 2


def test_threads_change_nothing():
    queries, database = random_codes(512, 64, 1), random_codes(40_000, 64, 2)
    index = HammingNeighbors(n_bits=64, n_jobs=1).fit(database)
    threaded = clone(index).set_params(n_jobs=2).fit(database)
    np.testing.assert_array_equal(threaded.kneighbors(queries), index.kneighbors(queries))
    for ours, theirs in zip(
        threaded.radius_neighbors(queries, 17), index.radius_neighbors(queries, 17)
    ):
        np.testing.assert_array_equal(np.concatenate(ours), np.concatenate(theirs))


def share_the_codes(monkeypatch):
    """Cut them into parts where there are more threads than queries, however little it takes."""
    for name, cost in (("_WORTH_A_PART", 1.0), ("_HIT_COST", 0.0)):
        monkeypatch.setattr(_scan, name, cost)


@pytest.mark.parametrize("k", [1, 10, 3000])
def test_threads_share_the_codes_where_queries_are_few(k, monkeypatch):
    share_the_codes(monkeypatch)
    queries, database = random_codes(2, 16, 1), random_codes(9001, 16, 2)
    expected = stable_sort(queries, database, k)
    for n_jobs in (1, 2, 5, 16):
        index = HammingNeighbors(n_bits=16, algorithm="brute", n_jobs=n_jobs).fit(database)
        for n_queries in (1, 2):
            found = index.kneighbors(queries[:n_queries], k)
            for one, other in zip(found, expected):
                np.testing.assert_array_equal(one, other[:n_queries])
        passes = np.random.default_rng(0).random((2, 9001)) < 0.6
        passes[:, :4000] = False
        for mask in (passes[0], passes):
            alone = HammingNeighbors(n_bits=16).fit(database).kneighbors(queries, k, mask=mask)
            for one, other in zip(index.kneighbors(queries, k, mask=mask), alone):
                np.testing.assert_array_equal(one, other)


def test_many_callers_search_one_index_at_once():
    """Each with threads of its own asking, and with the room for its hits to itself."""
    database = random_codes(40_000, 64, 2)
    index = HammingNeighbors(n_bits=64, n_jobs=2).fit(database)
    queries = [random_codes(64, 64, seed) for seed in range(8)]
    expected = [index.kneighbors(each, 300)[1] for each in queries]
    with ThreadPoolExecutor(8) as callers:
        found = list(callers.map(lambda each: index.kneighbors(each, 300)[1], queries * 3))
    for indices, others in zip(found, expected * 3, strict=True):
        np.testing.assert_array_equal(indices, others)


def test_few_queries_look_at_no_tables():
    """Which would take longer to consider than to scan."""
    index = HammingNeighbors(n_bits=64).fit(random_codes(2000, 64))
    index.kneighbors(random_codes(3, 64, 1))
    index.radius_neighbors(random_codes(3, 64, 1))
    assert index._state[0].tables is None


def test_what_one_query_holds_says_nothing_about_the_next():
    index = HammingNeighbors(1).fit(np.ones((3, 4)))
    assert index.kneighbors(np.zeros((1, 4)))[0] == 4
    assert index.kneighbors(-np.ones((1, 4)))[0] == 4


@pytest.mark.parametrize("search", ["kneighbors", "radius_neighbors"])
def test_no_threads_are_refused(search):
    index = HammingNeighbors(1, n_jobs=0).fit(np.ones((3, 4)))
    with pytest.raises(ValueError, match="n_jobs must be an int other than 0, or None. Got 0"):
        getattr(index, search)(np.ones((1, 4)))


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("order", ["nearest first", "farthest first", "any"])
def test_a_limit_within_a_tie(order, n_jobs):
    """The sample says up to which item at the farthest distance to look; ties are large."""
    database = random_codes(60_000, 8, 4)
    if order != "any":
        database = database[np.argsort(np.bitwise_count(database[:, 0]), kind="stable")]
    if order == "farthest first":
        database = database[::-1].copy()
    queries = np.array([[0], [255], [0b1011], [0]], np.uint8)
    distances, nearest = stable_sort(queries, database, len(database))
    index = HammingNeighbors(n_bits=8, algorithm="brute", n_jobs=n_jobs).fit(database)
    for k in (100, 1000, 20_000):
        for own in (queries, queries[:1]):
            near, found = index.kneighbors(own, k)
            np.testing.assert_array_equal(found, nearest[: len(own), :k])
            np.testing.assert_array_equal(near, distances[: len(own), :k])


@pytest.mark.parametrize("n_jobs", [1, 2, 3])
def test_a_sample_that_is_unlike_the_rest_only_costs_time(monkeypatch, n_jobs):
    share_the_codes(monkeypatch)
    database = np.full((64 * 64, 8), 255, dtype=np.uint8)
    database[::64] = 0  # the very items that are sampled
    index = HammingNeighbors(100, n_bits=64, n_jobs=n_jobs).fit(database)
    distances, indices = index.kneighbors(database[:1])
    np.testing.assert_array_equal(indices, stable_sort(database[:1], database, 100)[1])
    assert set(distances[0]) == {0, 64}


@pytest.mark.parametrize("n_bits", [64, 128, 1024])
def test_distances_are_those_of_faiss(n_bits):
    faiss = pytest.importorskip("faiss")
    queries, database = random_codes(20, n_bits, 1), random_codes(5000, n_bits, 2)
    peer = faiss.IndexBinaryFlat(n_bits)
    peer.add(database)
    index = HammingNeighbors(n_bits=n_bits).fit(database)
    for k in (1, 10, 1000, 5000):
        np.testing.assert_array_equal(index.kneighbors(queries, k)[0], peer.search(queries, k)[0])


def test_formats_give_the_same_neighbors():
    packed = random_codes(50, 20)
    expected = HammingNeighbors(n_bits=20).fit(packed).kneighbors(packed[:5])
    bits, signs = unpack_codes(packed, 20), unpack_codes(packed, 20, "signs")
    for codes in (bits, signs, bits.astype(bool), signs.astype(float)):
        index = HammingNeighbors().fit(codes)
        assert index.n_bits_ == 20
        np.testing.assert_array_equal(index.codes_, packed)
        np.testing.assert_array_equal(index.kneighbors(codes[:5]), expected)
    index = HammingNeighbors(n_bits=20).fit(signs)
    np.testing.assert_array_equal(index.kneighbors(packed[:5]), expected)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_partial_fit_appends(algorithm):
    codes = random_codes(300, 20)
    whole = HammingNeighbors(n_bits=20, algorithm=algorithm).fit(codes)
    index = clone(whole)
    for block in np.array_split(codes, 4):
        index.partial_fit(block)
        index.radius_neighbors(block[:2])  # an index that was used can still grow
    assert index.n_samples_fit_ == 300
    np.testing.assert_array_equal(index.codes_, codes)
    np.testing.assert_array_equal(index.kneighbors(), whole.kneighbors())
    assert index.fit(codes[:7]).n_samples_fit_ == 7


def test_packed_words_are_not_copied(tmp_path):
    codes = random_codes(20, 128)
    codes.tofile(tmp_path / "codes")
    mapped = np.memmap(tmp_path / "codes", dtype=np.uint8, mode="r").reshape(-1, 16)
    index = HammingNeighbors(3, n_bits=128).fit(mapped)
    assert np.shares_memory(index.codes_, mapped)
    np.testing.assert_array_equal(
        index.kneighbors(), HammingNeighbors(3, n_bits=128).fit(codes).kneighbors()
    )


def test_clone_parameters_and_pickle():
    index = HammingNeighbors(3, radius=1, n_bits=16, algorithm="brute", n_jobs=2)
    assert index.get_params() == clone(index).get_params()
    assert "n_neighbors=3" in repr(index)
    index.fit(random_codes(30, 16))
    again = pickle.loads(pickle.dumps(index))
    np.testing.assert_array_equal(again.kneighbors(), index.kneighbors())


# Files


@pytest.fixture
def saved(tmp_path):
    index = HammingNeighbors(3, n_bits=20, radius=4, n_jobs=1).fit(random_codes(300, 20))
    index.save(tmp_path / "index")
    return index, tmp_path / "index"


@pytest.mark.parametrize("mmap_mode", ["r", None])
@pytest.mark.parametrize("n_bits", [1, 20, 64, 100])
def test_an_index_comes_back_from_its_file(tmp_path, n_bits, mmap_mode):
    bits = unpack_codes(random_codes(300, n_bits), n_bits)
    index = HammingNeighbors(np.int64(3), radius=1, algorithm="multi_index").fit(bits)
    index.save(tmp_path / "index")
    again = HammingNeighbors.load(tmp_path / "index", mmap_mode)
    assert again.get_params() == {**index.get_params(), "n_bits": n_bits}
    np.testing.assert_array_equal(again.codes_, index.codes_)
    np.testing.assert_array_equal(again.kneighbors(bits[:9]), index.kneighbors(bits[:9]))
    np.testing.assert_array_equal(again.kneighbors(index.codes_[:9]), index.kneighbors(bits[:9]))
    again.partial_fit(bits).save(tmp_path / "index")  # over the file that it is mapped from
    assert HammingNeighbors.load(tmp_path / "index").n_samples_fit_ == 600
    assert [path.name for path in tmp_path.iterdir()] == ["index"]


def test_every_changed_byte_is_noticed(saved):
    _, path = saved
    content = path.read_bytes()
    for place in {*range(300), *range(300, len(content), 97), len(content) - 1}:
        changed = bytearray(content)
        changed[place] ^= 1
        path.write_bytes(changed)
        with pytest.raises(ValueError, match="index' (was changed|is truncated)"):
            HammingNeighbors.load(path)


def test_every_truncation_is_noticed(saved):
    _, path = saved
    content = path.read_bytes()
    for length in (0, 5, 16, 100, len(content) - 8, len(content) - 1):
        path.write_bytes(content[:length])
        for verify in (True, False):
            with pytest.raises(ValueError, match="index' is (truncated|not a file)"):
                HammingNeighbors.load(path, verify=verify)
    path.write_bytes(content + b"0")
    with pytest.raises(ValueError, match="index' is truncated, or was changed at its end"):
        HammingNeighbors.load(path)


def test_an_index_is_a_file_of_numpy(saved):
    index, path = saved
    with open(path, "rb") as file:
        words = np.load(file)
    np.testing.assert_array_equal(words, index._state[0].words())


@pytest.mark.parametrize(
    "change",
    [
        {"n_bits": 0},
        {"n_bits": None},
        {"n_bits": 65},
        {"parameters": {"unknown": 1}},
        {"parameters": {"n_neighbors": "5"}},
        {"parameters": 5},
        {"parameters": None},
        {"shape": [20]},
        {"shape": [-1, 1]},
        {"shape": [10**18, 10**18]},
        {"shape": "20"},
        {"start": 0},
        {"dtype": "<f8"},
        {"order": "F"},
    ],
    ids=str,
)
def test_a_crafted_description_with_the_right_checksum_is_refused(saved, change, monkeypatch):
    index, path = saved
    real = json.dumps

    def crafted(about, **options):
        [place] = about["arrays"]
        if next(iter(change)) in place:
            return real({**about, "arrays": [place | change]}, **options)
        return real({**about, **change}, **options)

    monkeypatch.setattr("sklearn_hashrank._files.container.json.dumps", crafted)
    index.save(path)
    monkeypatch.undo()
    for verify in (True, False):
        with pytest.raises(ValueError, match="is malformed, although its checksum is right"):
            HammingNeighbors.load(path, verify=verify)


def test_ones_beyond_the_last_bit_of_a_file_are_refused(saved):
    index, path = saved
    words = index._state[0].blocks[0].copy()
    words.view(np.uint8)[7, 2] |= 1
    _index_file.write(path, words, 20, index.get_params(), index._state[1], None)
    for verify in (True, False):
        with pytest.raises(ValueError, match="non-zero bits beyond n_bits=20"):
            HammingNeighbors.load(path, verify=verify)


@pytest.mark.parametrize("n_bits", [60, 64, 100])
@pytest.mark.parametrize("distance", ["hamming", "asymmetric"])
def test_a_mapped_file_that_changes_gives_places_of_codes(tmp_path, n_bits, distance):
    """Whatever the words hold by now, also behind the last bit: indices are indices."""
    codes, path = random_codes(3000, n_bits, 0), tmp_path / "index.npy"
    for algorithm in ("brute", "multi_index"):
        index = HammingNeighbors(200, n_bits=n_bits, algorithm=algorithm, distance=distance)
        index.fit(codes).save(path)
        loaded = HammingNeighbors.load(path, verify=False)
        with open(path, "r+b") as file:
            file.seek(192)
            file.write(b"\xff" * 8 * -(-n_bits // 64) * 3000)
        queries = random_codes(3, n_bits, 1)
        if distance == "asymmetric":
            queries = np.random.default_rng(0).normal(size=(3, n_bits))
        for k in (1, 200, 3000):
            distances, found = loaded.kneighbors(queries, k)
            assert (np.sort(found, axis=1) >= 0).all()
            assert (np.diff(np.sort(found, axis=1)) > 0).all()
            assert (found < 3000).all()
            assert (distances >= 0).all()


def test_files_and_modes_that_cannot_be_read(saved, tmp_path):
    index, path = saved
    with pytest.raises(FileNotFoundError):
        HammingNeighbors.load(tmp_path / "other")
    with pytest.raises(ValueError, match="mmap_mode must be 'r' or None. Got 'w'"):
        HammingNeighbors.load(path, "w")
    with pytest.raises(FileNotFoundError):
        index.save(tmp_path / "nowhere" / "index")
    with pytest.raises(NotFittedError):
        HammingNeighbors().save(path)


# Graphs and pipelines


@pytest.mark.parametrize("mode", ["connectivity", "distance"])
def test_graphs_are_those_of_scikit_learn(mode):
    bits = np.unique(random_codes(40, 16), axis=0)
    bits = np.unpackbits(np.repeat(bits, 2, axis=0), axis=1)  # distances of 0, which are stored
    index = HammingNeighbors(radius=6).fit(bits)
    peer = NearestNeighbors(radius=6 / 16, metric="hamming", algorithm="brute").fit(bits)
    scale = 16 if mode == "distance" else 1
    for codes in (None, bits):
        every = len(bits) - (codes is None)
        for graph, expected in (
            (
                index.radius_neighbors_graph(codes, mode=mode),
                peer.radius_neighbors_graph(codes, mode=mode),
            ),
            (
                index.kneighbors_graph(codes, every, mode),
                peer.kneighbors_graph(codes, every, mode=mode),
            ),
        ):
            assert graph.format == expected.format
            assert graph.dtype == expected.dtype
            assert graph.nnz == expected.nnz
            np.testing.assert_allclose(graph.toarray(), scale * expected.toarray(), atol=1e-9)


def test_transform_keeps_zero_distances_and_finds_itself():
    codes = np.repeat(random_codes(6, 16), 2, axis=0)
    graph = HammingNeighbors(2, n_bits=16).fit_transform(codes)
    assert graph.shape == (12, 12)
    assert np.all(np.diff(graph.indptr) == 3)
    np.testing.assert_array_equal(graph[[3]].indices[:2], [2, 3])
    np.testing.assert_array_equal(graph[[3]].data[:2], [0, 0])


@pytest.mark.learning
@pytest.mark.parametrize("weights", ["uniform", "distance"])
def test_pipeline_with_a_classifier_of_precomputed_distances(weights):
    X, y = load_digits(return_X_y=True)
    X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0)
    hasher = LSHHasher(64, output="packed", random_state=0)
    pipeline = make_pipeline(
        hasher,
        HammingNeighbors(7, n_bits=64),
        KNeighborsClassifier(7, weights=weights, metric="precomputed"),
    ).fit(X_train, y_train)
    literal = KNeighborsClassifier(7, weights=weights, metric="hamming", algorithm="brute")
    literal.fit(hasher.predict(X_train), y_train)
    agreement = np.mean(pipeline.predict(X_test) == literal.predict(hasher.predict(X_test)))
    assert agreement > 0.97  # they break ties at the seventh place differently
    assert pipeline.score(X_test, y_test) > 0.85
    names = pipeline[:2].get_feature_names_out()
    assert len(names) == len(X_train)


# Errors


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_neighbors": 0}, "'n_neighbors' parameter .* must be an int in the range"),
        ({"radius": -1}, "'radius' parameter"),
        ({"radius": 1.5}, "'radius' parameter"),
        ({"n_bits": 0}, "'n_bits' parameter"),
        ({"algorithm": "ball_tree"}, "'algorithm' parameter"),
        ({"n_jobs": "all"}, "'n_jobs' parameter"),
    ],
)
def test_bad_parameters_are_refused(parameters, message):
    with pytest.raises(ValueError, match=message):
        HammingNeighbors(**parameters).fit([[0, 1]])


@pytest.mark.parametrize(
    ("search", "message"),
    [
        (lambda i: i.kneighbors([[0, 1]], 5), "n_neighbors = 5 .* n_samples_fit_ = 4 codes"),
        (lambda i: i.kneighbors(n_neighbors=4), "4 codes are indexed, of which each leaves out"),
        (lambda i: i.kneighbors([[0, 1]], 0), "n_neighbors must be an int >= 1. Got 0"),
        (lambda i: i.kneighbors([[0, 1]], 1.5), "n_neighbors must be an int >= 1. Got 1.5"),
        (lambda i: i.kneighbors([[0, 1, 1]], 1), "query codes have 3 columns; codes of n_bits=2"),
        (lambda i: i.kneighbors([[-1, 1]], 1), "Got -1 in the query codes, 0 in the codes"),
        (lambda i: i.kneighbors([[0, 2]], 1), "only 0 and 1"),
        (lambda i: i.radius_neighbors([[0, 1]], -1), "radius must be an int >= 0. Got -1"),
        (lambda i: i.radius_neighbors([[0, 1]], True), "Got True"),
        (lambda i: i.kneighbors_graph([[0, 1]], 1, "both"), "mode must be .* Got 'both'"),
        (lambda i: i.radius_neighbors_graph(mode="both"), "mode must be .* Got 'both'"),
        (lambda i: i.partial_fit([[0, 1, 1]]), "codes have 3 columns; codes of n_bits=2"),
        (lambda i: i.partial_fit([[-1, 1]]), "Got -1 in the codes, 0 in the codes"),
        (lambda i: i.transform([[0, 1]]), "n_neighbors = 6 neighbors were asked for"),
    ],
)
def test_bad_searches_are_refused(search, message):
    index = HammingNeighbors().fit([[0, 1], [1, 1], [0, 0], [0, 1]])
    with pytest.raises(ValueError, match=message):
        search(index)
    index.kneighbors([[0, 1]], 4)  # and leave the index as it was


def test_an_unfitted_index_says_so():
    for method in ("kneighbors", "radius_neighbors", "kneighbors_graph", "transform"):
        with pytest.raises(NotFittedError):
            getattr(HammingNeighbors(), method)([[0, 1]])
    with pytest.raises(ValueError, match="non-zero bits beyond n_bits=7"):
        HammingNeighbors(n_bits=7).fit(np.array([[1]], dtype=np.uint8))
