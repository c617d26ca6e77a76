"""Indexes of faiss by their factory strings, as methods of a comparison."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.preprocessing import normalize

from .._utils.extras import how_to_install, needed
from ._own_distance import OwnDistance, choose_metric

_QUERIES_AT_A_TIME = 256  # faiss copies their distances to all items
# Graphs look at as many items as are asked for, and refinements compute distances of so many again.
_BETTER_WITH_MORE = ("IndexRefine", "IndexIVFPQR", "IndexHNSW", "IndexNSG", "IndexNNDescent")


class FaissSearch(OwnDistance):
    """An index by its factory string, such as ``"OPQ32_96,PQ32"`` or ``"PCAR192,RaBitQ"``.

    It is trained on the training rows, holds the database, and ranks by its own approximate
    distances. `search` holds parameters as ``faiss.ParameterSpace`` reads them.
    """

    def __init__(
        self, factory: str, *, metric: str = "auto", search: str = "", eval_affinity: Any = "auto"
    ):
        self.factory = factory
        self.metric = metric
        self.search = search
        self.eval_affinity = eval_affinity

    def check_data(self, X: Any, y: Any = None) -> None:
        """Raise an error if faiss cannot make such an index for these rows."""
        self._validate_params()
        if sparse.issparse(X):
            raise ValueError("faiss takes dense rows. Got a sparse X.")
        metric = choose_metric(self.metric, self.eval_affinity, y)
        _check_ranks_alike(self._new_index(np.shape(X)[1], metric), self.factory)

    def fit(self, X: Any, y: Any = None) -> "FaissSearch":
        """Train the index."""
        self.check_data(X, y)
        X = np.asarray(X)
        self.metric_ = choose_metric(self.metric, self.eval_affinity, y)
        self.index_ = self._new_index(X.shape[1], self.metric_)
        with _one_thread_of_faiss():
            self.index_.train(_rows_for(self.metric_, X))
        return self

    def index(self, X: Any) -> "_FaissIndex":
        """Index rows of a database."""
        return _FaissIndex(self.index_, self.metric_, X)

    def _new_index(self, n_features: int, metric: str) -> Any:
        faiss = import_faiss()
        kind = faiss.METRIC_INNER_PRODUCT if metric == "inner_product" else faiss.METRIC_L2
        try:
            index = faiss.index_factory(n_features, self.factory, kind)
            if self.search:
                faiss.ParameterSpace().set_index_parameters(index, self.search)
        except (RuntimeError, TypeError) as error:
            text = str(error).rpartition("Error: ")[2] or str(error)
            with_search = f" and search={self.search!r}" if self.search else ""
            raise ValueError(
                f"faiss makes no index of {self.factory!r}{with_search} for {n_features} features: "
                f"{' '.join(text.split())}"
            ) from error
        return index


class _FaissIndex:
    def __init__(self, trained: Any, metric: str, X: Any):
        faiss = import_faiss()
        self._metric = metric
        self._index = faiss.clone_index(trained)
        empty = len(faiss.serialize_index(self._index))
        with _one_thread_of_faiss():
            self._index.add(_rows_for(metric, X))
        grown = len(faiss.serialize_index(self._index)) - empty
        # faiss writes a lattice without its codes.
        self.item_bytes = grown / self._index.ntotal or float(self._index.sa_code_size())
        self.n_bits = 8 * max(1, round(self.item_bytes))

    def distances(self, X: Any) -> np.ndarray:
        X = np.asarray(X)
        found = np.full((X.shape[0], self._index.ntotal), np.inf, dtype=np.float32)
        sign = -1 if self._metric == "inner_product" else 1
        for start in range(0, X.shape[0], _QUERIES_AT_A_TIME):
            some = slice(start, start + _QUERIES_AT_A_TIME)
            values, ids = self._search(X[some], self._index.ntotal)
            rows, places = np.nonzero(ids >= 0)
            found[some][rows, ids[rows, places]] = sign * values[rows, places]
        return found

    def nearest(self, X: Any, n_neighbors: int) -> np.ndarray:
        return self._search(X, n_neighbors)[1]

    def _search(self, X: Any, n_neighbors: int) -> tuple[np.ndarray, np.ndarray]:
        with _one_thread_of_faiss():
            found: tuple[np.ndarray, np.ndarray] = self._index.search(
                _rows_for(self._metric, X), n_neighbors
            )
        return found


def import_faiss() -> Any:
    """Import faiss, or say how to install it."""
    with needed(how_to_install("faiss")):
        import faiss
    return faiss


def _rows_for(metric: str, X: Any) -> np.ndarray:
    rows = np.ascontiguousarray(X, dtype=np.float32)
    return normalize(rows) if metric == "cosine" else rows


def _check_ranks_alike(index: Any, factory: str) -> None:
    """Raise an error for an index whose ranking of all items differs from a search for ten."""
    faiss = import_faiss()
    better = tuple(getattr(faiss, name) for name in _BETTER_WITH_MORE if hasattr(faiss, name))
    parts = [index]
    while parts:
        part = faiss.downcast_index(parts.pop())
        parts += [getattr(part, name) for name in ("index", "base_index") if hasattr(part, name)]
        if isinstance(part, better):
            raise ValueError(
                f"compare asks an index for a ranking of all items, and {factory!r} finds more the "
                "more items it is asked for: its graph or its refinement would be measured as "
                "better than searches for a few items are. Leave it out."
            )
        if isinstance(part, faiss.IndexIDMap):
            raise ValueError(f"compare numbers the items itself. Leave IDMap out of {factory!r}.")


@contextmanager
def _one_thread_of_faiss() -> Iterator[None]:
    """Use one thread, as for every method of a comparison."""
    faiss = import_faiss()
    before = faiss.omp_get_max_threads()
    faiss.omp_set_num_threads(1)
    try:
        yield
    finally:
        faiss.omp_set_num_threads(before)
