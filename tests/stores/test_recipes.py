"""Every store gives our neighbors where it searches exactly."""

import numpy as np
import pytest
from sklearn.datasets import load_digits

from sklearn_hashrank import HammingNeighbors, LSHHasher
from sklearn_hashrank.codes import hamming_distances
from sklearn_hashrank.metrics import index_recall_score
from tests.stores.recipes import duckdb, faiss, lancedb, postgres, qdrant, sqlite_vec, usearch

X, _ = load_digits(return_X_y=True)
N_QUERIES, K = 40, 10
EXACT = {
    "duckdb": duckdb.search,
    "faiss": faiss.search,
    "qdrant": qdrant.search,
    "sqlite-vec": sqlite_vec.search,
    "usearch": usearch.search,
}
GRAPHS = {
    "faiss": faiss.search_graph,
    "usearch": usearch.search_graph,
    "usearch, distinct codes": usearch.search_graph_of_distinct_codes,
}


@pytest.fixture(scope="module", params=[12, 64, 100])
def task(request):
    """Packed codes of items and of queries, their length, and the number of neighbors."""
    hasher = LSHHasher(request.param, output="packed", random_state=0)
    packed = hasher.fit_transform(X)
    return packed[N_QUERIES:], packed[:N_QUERIES], request.param, K


def exact_distances(items, queries, n_bits, k):
    return HammingNeighbors(k, n_bits=n_bits).fit(items).kneighbors(queries)[0]


def check_neighbors(found, task):
    """Distances are those of the exact nearest, and the ids lie at these distances."""
    items, queries, n_bits, k = task
    distances, ids = found
    np.testing.assert_array_equal(np.sort(distances, axis=1), exact_distances(*task))
    all_distances = hamming_distances(queries, items, n_bits=n_bits)
    np.testing.assert_array_equal(
        np.take_along_axis(all_distances, ids.astype(int), axis=1), distances
    )
    assert all(len(set(row)) == k for row in ids.tolist())


@pytest.mark.parametrize("search", EXACT.values(), ids=EXACT)
def test_exact_searches_give_our_neighbors(search, task):
    check_neighbors(search(*task), task)


def test_faiss_lists_give_our_neighbors_where_all_are_scanned(task):
    check_neighbors(faiss.search_lists(*task, n_lists=20, n_probe=20), task)


def test_postgres_gives_our_neighbors(task, uri):
    check_neighbors(postgres.search(*task, uri), task)


def test_lancedb_gives_our_neighbors(task, tmp_path):
    check_neighbors(lancedb.search(*task, tmp_path), task)


@pytest.mark.parametrize("recipe", [duckdb.search, postgres.search], ids=["duckdb", "postgres"])
def test_sql_puts_ties_in_our_order(recipe, task, uri):
    """Ids are equal, too, as the query orders by distance and id."""
    items, queries, n_bits, k = task
    found = recipe(*task, uri) if recipe is postgres.search else recipe(*task)
    ours = HammingNeighbors(k, n_bits=n_bits).fit(items).kneighbors(queries)
    np.testing.assert_array_equal(found, ours)


def test_candidates_by_the_first_bits_are_ours(task):
    items, queries, n_bits, k = task
    prefix = n_bits // 2
    index = HammingNeighbors(k, n_bits=n_bits, prefix=prefix, n_candidates=30).fit(items)
    found = duckdb.search_by_prefix(*task, prefix, 30)
    np.testing.assert_array_equal(found, index.kneighbors(queries))


@pytest.mark.parametrize("name", GRAPHS)
def test_graphs_find_most_distances(name, task):
    items, queries, n_bits, _ = task
    distances, ids = GRAPHS[name](*task)
    recall = index_recall_score(distances, exact_distances(*task))
    print(f"{name}, {n_bits} bits: recall by distance {recall:.3f}")
    assert recall > (0.98 if "distinct" in name else 0.9)
    all_distances = hamming_distances(queries, items, n_bits=n_bits)
    np.testing.assert_array_equal(
        np.take_along_axis(all_distances, ids.astype(int), axis=1), distances
    )
