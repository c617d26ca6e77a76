"""Methods of a comparison that rank by a distance of their own, not by that of codes."""

import warnings
from abc import abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, clone
from sklearn.preprocessing import normalize

from .. import _kernels
from .._features.nearest_rows import METRICS, half_squares, of_unit_length, products
from .._utils.notation import split_notation
from ..affinity._auto import is_auto
from ..affinity._euclidean import EuclideanAffinity
from ..affinity._neighbors import NeighborAffinity
from ..codes._formats import bytes_to_words, unpack_codes
from ..metrics._retrieval import Encoded, encode, unwrap
from ..neighbors._decoded_neighbors import DecodedNeighbors
from ..neighbors._hamming_neighbors import HammingNeighbors
from ._faiss_clusterings import (
    ROWS_OF_A_CENTROID,
    clusterings_of,
    few_rows_allowed,
    import_faiss,
    parts_of,
)
from ._method_table import FAISS, check_method, method_from_name

_QUERIES_AT_A_TIME = 256
_EXAMPLE = "faiss:OPQ32_96,PQ32:metric=euclidean"


class OwnIndex:
    """Rows of a database, as a method keeps them.

    Attributes
    ----------
    n_bits : int
        Length of the codes, or eight for each byte of an item.
    item_bytes : float
        Memory of an item.
    """

    n_bits: int
    item_bytes: float

    @abstractmethod
    def distances(self, X: Any) -> np.ndarray:
        """Distance of every query to every item; infinite where an item is not found."""

    @abstractmethod
    def nearest(self, X: Any, n_neighbors: int) -> np.ndarray:
        """Numbers of the nearest items, as a user would ask for them."""


class OwnDistance(BaseEstimator):
    """A method of :func:`compare` that ranks by a distance of its own."""

    judged_by: Any

    @abstractmethod
    def check_data(self, X: Any, y: Any = None) -> None:
        """Raise an error where these training rows cannot be taken."""

    @abstractmethod
    def fit(self, X: Any, y: Any = None) -> "OwnDistance":
        """Learn from training rows."""

    @abstractmethod
    def index(self, X: Any) -> OwnIndex:
        """Index the rows of a database."""


class FaissSearch(OwnDistance):
    """An index of faiss by its factory string, as a method of :func:`compare`.

    It is trained on the training rows, holds the database, and ranks by its own approximate
    distances. Needs the extra ``faiss``.

    Parameters
    ----------
    factory : str
        What ``faiss.index_factory`` takes, such as ``"OPQ32_96,PQ32"`` or ``"PCAR192,RaBitQ"``.
    metric : {"auto", "cosine", "euclidean", "inner_product"}, default="auto"
        Distance between rows that the index approximates. For the cosine, rows are brought to
        length 1. ``"auto"``: that by which `judged_by` finds what is relevant, where it
        compares rows; else the cosine.
    search : str, default=""
        Parameters of the search, as ``faiss.ParameterSpace`` reads them, such as ``"nprobe=16"``.
    judged_by : "auto" or affinity object, default="auto"
        What says which rows are relevant. ``"auto"``: what :func:`compare` judges by.

    Attributes
    ----------
    index_ : faiss.Index
        The trained index, empty.
    metric_ : str
        The distance that it approximates.

    Examples
    --------
    >>> from sklearn_hashrank.comparison import FaissSearch
    >>> FaissSearch("PQ16", metric="euclidean")
    FaissSearch(factory='PQ16', metric='euclidean')
    """

    def __init__(
        self, factory: str, *, metric: str = "auto", search: str = "", judged_by: Any = "auto"
    ):
        self.factory = factory
        self.metric = metric
        self.search = search
        self.judged_by = judged_by

    def check_data(self, X: Any, y: Any = None) -> None:
        """Raise an error where faiss cannot make such an index, or cannot train it on these rows.

        It warns where faiss advises to train on more rows.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training rows.
        y : array-like, default=None
            Not used for learning.
        """
        if sparse.issparse(X):
            raise ValueError("faiss takes dense rows. Got a sparse X.")
        if np.ndim(X) != 2:
            raise ValueError(f"X must have two dimensions. Got {np.ndim(X)}.")
        n_rows, n_features = np.shape(X)
        index = self._new_index(n_features, _chosen_metric(self.metric, self.judged_by, y))
        _check_ranks_alike(index, self.factory)
        n_centroids = max((each.n_centroids for each in clusterings_of(index)), default=0)
        if n_centroids > n_rows:
            raise ValueError(
                f"faiss needs at least {n_centroids:,} training rows for {self.factory!r}, one for "
                f"each centroid. Got {n_rows:,}."
            )
        advised = ROWS_OF_A_CENTROID * n_centroids
        if n_rows < advised:
            warnings.warn(
                f"faiss advises {advised:,} training rows for {self.factory!r}. Got {n_rows:,}.",
                UserWarning,
                stacklevel=2,
            )

    def fit(self, X: Any, y: Any = None) -> "FaissSearch":
        """Train the index.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training rows.
        y : array-like, default=None
            Not used for learning.

        Returns
        -------
        self : FaissSearch
        """
        self.check_data(X, y)
        X = np.asarray(X)
        self.metric_ = _chosen_metric(self.metric, self.judged_by, y)
        self.index_ = self._new_index(X.shape[1], self.metric_)
        with _one_thread_of_faiss(), few_rows_allowed(self.index_):
            self.index_.train(_rows_for(self.metric_, X))
        return self

    def index(self, X: Any) -> "_FaissIndex":
        """Index rows of a database.

        Parameters
        ----------
        X : array-like of shape (n_items, n_features)
            Rows.

        Returns
        -------
        index : OwnIndex
        """
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


class _FaissIndex(OwnIndex):
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
        with _one_thread_of_faiss():
            for start in range(0, X.shape[0], _QUERIES_AT_A_TIME):
                some = slice(start, start + _QUERIES_AT_A_TIME)
                values, ids = self._index.search(
                    _rows_for(self._metric, X[some]), self._index.ntotal
                )
                rows, places = np.nonzero(ids >= 0)
                found[some][rows, ids[rows, places]] = sign * values[rows, places]
        return found

    def nearest(self, X: Any, n_neighbors: int) -> np.ndarray:
        with _one_thread_of_faiss():
            return self._index.search(_rows_for(self._metric, X), n_neighbors)[1]


class HasherSearch(OwnDistance):
    """A hasher whose codes are compared with rows, not with codes, as a method of :func:`compare`.

    All items are ranked. Codes take the same bytes as those that Hamming distance ranks.

    Parameters
    ----------
    estimator : estimator
        A hasher, or a pipeline or search that ends in one.
    distance : {"asymmetric", "decoded"}, default="asymmetric"
        ``"asymmetric"``: the projections of the query on the bits of the codes, as
        :class:`~sklearn_hashrank.HammingNeighbors` has it. ``"decoded"``: the query and what the
        codes decode to, as :class:`~sklearn_hashrank.neighbors.DecodedNeighbors` has it, of a
        :class:`~sklearn_hashrank.BinaryAutoencoderHasher`.
    metric : {"auto", "cosine", "euclidean", "inner_product"}, default="auto"
        Distance to decoded rows. ``"auto"``: that by which `judged_by` finds what is relevant,
        where it compares rows; else the cosine.
    judged_by : "auto" or affinity object, default="auto"
        What says which rows are relevant. ``"auto"``: what :func:`compare` judges by.

    Attributes
    ----------
    estimator_ : estimator
        The fitted clone.
    metric_ : str
        The distance to decoded rows.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from sklearn_hashrank import BinaryAutoencoderHasher, NeighborAffinity
    >>> from sklearn_hashrank.comparison import HasherSearch, compare
    >>> X, _ = load_digits(return_X_y=True)
    >>> ba = BinaryAutoencoderHasher()
    >>> found = compare(
    ...     X[:600],
    ...     methods={"codes": ba, "decoded": HasherSearch(ba, "decoded")},
    ...     n_bits=[32],
    ...     seeds=1,
    ...     affinity=NeighborAffinity(10),
    ...     measures="recall@10",
    ... )
    >>> by_codes, by_decoder = (result.scores["recall@10"] for result in found.results)
    >>> bool(by_decoder > by_codes)
    True
    """

    def __init__(
        self,
        estimator: Any,
        distance: str = "asymmetric",
        *,
        metric: str = "auto",
        judged_by: Any = "auto",
    ):
        self.estimator = estimator
        self.distance = distance
        self.metric = metric
        self.judged_by = judged_by

    def check_data(self, X: Any, y: Any = None) -> None:
        """Raise an error where the hasher cannot take these rows.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training rows.
        y : array-like, default=None
            What the hasher learns from.
        """
        _chosen_metric(self.metric, self.judged_by, y)
        if self.distance not in _NEEDED:
            raise ValueError(
                f"distance must be one of {tuple(_NEEDED)}. Got {self.distance!r} instead."
            )
        if self.distance == "asymmetric" and self.metric != "auto":
            raise ValueError(
                "metric is the distance to decoded rows, and distance='asymmetric' decodes none. "
                f"Got metric={self.metric!r}."
            )
        if not hasattr(self.estimator, "fit") or isinstance(self.estimator, type):
            raise ValueError(
                "estimator must be a hasher, or a pipeline or search that ends in one. "
                f"Got {self.estimator!r}."
            )
        if sparse.issparse(X):
            raise ValueError(f"distance={self.distance!r} needs dense rows. Got a sparse X.")
        check = getattr(self.estimator, "check_data", None)
        if callable(check):
            check(X, y)

    def fit(self, X: Any, y: Any = None) -> "HasherSearch":
        """Fit a clone of the hasher.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training rows.
        y : array-like, default=None
            What the hasher learns from.

        Returns
        -------
        self : HasherSearch
        """
        self.check_data(X, y)
        self.metric_ = _chosen_metric(self.metric, self.judged_by, y)
        self.estimator_ = clone(self.estimator).fit(X, y)
        hasher = unwrap(self.estimator_)[1]
        if not hasattr(hasher, _NEEDED[self.distance]):
            raise ValueError(
                f"distance={self.distance!r} needs a hasher with {_NEEDED[self.distance]}. "
                f"{type(hasher).__name__} has none."
            )
        return self

    def index(self, X: Any) -> OwnIndex:
        """Index the codes of rows of a database.

        Parameters
        ----------
        X : array-like of shape (n_items, n_features)
            Rows.

        Returns
        -------
        index : OwnIndex
        """
        if self.distance == "decoded":
            return _DecodedCodes(self.estimator_, self.metric_, X)
        return _SignsOfProjections(self.estimator_, X)


_NEEDED = {"asymmetric": "decision_function", "decoded": "decoder_"}
"""Distances of codes from rows, and what a fitted hasher needs for them."""


class _CodesOfHasher(OwnIndex):
    """Distances are computed once for equal codes, so that these tie whatever rounding does."""

    def __init__(self, estimator: Any, X: Any):
        self._before, self._hasher = unwrap(estimator)
        self._items: Encoded = encode(estimator, X)
        self.item_bytes = float(self._items.codes.shape[1])
        self.n_bits = self._items.n_bits
        words = bytes_to_words(self._items.codes)
        firsts, _, self._number = _kernels.hamming.find_equal_rows(
            words, np.zeros(len(words), np.int32), len(words)
        )
        self._distinct = self._items.codes[firsts]

    def distances(self, X: Any) -> np.ndarray:
        return self._to_codes(self._rows(X), self._distinct)[:, self._number]

    def _rows(self, X: Any) -> Any:
        for transformer in self._before:
            X = transformer.transform(X)
        return X

    @abstractmethod
    def _to_codes(self, X: Any, codes: np.ndarray) -> np.ndarray:
        """Distance of every query to every code."""


class _SignsOfProjections(_CodesOfHasher):
    def __init__(self, estimator: Any, X: Any):
        super().__init__(estimator, X)
        n_items = len(self._items.codes)
        self._neighbors = HammingNeighbors(
            n_bits=self.n_bits, rescore="asymmetric", n_candidates=n_items, n_jobs=1
        ).fit(self._items.codes)

    def _to_codes(self, X, codes):
        signs = unpack_codes(codes, self.n_bits, "signs").astype(np.float32)
        return -np.asarray(self._hasher.decision_function(X), dtype=np.float32) @ signs.T

    def nearest(self, X: Any, n_neighbors: int) -> np.ndarray:
        projections = self._hasher.decision_function(self._rows(X))
        found: np.ndarray = self._neighbors.kneighbors(
            n_neighbors=n_neighbors, projections=projections
        )[1]
        return found


class _DecodedCodes(_CodesOfHasher):
    def __init__(self, estimator: Any, metric: str, X: Any):
        super().__init__(estimator, X)
        self._neighbors = DecodedNeighbors(self._hasher, metric=metric, n_jobs=1)
        self._neighbors.fit(self._items.codes)
        if metric != "inner_product":
            self.item_bytes += self._neighbors.norms_.itemsize

    def _to_codes(self, X, codes):
        decoded = self._hasher.inverse_transform(codes)
        return _pairwise(self._neighbors.metric, X, decoded)

    def nearest(self, X: Any, n_neighbors: int) -> np.ndarray:
        found: np.ndarray = self._neighbors.kneighbors(
            self._rows(X), n_neighbors, return_distance=False
        )
        return found


def _pairwise(metric: str, queries: Any, rows: np.ndarray) -> np.ndarray:
    """What orders rows as a distance does: nearness with the sign turned."""
    queries = np.asarray(queries, dtype=np.float64)
    rows = np.asarray(rows, dtype=np.float64)
    if metric == "cosine":
        rows = of_unit_length(rows)
    return (half_squares(rows) if metric == "euclidean" else 0) - products(queries, rows)


def method_of_comparison(notation: str) -> Any:
    """Return what a name stands for: a hasher, or a method that ranks by a distance of its own.

    Parameters
    ----------
    notation : str
        As for :func:`method_from_name`; or ``"faiss:FACTORY"``, followed by ``:metric=`` and
        ``:search=``; or the name of a hasher with ``:distance=asymmetric`` or
        ``:distance=decoded``.

    Returns
    -------
    method : BaseHasher, FaissSearch or HasherSearch

    Examples
    --------
    >>> from sklearn_hashrank.comparison import method_of_comparison
    >>> method_of_comparison("faiss:OPQ32_96,PQ32")
    FaissSearch(factory='OPQ32_96,PQ32')
    >>> method_of_comparison("autoencoder:distance=decoded")
    HasherSearch(distance='decoded', estimator=BinaryAutoencoderHasher())
    """
    name, *parts = (part.strip() for part in notation.split(":"))
    if name == FAISS:
        if not parts or not parts[0]:
            raise ValueError(f"method {notation!r} needs a factory string, as in {_EXAMPLE}.")
        try:
            import_faiss()
        except ImportError as error:
            raise ValueError(f"method {notation!r}: {error}") from error
        rest = ":".join([FAISS, *parts[1:]])
        _, options = split_notation(rest, "method", _EXAMPLE)
        _check_options(notation, options, {"metric", "search"})
        _check_metric(options.get("metric", "auto"))
        return FaissSearch(parts[0], **options)
    own = {part for part in parts if part.partition("=")[0].strip() in ("distance", "metric")}
    if not any(part.partition("=")[0].strip() == "distance" for part in own):
        return method_from_name(notation)
    rest = ":".join([name, *(part for part in parts if part in own)])
    _, options = split_notation(rest, "method", "autoencoder:distance=decoded")
    hasher = method_from_name(":".join([name, *(part for part in parts if part not in own)]))
    _check_metric(options.get("metric", "auto"))
    if options["distance"] not in _NEEDED:
        raise ValueError(
            f"distance of method {notation!r} must be one of {tuple(_NEEDED)}. "
            f"Got {options['distance']!r} instead."
        )
    if options["distance"] == "decoded" and not hasattr(hasher, "inverse_transform"):
        raise ValueError(f"method {notation!r}: {type(hasher).__name__} has no decoder.")
    return check_method(HasherSearch(hasher, **options), notation)


def _check_options(notation: str, options: dict[str, Any], accepted: set[str]) -> None:
    for name in options:
        if name not in accepted:
            raise ValueError(
                f"method {notation!r} has no parameter {name!r}. Its parameters: "
                f"{', '.join(sorted(accepted))}."
            )


def _check_metric(metric: Any) -> None:
    if metric not in ("auto", *METRICS):
        raise ValueError(f"metric must be one of {('auto', *METRICS)}. Got {metric!r} instead.")


def _chosen_metric(metric: str, affinity: Any, y: Any) -> str:
    """Return the distance between rows by which items are judged, where they are judged so."""
    _check_metric(metric)
    if metric != "auto":
        return metric
    if isinstance(affinity, NeighborAffinity):
        return affinity.metric
    compares_rows = y is None and (is_auto(affinity) or isinstance(affinity, EuclideanAffinity))
    return "euclidean" if compares_rows else "cosine"


def _rows_for(metric: str, X: Any) -> np.ndarray:
    """Rows as faiss takes them."""
    rows = np.ascontiguousarray(X, dtype=np.float32)
    return normalize(rows) if metric == "cosine" else rows


# Graphs look at as many items as are asked for, and refinements compute distances of so many again.
_BETTER_WITH_MORE = ("IndexRefine", "IndexIVFPQR", "IndexHNSW", "IndexNSG", "IndexNNDescent")


def _check_ranks_alike(index: Any, factory: str) -> None:
    """Refuse an index whose ranking of all items does not begin as a search for ten does."""
    faiss = import_faiss()
    better = tuple(getattr(faiss, name) for name in _BETTER_WITH_MORE if hasattr(faiss, name))
    for part in parts_of(index):
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
