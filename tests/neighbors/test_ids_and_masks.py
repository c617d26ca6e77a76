"""Codes with ids, and searches among some of them: against a literal sort of what passes."""

import itertools
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from sklearn_hashrank import HammingNeighbors
from tests.neighbors.test_neighbors import random_codes, searches, stable_sort
from tests.oracle.neighbors import ranking


def names_of(kind, n):
    """Ids of a kind, in an order of their own."""
    numbers = np.random.default_rng(n).permutation(n)
    if kind == "numbers":
        return None
    if kind == "integers":
        return [int(10**12 - 7 * number) for number in numbers]
    if kind == "strings":
        return [f"item {number}" for number in numbers]
    return [(int(number), "é") if number % 2 else f"{number}" for number in numbers]


KINDS = ["numbers", "integers", "strings", "objects"]


def literal(queries, rows, passes, k):
    """Nearest ``(distance, id)`` of each query, filled up with what stands for nothing."""
    nothing = (-1, None if any(not isinstance(name, int) for name, _ in rows) else -1)
    ranked = ranking(queries, [code for _, code in rows])
    expected = []
    for query, pairs in enumerate(ranked):
        found = [(d, rows[place][0]) for d, place in pairs if passes[query][place]][:k]
        expected.append(found + [nothing] * (k - len(found)))
    return expected


@settings(max_examples=25, deadline=None)
@given(searches(), st.sampled_from(KINDS), st.data())
def test_any_life_of_an_index(search, kind, data):
    """Codes come and go; searches, with masks and without, are those of a list of pairs."""
    queries, database = search
    names = names_of(kind, len(database))
    n_first = data.draw(st.integers(1, len(database)))
    ids = {} if names is None else {"ids": names[:n_first]}
    index = HammingNeighbors(1).fit(database[:n_first], **ids)
    rows = list(zip(range(n_first) if names is None else names, database[:n_first]))
    n_seen = n_first
    for _ in range(3):
        if len(rows) > 1 and data.draw(st.booleans()):
            there = st.sampled_from([name for name, _ in rows])
            gone = data.draw(st.lists(there, unique=True, max_size=len(rows) - 1))
            index.remove(gone)
            rows = [(name, code) for name, code in rows if name not in gone]
        if n_seen < len(database):
            stop = data.draw(st.integers(n_seen + 1, len(database)))
            more = range(n_seen, stop) if names is None else names[n_seen:stop]
            index.add(database[n_seen:stop], *([] if names is None else [more]))
            rows += zip(more, database[n_seen:stop])
            n_seen = stop
        assert index.ids_.tolist() == [name for name, _ in rows]
        share = data.draw(st.sampled_from([0.0, 0.1, 0.5, 1.0]))
        rng = np.random.default_rng(data.draw(st.integers(0, 99)))
        own = rng.random((len(queries), len(rows))) < share
        k = data.draw(st.integers(1, len(rows)))
        everything = np.ones_like(own)
        masks = {
            "none": (None, everything),
            "for all": (own[0], np.tile(own[0], (len(queries), 1))),
            "of each": (own, own),
            "sparse": (sparse.csr_matrix(own), own),
        }
        mask, passes = masks[data.draw(st.sampled_from(sorted(masks)))]
        distances, found = index.kneighbors(queries, k, mask=mask)
        pairs = [list(zip(*row)) for row in zip(distances.tolist(), found.tolist())]
        assert pairs == literal(queries, rows, passes, k)
        radius = int(rng.integers(0, queries.shape[1] + 1))
        distances, found = index.radius_neighbors(queries, radius, True, True, mask=mask)
        expected = literal(queries, rows, passes, len(rows))
        for near, there, row in zip(distances, found, expected):
            wanted = [(d, name) for d, name in row if 0 <= d <= radius]
            assert list(zip(near.tolist(), there.tolist())) == wanted


@pytest.mark.parametrize("share", [0.0005, 0.02, 0.4, 0.9, 1.0])
@pytest.mark.parametrize("n_bits", [16, 64, 200])
def test_large_searches_with_masks_equal_a_stable_sort(n_bits, share):
    """Many tiles, some without a code that passes; copied codes, and all codes with bits."""
    queries, database = random_codes(70, n_bits, 1), random_codes(9000, n_bits, 2)
    rng = np.random.default_rng(3)
    own = rng.random((70, 9000)) < share
    own[:, 4000:8500] = False
    own[0] = False
    distances, order = stable_sort(queries, database, len(database))
    for mask in (own[5], own, sparse.csr_matrix(own)):
        passes = np.broadcast_to(mask, own.shape) if mask.ndim == 1 else own
        wanted = np.full((2, 70, 3000), -1)  # distances and indices
        for query, of_query in enumerate(order):
            first = of_query[passes[query, of_query]][:3000]
            wanted[:, query, : len(first)] = distances[query, passes[query, of_query]][:3000], first
        for n_jobs, k in itertools.product((1, 2), (1, 10, 3000)):
            index = HammingNeighbors(n_bits=n_bits, n_jobs=n_jobs).fit(database)
            found = index.kneighbors(queries, k, mask=mask)
            np.testing.assert_array_equal(found, wanted[:, :, :k])


def test_a_mask_of_what_is_far_only_costs_time():
    """Everything near a query is left out, so that the estimated limit finds too little."""
    rng = np.random.default_rng(0)
    database = rng.integers(0, 256, (40_000, 8), dtype=np.uint8)
    queries = database[:3]
    distances, order = stable_sort(queries, database, len(database))
    index = HammingNeighbors(n_bits=64).fit(database)
    own = np.zeros((3, 40_000), bool)
    np.put_along_axis(own, order[:, 15_000:], True, axis=1)
    near, found = index.kneighbors(queries, 10, mask=own)
    np.testing.assert_array_equal(found, order[:, 15_000:15_010])
    np.testing.assert_array_equal(near, distances[:, 15_000:15_010])


def test_a_mask_that_is_false_wherever_it_is_sampled():
    """How many pass is estimated from values at equal steps, here of 4; 5,000 do."""
    queries, database = random_codes(3, 16, 1), random_codes(20_000, 16, 2)
    mask = np.arange(20_000) % 4 == 1
    _, order = stable_sort(queries, database, len(database))
    index = HammingNeighbors(n_bits=16).fit(database)
    for passes in (mask, np.stack([mask, ~mask, mask & (np.arange(20_000) < 50)])):
        near, found = index.kneighbors(queries, 30, mask=passes)
        for query, row in enumerate(np.broadcast_to(passes, (3, 20_000))):
            wanted = order[query][row[order[query]]][:30]
            n = len(wanted)
            np.testing.assert_array_equal(found[query], np.append(wanted, [-1] * (30 - n)))
            np.testing.assert_array_equal(near[query, n:], -1)


def test_an_index_searched_for_its_own_codes():
    database = random_codes(300, 16)
    index = HammingNeighbors(n_bits=16).fit(database)
    passes = np.arange(300) % 3 == 0
    _, order = stable_sort(database, database, 300)
    near, found = index.kneighbors(n_neighbors=5, mask=passes)
    for query in range(300):
        wanted = [place for place in order[query] if passes[place] and place != query][:5]
        assert found[query].tolist() == wanted
    radius_near, radius_found = index.radius_neighbors(radius=3, mask=passes)
    for query in range(300):
        others = np.bitwise_count(database[query] ^ database).sum(axis=1)
        wanted = np.flatnonzero((others <= 3) & passes & (np.arange(300) != query))
        np.testing.assert_array_equal(radius_found[query], wanted)
        np.testing.assert_array_equal(radius_near[query], others[wanted])
    assert near.shape == (300, 5)


def test_rescoring_among_what_passes():
    rng = np.random.default_rng(0)
    projections, database = rng.normal(size=(5, 32)), rng.integers(0, 2, (200, 32), dtype=np.uint8)
    names = [f"n{number}" for number in range(200)]
    index = HammingNeighbors(3, distance="asymmetric", n_candidates=200).fit(database, ids=names)
    passes = np.arange(200) % 4 == 0
    farness = np.abs(projections)[:, None] * ((projections > 0)[:, None] != database)
    farness = np.where(passes, farness.sum(axis=2), np.inf)
    distances, found = index.kneighbors(projections, mask=passes)
    order = np.argsort(farness, axis=1, kind="stable")[:, :3]
    assert found.tolist() == np.array(names)[order].tolist()
    np.testing.assert_allclose(distances, np.take_along_axis(farness, order, axis=1))
    few = np.zeros(200, bool)
    few[[7, 3]] = True
    distances, found = index.kneighbors(projections, mask=few)
    assert all(set(row[:2]) == {"n3", "n7"} and row[2] is None for row in found)
    assert np.all(np.isinf(distances[:, 2]) & np.isfinite(distances[:, 1]))


@pytest.mark.parametrize("own", [False, True])
def test_masks_of_a_dask_array(own):
    da = pytest.importorskip("dask.array")
    queries, database = random_codes(6, 64, 1), random_codes(1000, 64, 2)
    passes = np.random.default_rng(0).random((6, 1000)) < 0.1
    passes[:, 300:600] = False
    mask = passes if own else passes[0]
    names = names_of("strings", 1000)
    here = HammingNeighbors(n_bits=64).fit(database, ids=names)
    there = HammingNeighbors(n_bits=64).fit(da.from_array(database, chunks=(130, 8)), ids=names)
    for k in (1, 50, 120):
        for one, other in zip(
            here.kneighbors(queries, k, mask=mask), there.kneighbors(queries, k, mask=mask)
        ):
            np.testing.assert_array_equal(one, other)
    for one, other in zip(
        here.radius_neighbors(queries, 24, sort_results=True, mask=mask),
        there.radius_neighbors(queries, 24, sort_results=True, mask=mask),
    ):
        for row, same in zip(one, other):
            np.testing.assert_array_equal(row, same)


@pytest.mark.parametrize("kind", ["numbers", "integers", "strings"])
@pytest.mark.parametrize("mmap_mode", ["r", None])
def test_ids_come_back_from_a_file(tmp_path, kind, mmap_mode):
    database = random_codes(50, 20)
    index = HammingNeighbors(2, n_bits=20).fit(database, ids=names_of(kind, 50))
    index.remove(index.ids_[[3, 30]])
    index.save(tmp_path / "index")
    again = HammingNeighbors.load(tmp_path / "index", mmap_mode)
    for one, other in zip(index.kneighbors(database), again.kneighbors(database)):
        np.testing.assert_array_equal(one, other)
    more = {"numbers": None, "integers": [5], "strings": ["new"]}[kind]
    again.add(database[:1], more)
    assert again.ids_[-1] == {"numbers": 50, "integers": 5, "strings": "new"}[kind]
    again.save(tmp_path / "index")  # over the file that its codes are mapped from
    np.testing.assert_array_equal(HammingNeighbors.load(tmp_path / "index").ids_, again.ids_)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(again)).ids_, again.ids_)


def test_ids_that_a_file_cannot_hold_are_refused(tmp_path):
    index = HammingNeighbors().fit([[0, 1], [1, 1]], ids=[(1, 2), "b"])
    with pytest.raises(ValueError, match=r"integers, or strings .* Got \(1, 2\) of type tuple"):
        index.save(tmp_path / "index")
    assert not list(tmp_path.iterdir())


CODES = [[0, 1, 1], [1, 1, 1], [0, 0, 0]]


@pytest.mark.parametrize(
    ("ids", "message"),
    [
        ([1, 2], "one for each of 3 codes. Got 2"),
        ([1, 2, 1], "must be different. Got 1 more than once"),
        (["a", "b", "a"], "must be different. Got 'a' more than once"),
        ([1, -1, 2], "not -1, which stands for a missing neighbor"),
        ([1, 2**63, 2], "Got 9223372036854775808. Pass others as strings"),
        (np.array([1, -1, 2]), "Got -1"),
        (["a", None, "b"], "neither None nor NaN. Got None"),
        ([1.0, float("nan"), 2.0], "neither None nor NaN. Got nan"),
        ([[1], [2], [3]], r"must be hashable.* Got \[1\]"),
        (np.zeros((3, 1), int), r"one axis. Got an array of shape \(3, 1\)"),
        ("abc", "must be a sequence. Got 'abc'"),
        (5, "must be a sequence. Got 5"),
    ],
    ids=str,
)
def test_bad_ids_are_refused(ids, message):
    with pytest.raises(ValueError, match=message):
        HammingNeighbors().fit(CODES, ids=ids)


def test_ids_and_numbers_do_not_mix():
    with_ids = HammingNeighbors().fit(CODES, ids=["a", "b", "c"])
    with pytest.raises(ValueError, match="ids were given to fit.* Got none"):
        with_ids.add(CODES[:1])
    with pytest.raises(ValueError, match="objects other than integers, .* Got integers"):
        with_ids.add(CODES[:1], [4])
    with pytest.raises(ValueError, match="must be different. Got 'b' more than once"):
        with_ids.add(CODES[:1], ["b"])
    with pytest.raises(ValueError, match="Got 'x' and 1 others that are not there"):
        with_ids.remove(["a", "x", "y"])
    with pytest.raises(ValueError, match="one code at least. Got the ids of all 3"):
        with_ids.remove(["a", "b", "c"])
    numbered = HammingNeighbors().fit(CODES)
    with pytest.raises(ValueError, match="ids were not given to fit.* Got ids"):
        numbered.add(CODES[:1], ["d"])
    assert with_ids.ids_.tolist() == ["a", "b", "c"]
    assert numbered.ids_.tolist() == [0, 1, 2]


@pytest.mark.parametrize("given", [np.array([3, 1, 2]), "pandas", "polars"])
def test_ids_of_arrays_and_columns(given):
    if isinstance(given, str):
        given = pytest.importorskip(given).Series([3, 1, 2])
    index = HammingNeighbors(1).fit(CODES, ids=given)
    assert index.ids_.dtype == np.int64
    assert index.kneighbors([[1, 1, 1]], return_distance=False).tolist() == [[1]]


@pytest.mark.parametrize(
    "mask",
    [
        [True, False],
        [1, 0, 1],
        np.ones((2, 3), bool),
        sparse.csr_matrix(np.ones((1, 3))),
        sparse.coo_array(np.ones(3, bool)),
        np.ma.array([True, True, False], mask=[True, False, False]),
    ],
    ids=[
        "too short",
        "numbers",
        "rows of other queries",
        "a sparse matrix of floats",
        "a sparse row",
        "a value is missing",
    ],
)
def test_bad_masks_are_refused(mask):
    index = HammingNeighbors(1).fit(CODES)
    with pytest.raises(ValueError, match=r"mask must be a boolean array of shape \(3,\).*Got "):
        index.kneighbors([[1, 1, 1]], mask=mask)
    with pytest.raises(ValueError, match="mask must be a boolean array"):
        index.radius_neighbors([[1, 1, 1]], mask=mask)


def test_a_sparse_mask_stays_as_it_is():
    codes = np.random.default_rng(0).integers(0, 2, (40, 16))
    own = np.random.default_rng(1).random((3, 40)) < 0.5
    mask = sparse.csr_matrix(own)
    mask.data[::3] = False
    arrays = [mask.data, mask.indices, mask.indptr]
    before = [array.copy() for array in arrays]
    for array in arrays:
        array.setflags(write=False)
    found = HammingNeighbors(5).fit(codes).kneighbors(codes[:3], mask=mask)
    expected = HammingNeighbors(5).fit(codes).kneighbors(codes[:3], mask=mask.toarray())
    np.testing.assert_array_equal(found, expected)
    for array, old in zip(arrays, before):
        np.testing.assert_array_equal(array, old)


def test_missing_values_of_pandas_are_no_ids():
    missing = pytest.importorskip("pandas").NA
    with pytest.raises(ValueError, match="neither None nor NaN. Got <NA>"):
        HammingNeighbors().fit(CODES, ids=["a", missing, "b"])


def test_times_are_ids_of_their_own():
    times = np.array(["2020-01-01", "2021-01-01T12:00:00.000000001"], "M8[ns]")
    index = HammingNeighbors(1).fit([[0, 1], [1, 1]], ids=times)
    assert index.kneighbors([[1, 1]], return_distance=False)[0, 0] == times[1]
    assert index.remove(times[:1]).ids_.tolist() == [times[1]]


def test_a_set_of_ids_says_what_to_remove_but_no_order():
    index = HammingNeighbors(1).fit([[0, 1], [1, 1], [0, 0]], ids=["a", "b", "c"])
    assert index.remove({"a", "c"}).ids_.tolist() == ["b"]
    for ids in ({"d", "e"}, {"d": 1, "e": 2}):
        with pytest.raises(ValueError, match="ids must be a sequence. Got {"):
            index.add([[0, 1], [1, 1]], ids=ids)
