"""A first pass by the first bits: against a literal sort of the candidates."""

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from sklearn_hashrank import HammingNeighbors
from sklearn_hashrank.neighbors import _hamming_neighbors
from tests.neighbors.test_ids_and_masks import KINDS, names_of
from tests.neighbors.test_neighbors import ALGORITHMS, random_codes, searches, stable_sort
from tests.oracle.neighbors import nearest_by_prefix, ranking, within


@settings(max_examples=40, deadline=None)
@given(searches(), st.sampled_from(KINDS), st.sampled_from(ALGORITHMS), st.data())
def test_any_life_of_an_index_with_a_prefix(search, kind, algorithm, data):
    """Codes come and go; candidates, ties, masks and ids are those of the oracle."""
    queries, database = search
    n_bits = queries.shape[1]
    if n_bits == 1:
        queries, database = (np.hstack([part, part]) for part in search)
        n_bits = 2
    prefix = data.draw(st.integers(1, n_bits - 1))
    names = names_of(kind, len(database))
    names = list(range(len(database))) if names is None else names
    n_first = data.draw(st.integers(1, len(database)))
    index = HammingNeighbors(1, prefix=prefix, algorithm=algorithm)
    index.fit(database[:n_first], ids=names[:n_first])
    codes, there = list(database[:n_first]), names[:n_first]
    for _ in range(2):
        k = data.draw(st.integers(1, len(codes)))
        n_candidates = data.draw(st.one_of(st.none(), st.integers(k, len(codes) + 3)))
        index.set_params(n_candidates=n_candidates)
        rng = np.random.default_rng(data.draw(st.integers(0, 99)))
        own = rng.random((len(queries), len(codes))) < data.draw(st.sampled_from([0.0, 0.3, 1.0]))
        mask, passes = {
            "none": (None, np.ones_like(own)),
            "for all": (own[0], np.tile(own[0], (len(queries), 1))),
            "of each": (own, own),
            "sparse": (sparse.csr_matrix(own), own),
        }[data.draw(st.sampled_from(["none", "for all", "of each", "sparse"]))]
        distances, found = index.kneighbors(queries, k, mask=mask)
        expected = nearest_by_prefix(queries, codes, prefix, n_candidates or 10 * k, k, passes)
        nothing = (-1, -1 if index.ids_.dtype == np.int64 else None)
        for near, ids, pairs in zip(distances.tolist(), found.tolist(), expected, strict=True):
            wanted = [(distance, there[place]) for distance, place in pairs]
            assert list(zip(near, ids)) == wanted + [nothing] * (k - len(wanted))
        radius = int(rng.integers(0, n_bits + 1))
        every = within(ranking(queries, codes), radius)
        for row, pairs in zip(index.radius_neighbors(queries, radius, False, True), every):
            assert row.tolist() == [there[place] for _, place in pairs]
        if len(codes) > 1:
            gone = rng.integers(len(codes))
            index.remove([there[gone]])
            codes.pop(gone)
            there = [name for place, name in enumerate(there) if place != gone]
        if n_first < len(database):
            index.add(database[n_first:], ids=names[n_first:])
            codes, there = codes + list(database[n_first:]), there + names[n_first:]
            n_first = len(database)


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize(("n_bits", "prefix"), [(72, 64), (256, 64), (256, 100), (1024, 128)])
def test_large_searches_equal_a_stable_sort(n_bits, prefix, n_jobs):
    queries, database = random_codes(40, n_bits, 1), random_codes(9000, n_bits, 2)
    firsts = [
        np.packbits(np.unpackbits(each, axis=1)[:, :prefix], axis=1) for each in (queries, database)
    ]
    _, candidates = stable_sort(*firsts, 500)
    candidates.sort(axis=1)
    expected = np.empty((40, 20), np.int64)
    for query in range(40):
        _, order = stable_sort(queries[query][None], database[candidates[query]], 20)
        expected[query] = candidates[query][order[0]]
    options = {"n_bits": n_bits, "prefix": prefix, "n_candidates": 500, "n_jobs": n_jobs}
    index = HammingNeighbors(20, **options).fit(database)
    distances, indices = index.kneighbors(queries)
    np.testing.assert_array_equal(indices, expected)
    differing = np.bitwise_count(database[indices] ^ queries[:, None]).sum(axis=2)
    np.testing.assert_array_equal(distances, differing)
    assert distances.dtype == np.int32


@pytest.mark.parametrize("kind", ["none", "for all", "of each", "sparse"])
def test_candidates_of_some_queries_at_a_time(monkeypatch, kind):
    """Blocks of queries change nothing, whatever the mask."""
    queries, database = random_codes(23, 90, 1), random_codes(300, 90, 2)
    own = np.random.default_rng(0).random((23, 300)) < 0.1
    mask = {"none": None, "for all": own[0], "of each": own, "sparse": sparse.csr_matrix(own)}[kind]
    projections = np.random.default_rng(1).normal(size=(23, 90))

    def found():
        index = HammingNeighbors(4, n_bits=90, prefix=32).fit(database)
        rescored = HammingNeighbors(4, n_bits=90, prefix=32, distance="asymmetric").fit(database)
        yield from index.kneighbors(queries, mask=mask)
        yield from index.kneighbors()
        yield from rescored.kneighbors(projections, mask=mask)

    at_once = list(found())
    monkeypatch.setattr(_hamming_neighbors, "_CANDIDATES", 5 * 40)  # five queries
    for each, expected in zip(found(), at_once, strict=True):
        assert each.dtype == expected.dtype
        np.testing.assert_array_equal(each, expected)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_all_codes_as_candidates_are_an_exact_search(algorithm):
    queries, database = random_codes(30, 90, 1), random_codes(700, 90, 2)
    exact = HammingNeighbors(9, n_bits=90).fit(database)
    index = HammingNeighbors(9, n_bits=90, prefix=20, n_candidates=700, algorithm=algorithm)
    index.fit(database)
    for codes in (queries, None):
        for one, other in zip(exact.kneighbors(codes), index.kneighbors(codes)):
            np.testing.assert_array_equal(one, other)
    assert (exact.kneighbors_graph(queries) != index.kneighbors_graph(queries)).nnz == 0


@given(searches(), st.integers(1, 5))
def test_an_index_searched_for_its_own_codes_leaves_out_each(search, k):
    """Among its candidates, where more ties of the first bits come before it than fit, too."""
    _, database = search
    if database.shape[1] == 1 or len(database) <= k:
        return
    prefix = (database.shape[1] + 1) // 2
    index = HammingNeighbors(k, prefix=prefix, n_candidates=len(database) - 1).fit(database)
    expected = nearest_by_prefix(
        database, database, prefix, len(database) - 1, k, exclude_self=True
    )
    for near, found, pairs in zip(*index.kneighbors(), expected):
        assert list(zip(near.tolist(), found.tolist())) == pairs
    few = index.set_params(n_candidates=k).kneighbors(return_distance=False)
    assert few.shape == (len(database), k)
    assert not np.any(few == np.arange(len(database))[:, None])


def test_dask_chunks_have_the_candidates_of_all_codes():
    da = pytest.importorskip("dask.array")
    queries, database = random_codes(6, 100, 1), random_codes(1000, 100, 2)
    own = np.random.default_rng(0).random((6, 1000)) < 0.1
    options = {"n_bits": 100, "prefix": 30, "n_candidates": 60}
    here = HammingNeighbors(7, **options).fit(database)
    there = HammingNeighbors(7, **options).fit(da.from_array(database, chunks=(130, 13)))
    for mask in (None, own[0], own):
        for one, other in zip(
            here.kneighbors(queries, mask=mask), there.kneighbors(queries, mask=mask)
        ):
            np.testing.assert_array_equal(one, other)


def test_files_pickles_and_changed_parameters(tmp_path):
    queries, database = random_codes(5, 64, 1), random_codes(2000, 64, 2)
    index = HammingNeighbors(3, n_bits=64, prefix=16).fit(database)
    found = index.kneighbors(queries)
    index.save(tmp_path / "index")
    for again in (HammingNeighbors.load(tmp_path / "index"), pickle.loads(pickle.dumps(index))):
        assert again.prefix == 16
        np.testing.assert_array_equal(again.kneighbors(queries), found)
    assert len(pickle.dumps(index)) < 1.2 * database.nbytes + 4000
    other = HammingNeighbors(3, n_bits=64, prefix=8).fit(database).kneighbors(queries)
    np.testing.assert_array_equal(index.set_params(prefix=8).kneighbors(queries), other)
    exact = HammingNeighbors(3, n_bits=64).fit(database).kneighbors(queries)
    np.testing.assert_array_equal(index.set_params(prefix=None).kneighbors(queries), exact)
    assert np.any(other[1] != exact[1])


def test_what_cannot_be_searched_is_refused():
    database = random_codes(50, 64)
    for prefix in (64, 65):
        with pytest.raises(ValueError, match=f"prefix must be less than the 64 bits .* {prefix}."):
            HammingNeighbors(n_bits=64, prefix=prefix).fit(database)
    index = HammingNeighbors(5, n_bits=64).fit(database).set_params(prefix=70)
    with pytest.raises(ValueError, match="prefix must be less than the 64 bits"):
        index.kneighbors(database)
    for prefix in (0, 8.0):
        with pytest.raises(ValueError, match="'prefix' parameter of HammingNeighbors must be"):
            HammingNeighbors(n_bits=64, prefix=prefix).fit(database)
    few = HammingNeighbors(5, n_bits=64, prefix=8, n_candidates=4).fit(database)
    with pytest.raises(ValueError, match="n_candidates must be at least n_neighbors = 5. Got 4"):
        few.kneighbors(database)
    with pytest.raises(ValueError, match="n_candidates must be at least n_neighbors = 5. Got 4"):
        few.kneighbors()
