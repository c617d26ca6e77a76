"""Neighbors by what codes decode to: against decoding and measuring."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.metrics import pairwise_distances

from sklearn_hashrank import AdditiveQuantizer, BinaryAutoencoderHasher, HammingNeighbors, ITQHasher
from sklearn_hashrank._features.nearest_rows import METRICS
from sklearn_hashrank.neighbors import DecodedNeighbors


def index_of(n_bits=20, n=300, metric="cosine", seed=0, dtype="float64", **options):
    X = np.random.default_rng(seed).normal(size=(n, 7)).astype(dtype) + 0.3
    hasher = BinaryAutoencoderHasher(n_bits, max_iter=2, random_state=0).fit(X)
    return X, hasher, DecodedNeighbors(hasher, metric=metric, **options).fit(hasher.transform(X))


def distances_of(queries, decoded, metric):
    if metric == "inner_product":
        return -queries @ decoded.T
    return pairwise_distances(queries, decoded, metric=metric)


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("n_bits", [1, 8, 13, 40, 75])
def test_distances_are_those_to_the_decoded_rows(metric, n_bits):
    X, hasher, index = index_of(n_bits, metric=metric)
    distances, indices = index.kneighbors(X[:9], 12)
    expected = distances_of(X[:9], hasher.inverse_transform(hasher.predict(X)), metric)
    found = np.take_along_axis(expected, indices, axis=1)
    np.testing.assert_allclose(distances, found, atol=2e-5)
    np.testing.assert_allclose(distances, np.sort(expected, axis=1)[:, :12], atol=2e-5)
    assert all(len(set(row)) == 12 for row in indices)
    np.testing.assert_array_equal(index.kneighbors(X[:9], 12, return_distance=False), indices)


@given(st.integers(1, 60), st.integers(0, 100))
def test_ties_go_to_the_lowest_index(k, seed):
    X, _, index = index_of(2, 60, seed=seed)
    distances, indices = index.kneighbors(X[:5], k)
    for row, numbers in zip(distances, indices):
        order = np.lexsort((numbers, row))
        np.testing.assert_array_equal(order, np.arange(k))


def test_candidates_are_ranked_among_themselves():
    X, _, index = index_of()
    everywhere = index.kneighbors(X[:6], 300, return_distance=False)
    rng = np.random.default_rng(1)
    candidates = np.array([rng.permutation(300)[:40] for _ in range(6)])
    found = index.kneighbors(X[:6], 10, return_distance=False, candidates=candidates)
    for row, order, some in zip(found, everywhere, candidates):
        np.testing.assert_array_equal(row, order[np.isin(order, some)][:10])


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("n_jobs", [1, 3])
def test_candidates_may_be_missing_or_named_twice(metric, n_jobs):
    """As a search with a mask returns them, of which few pass."""
    X, hasher, index = index_of(metric=metric, n_jobs=n_jobs)
    mask = np.random.default_rng(0).random((40, 300)) < np.linspace(0, 0.05, 40)[:, None]
    by_codes = HammingNeighbors(12, n_bits=20).fit(hasher.predict(X))
    candidates = by_codes.kneighbors(hasher.predict(X[:40]), mask=mask, return_distance=False)
    candidates[20:, -1] = candidates[20:, 0]
    everywhere, order = index.kneighbors(X[:40], 300)
    distances, indices = index.kneighbors(X[:40], 7, candidates=candidates)
    for row in range(40):
        is_wanted = np.isin(order[row], candidates[row])
        n = min(7, is_wanted.sum())
        np.testing.assert_array_equal(indices[row, :n], order[row][is_wanted][:n])
        np.testing.assert_allclose(distances[row, :n], everywhere[row][is_wanted][:n], atol=1e-6)
        assert (indices[row, n:] == -1).all()
        assert (distances[row, n:] == np.inf).all()
    found = index.kneighbors(X[:40], 7, candidates=candidates, return_distance=False)
    np.testing.assert_array_equal(found, indices)


def test_threads_and_dtypes_give_the_same():
    X, _, index = index_of(n=4000, dtype="float32")
    one, many = (index.set_params(n_jobs=n).kneighbors(X) for n in (1, 3))
    for a, b in zip(one, many):
        np.testing.assert_array_equal(a, b)


def test_a_row_of_zeros_has_cosine_zero_with_every_code():
    X, _, index = index_of()
    distances, indices = index.kneighbors(np.zeros((1, X.shape[1])), 4)
    np.testing.assert_array_equal(distances, np.ones((1, 4)))
    np.testing.assert_array_equal(indices, [[0, 1, 2, 3]])


@pytest.mark.parametrize("decoder", [[[0.1], [0.2], [0.3]], [[0.7], [0.1], [0.6]]])
def test_vectors_whose_parts_cancel_have_cosine_zero(decoder):
    """Rounding leaves something of a sum of floats, which is no direction."""
    _, hasher, _ = index_of(3, 60)
    hasher.decoder_, hasher.decoder_intercept_ = np.array(decoder), np.zeros(1)
    codes = np.unpackbits(np.arange(8, dtype=np.uint8)[:, None], axis=1)[:, 5:]
    index = DecodedNeighbors(hasher, 8).fit(codes)
    decoded = np.round((2.0 * codes - 1) @ hasher.decoder_, 9)
    assert np.count_nonzero(decoded == 0) == 2
    distances, indices = index.kneighbors([[1.0]])
    np.testing.assert_array_equal(distances, 1 - np.sign(decoded[indices[0]]).T)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"X": np.zeros((1, 3))}, "X must have 7 columns.*Got 3"),
        ({"n_neighbors": 301}, "n_neighbors = 301 neighbors were asked for"),
        ({"candidates": np.zeros((1, 2), int)}, "at least 5 integers for each of the 1 queries"),
        ({"candidates": np.zeros((1, 5))}, "at least 5 integers"),
        ({"candidates": [[0, 1, 2, 3, -2]]}, "below 300, or -1. Got numbers from -2 to 3"),
        ({"candidates": [[0, 1, 2, 3, 300]]}, "below 300, or -1. Got numbers from 0 to 300"),
    ],
)
def test_what_cannot_be_searched_is_refused(arguments, message):
    _, _, index = index_of()
    with pytest.raises(ValueError, match=message):
        index.kneighbors(**{"X": np.ones((1, 7)), **arguments})


def test_hashers_without_a_decoder_are_refused():
    X, _, index = index_of()
    with pytest.raises(ValueError, match="The 'hasher' parameter of DecodedNeighbors must be"):
        DecodedNeighbors(ITQHasher(4).fit(X)).fit(index.codes_)


@pytest.mark.parametrize("metric", METRICS)
def test_a_query_finds_the_same_in_every_batch(metric):
    X, _, index = index_of(64, metric=metric, dtype="float32")
    distances, indices = index.kneighbors(X[:50], 20)
    for row in range(50):
        alone, numbers = index.kneighbors(X[row : row + 1], 20)
        np.testing.assert_array_equal(alone[0], distances[row])
        np.testing.assert_array_equal(numbers[0], indices[row])


def test_equal_codes_have_equal_norms_wherever_they_stand():
    _, hasher, index = index_of(40, dtype="float32")
    codes = np.tile(index.codes_, (15, 1))[:4099]
    norms = DecodedNeighbors(hasher).fit(codes).norms_
    np.testing.assert_array_equal(norms[300:], norms[:-300])


def test_a_hasher_that_is_fitted_again_leaves_the_index_alone():
    X, hasher, index = index_of()
    before = index.kneighbors(X[:9])
    hasher.set_params(n_bits=12).fit(3 * X[:50] + 1)
    np.testing.assert_array_equal(index.kneighbors(X[:9]), before)


@pytest.mark.parametrize("metric", ["cosine", "inner_product"])
@pytest.mark.parametrize("unit", [2.0**-300, 2.0**100])
def test_the_length_of_a_query_does_not_change_the_order(metric, unit):
    X, _, index = index_of(metric=metric)
    expected = index.kneighbors(X[:9], return_distance=False)
    found = index.kneighbors(unit * X[:9], return_distance=False)
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("unit", [2.0**-80, 2.0**80])
def test_rows_may_be_measured_in_any_unit(unit):
    X = np.random.default_rng(0).normal(size=(200, 7))
    distances = []
    for rows in (X, unit * X):
        hasher = BinaryAutoencoderHasher(20, random_state=0).fit(rows)
        index = DecodedNeighbors(hasher).fit(hasher.transform(rows))
        distances.append(index.kneighbors(rows[:9])[0])
    np.testing.assert_allclose(*distances, rtol=1e-5, atol=1e-6)


def test_queries_that_are_too_large_are_refused():
    X, _, index = index_of(metric="euclidean")
    with pytest.raises(ValueError, match="X holds values too large beside those"):
        index.kneighbors(1e200 * X[:1])
    with pytest.raises(ValueError, match="too large for inner_product distances of float32"):
        index.set_params(metric="inner_product").kneighbors(1e200 * X[:1])


def few_rows():
    X = np.random.default_rng(5).normal(size=(90, 6))
    quantizer = AdditiveQuantizer(2, max_iter=1, random_state=0).fit(X)
    return quantizer, X, quantizer.transform(X)


def test_codes_are_added_and_removed_under_their_ids():
    quantizer, X, codes = few_rows()
    names = np.array([f"row {number}" for number in range(90)], dtype=object)
    index = DecodedNeighbors(quantizer, 4).fit(codes[:50], ids=names[:50])
    index.add(codes[50:], ids=names[50:])
    whole = DecodedNeighbors(quantizer, 4).fit(codes)
    distances, places = whole.kneighbors(X[:7])
    found = index.kneighbors(X[:7])
    np.testing.assert_array_equal(found[0], distances)
    np.testing.assert_array_equal(found[1], names[places])
    gone = names[places[:, 0]]
    index.remove(set(gone)).remove(["row 1000"], missing="ignore")
    kept = ~np.isin(names, gone)
    expected = DecodedNeighbors(quantizer, 4).fit(codes[kept]).kneighbors(X[:7])
    found = index.kneighbors(X[:7])
    np.testing.assert_array_equal(found[0], expected[0])
    np.testing.assert_array_equal(found[1], names[kept][expected[1]])
    np.testing.assert_array_equal(index.ids_, names[kept])
    np.testing.assert_array_equal(index.codes_, codes[kept])
    with pytest.raises(ValueError, match="row 1000"):
        index.remove(["row 1000"])
    with pytest.raises(ValueError, match="Got the ids of all"):
        index.remove(index.ids_)


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("share", [0.0, 0.02, 0.5])
def test_a_mask_ranks_the_codes_that_pass(metric, share):
    quantizer, X, codes = few_rows()
    rng = np.random.default_rng(1)
    index = DecodedNeighbors(quantizer, 5, metric=metric).fit(codes, ids=np.arange(90) + 1000)
    passes = rng.random((4, 90)) < share
    for mask in (shared := passes[0], passes, sparse.csr_matrix(passes)):
        distances, ids = index.kneighbors(X[:4], mask=mask)
        for query in range(4):
            places = np.flatnonzero(shared if mask is shared else passes[query])
            n = min(5, len(places))
            assert np.all(ids[query, n:] == -1)
            assert np.all(np.isinf(distances[query, n:]))
            if n:
                plain = DecodedNeighbors(quantizer, n, metric=metric).fit(codes[places])
                expected = plain.kneighbors(X[query : query + 1])
                np.testing.assert_array_equal(distances[query, :n], expected[0][0])
                np.testing.assert_array_equal(ids[query, :n], places[expected[1][0]] + 1000)
    with pytest.raises(ValueError, match="candidates and mask"):
        index.kneighbors(X[:1], mask=passes[0], candidates=[[1, 2, 3, 4, 5]])


@pytest.mark.parametrize("ids", [None, np.arange(90) * 3, [f"row {n}" for n in range(90)]])
def test_an_index_is_saved_and_loaded_with_its_hasher(tmp_path, ids):
    quantizer, X, codes = few_rows()
    index = DecodedNeighbors(quantizer, 3, metric="euclidean").fit(codes, ids=ids)
    index.remove(index.ids_[:2])
    index.save(tmp_path / "index")
    loaded = DecodedNeighbors.load(tmp_path / "index", quantizer)
    assert loaded.get_params()["metric"] == "euclidean"
    for one, other in zip(loaded.kneighbors(X[:5]), index.kneighbors(X[:5])):
        np.testing.assert_array_equal(one, other)
    np.testing.assert_array_equal(loaded.ids_, index.ids_)
    stranger = AdditiveQuantizer(2, max_iter=1, random_state=1).fit(X)
    with pytest.raises(ValueError, match="index"):
        DecodedNeighbors.load(tmp_path / "index", stranger)
    data = bytearray((tmp_path / "index").read_bytes())
    data[len(data) // 4] ^= 1
    (tmp_path / "damaged").write_bytes(data)
    with pytest.raises(ValueError, match="damaged"):
        DecodedNeighbors.load(tmp_path / "damaged", quantizer)
