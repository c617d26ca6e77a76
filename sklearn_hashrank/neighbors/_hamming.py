"""HammingNeighbors: an exact index over binary codes, with scikit-learn's face."""

import copy
from numbers import Integral
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import (
    BaseEstimator,
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
    _fit_context,
)
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from ..codes import CodeReader, packed_width
from . import _brute

_LONGEST = (1 << 16) - 2  # bits of a code; a distance and a bound above it take two bytes


class HammingNeighbors(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Exact neighbours of binary codes by Hamming distance.

    Neighbours come in order of (distance, index): ties, also at the k-th place, go to the lowest
    index, so that results are the same for every `algorithm` and `n_jobs`. Distances are numbers
    of differing bits.

    Parameters
    ----------
    n_neighbors : int, default=5
        Neighbours that :meth:`kneighbors` returns.
    radius : int, default=2
        Largest distance of what :meth:`radius_neighbors` returns.
    n_bits : int, default=None
        Length of a code. Needed to recognise packed bytes; without it codes are bits or signs.
    algorithm : {"auto", "brute"}, default="auto"
        How to search.
    n_jobs : int, default=None
        Threads over blocks of queries. None means 1 unless in a :obj:`joblib.parallel_config`
        context, -1 means all processors.

    Attributes
    ----------
    n_bits_ : int
        Length of a code.
    n_samples_fit_ : int
        Codes in the index.
    codes_ : ndarray of shape (n_samples_fit_, ceil(n_bits_ / 8)), uint8
        All codes, packed.

    Examples
    --------
    >>> from sklearn_hashrank import HammingNeighbors
    >>> index = HammingNeighbors(n_neighbors=2).fit([[0, 0, 0], [0, 1, 1], [0, 0, 1], [0, 0, 1]])
    >>> distances, indices = index.kneighbors([[0, 0, 1]])
    >>> indices
    array([[2, 3]])
    >>> distances
    array([[0, 0]], dtype=int32)
    >>> index.radius_neighbors_graph([[0, 0, 1]], radius=1).toarray()
    array([[1., 1., 1., 1.]])
    """

    _parameter_constraints: dict = {
        "n_neighbors": [Interval(Integral, 1, None, closed="left")],
        "radius": [Interval(Integral, 0, None, closed="left")],
        "n_bits": [Interval(Integral, 1, _LONGEST, closed="both"), None],
        "algorithm": [StrOptions({"auto", "brute"})],
        "n_jobs": [Integral, None],
    }

    def __init__(
        self,
        n_neighbors: int = 5,
        *,
        radius: int = 2,
        n_bits: int | None = None,
        algorithm: str = "auto",
        n_jobs: int | None = None,
    ):
        self.n_neighbors = n_neighbors
        self.radius = radius
        self.n_bits = n_bits
        self.algorithm = algorithm
        self.n_jobs = n_jobs

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, codes: Any, y: Any = None) -> "HammingNeighbors":
        """Index codes.

        Parameters
        ----------
        codes : array-like of shape (n_samples, n_columns)
            Codes as bits, signs or packed bytes. Contiguous packed bytes of a multiple of 64 bits,
            also a memmap of them, are not copied.
        y : ignored

        Returns
        -------
        self
        """
        return self._add(codes, CodeReader(self.n_bits), [])

    @_fit_context(prefer_skip_nested_validation=True)
    def partial_fit(self, codes: Any, y: Any = None) -> "HammingNeighbors":
        """Append codes; their indices go on where those of the earlier ones ended.

        Parameters
        ----------
        codes : array-like of shape (n_samples, n_columns)
            Codes in any format that goes with the earlier ones.
        y : ignored

        Returns
        -------
        self
        """
        if not hasattr(self, "n_samples_fit_"):
            return self._add(codes, CodeReader(self.n_bits), [])
        return self._add(codes, copy.deepcopy(self._reader), self._blocks)

    def _add(self, codes: Any, reader: CodeReader, blocks: list) -> "HammingNeighbors":
        words = np.ascontiguousarray(reader.words(codes, "codes"))
        n_bits = int(reader.n_bits or 0)  # the reader knows it by now
        if n_bits > _LONGEST:
            raise ValueError(f"codes must have at most {_LONGEST} bits. Got {n_bits}.")
        self._reader, self._blocks = reader, [*blocks, words]
        self.n_bits_ = n_bits
        self.n_samples_fit_ = sum(map(len, self._blocks))
        return self

    @property
    def codes_(self) -> np.ndarray:
        """All codes, packed."""
        packed: np.ndarray = self._words().view(np.uint8)
        return packed[:, : packed_width(self.n_bits_)]

    def _words(self) -> np.ndarray:
        if len(self._blocks) > 1:
            self._blocks = [np.concatenate(self._blocks)]
        return self._blocks[0]

    def kneighbors(
        self, codes: Any = None, n_neighbors: int | None = None, return_distance: bool = True
    ) -> Any:
        """Find the nearest codes.

        Parameters
        ----------
        codes : array-like of shape (n_queries, n_columns), default=None
            Queries, in any format that goes with the indexed codes. None: every indexed code
            against all the others, itself left out by position.
        n_neighbors : int, default=None
            Neighbours of each query; None: the parameter `n_neighbors`.
        return_distance : bool, default=True
            Whether to return distances too.

        Returns
        -------
        distances : ndarray of shape (n_queries, n_neighbors), int32
            Only with ``return_distance=True``.
        indices : ndarray of shape (n_queries, n_neighbors), int64
            In order of (distance, index).
        """
        check_is_fitted(self)
        k = self._check_n_neighbors(n_neighbors, codes is None)
        queries = self._queries(codes)
        indices, distances = self._k_nearest(queries, k + (codes is None))
        if codes is None:
            indices, distances = _without_self(indices, distances)
        return (distances, indices) if return_distance else indices

    def radius_neighbors(
        self,
        codes: Any = None,
        radius: int | None = None,
        return_distance: bool = True,
        sort_results: bool = False,
    ) -> Any:
        """Find all codes within a radius.

        Parameters
        ----------
        codes : array-like of shape (n_queries, n_columns), default=None
            Queries, in any format that goes with the indexed codes. None: every indexed code
            against all the others, itself left out by position.
        radius : int, default=None
            Largest distance, included; None: the parameter `radius`.
        return_distance : bool, default=True
            Whether to return distances too.
        sort_results : bool, default=False
            Order neighbours by (distance, index) instead of by index.

        Returns
        -------
        distances : ndarray of shape (n_queries,), object
            Each an int32 array. Only with ``return_distance=True``.
        indices : ndarray of shape (n_queries,), object
            Each an int64 array.
        """
        n_found, indices, distances = self._all_within(codes, radius, sort_results)
        stops = np.cumsum(n_found)
        indices = _as_rows(indices, stops)
        return (_as_rows(distances, stops), indices) if return_distance else indices

    def kneighbors_graph(
        self, codes: Any = None, n_neighbors: int | None = None, mode: str = "connectivity"
    ) -> sparse.csr_matrix:
        """Sparse matrix of the nearest codes.

        Parameters
        ----------
        codes, n_neighbors :
            See :meth:`kneighbors`.
        mode : {"connectivity", "distance"}, default="connectivity"
            Ones, or distances; a distance of 0 is stored, unlike what is not a neighbour.

        Returns
        -------
        graph : csr_matrix of shape (n_queries, n_samples_fit_), float64
        """
        check_mode(mode)
        distances, indices = self.kneighbors(codes, n_neighbors)
        stops = np.arange(1, len(indices) + 1) * indices.shape[1]
        return self._graph(stops, indices.ravel(), distances.ravel(), mode)

    def radius_neighbors_graph(
        self,
        codes: Any = None,
        radius: int | None = None,
        mode: str = "connectivity",
        sort_results: bool = False,
    ) -> sparse.csr_matrix:
        """Sparse matrix of the codes within a radius.

        Parameters
        ----------
        codes, radius, sort_results :
            See :meth:`radius_neighbors`.
        mode : {"connectivity", "distance"}, default="connectivity"
            Ones, or distances; a distance of 0 is stored, unlike what is not a neighbour.

        Returns
        -------
        graph : csr_matrix of shape (n_queries, n_samples_fit_), float64
        """
        check_mode(mode)
        n_found, indices, distances = self._all_within(codes, radius, sort_results)
        return self._graph(np.cumsum(n_found), indices, distances, mode)

    def transform(self, X: Any) -> sparse.csr_matrix:
        """Sparse distances to the ``n_neighbors + 1`` nearest codes.

        One more than `n_neighbors`, because the rows that were indexed find themselves: what
        scikit-learn's ``KNeighborsTransformer`` does, for ``metric="precomputed"`` estimators.

        Parameters
        ----------
        X : array-like of shape (n_queries, n_columns)
            Codes.

        Returns
        -------
        graph : csr_matrix of shape (n_queries, n_samples_fit_), float64
        """
        check_is_fitted(self)
        return self.kneighbors_graph(X, self.n_neighbors + 1, mode="distance")

    @property
    def _n_features_out(self) -> int:
        return self.n_samples_fit_

    def _queries(self, codes: Any) -> np.ndarray:
        if codes is None:
            return self._words()
        reader = copy.deepcopy(self._reader)  # what one query holds says nothing about the next
        return np.ascontiguousarray(reader.words(codes, "query codes"))

    def _k_nearest(self, queries: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
        return _brute.k_nearest(queries, self._words(), k, self.n_bits_, self.n_jobs)

    def _all_within(self, codes: Any, radius: int | None, by_distance: bool) -> _brute.Flat:
        check_is_fitted(self)
        radius = self.radius if radius is None else radius
        _check_int(radius, "radius", 0)
        queries = self._queries(codes)
        radius = min(radius, self.n_bits_)
        found = _brute.all_within(
            queries, self._words(), radius, self.n_bits_, by_distance, self.n_jobs
        )
        if codes is not None:
            return found
        n_found, indices, distances = found
        others = indices != np.repeat(np.arange(len(queries)), n_found)
        return n_found - 1, indices[others], distances[others]

    def _check_n_neighbors(self, n_neighbors: int | None, exclude_self: bool) -> int:
        k = self.n_neighbors if n_neighbors is None else n_neighbors
        _check_int(k, "n_neighbors", 1)
        if k > self.n_samples_fit_ - exclude_self:
            others = ", of which each leaves out itself" if exclude_self else ""
            raise ValueError(
                f"n_neighbors = {k} neighbours were asked for, but n_samples_fit_ = "
                f"{self.n_samples_fit_} codes are indexed{others}."
            )
        return int(k)

    def _graph(
        self, stops: np.ndarray, indices: np.ndarray, distances: np.ndarray, mode: str
    ) -> sparse.csr_matrix:
        data = distances.astype(float) if mode == "distance" else np.ones(len(indices))
        shape = (len(stops), self.n_samples_fit_)
        return sparse.csr_matrix((data, indices, np.concatenate([[0], stops])), shape=shape)


def _check_int(value: Any, name: str, least: int) -> None:
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, Integral) or value < least:
        raise ValueError(f"{name} must be an int >= {least}. Got {value!r} instead.")


def check_mode(mode: str) -> None:
    """Refuse what is not a kind of graph."""
    if mode not in ("connectivity", "distance"):
        raise ValueError(f"mode must be 'connectivity' or 'distance'. Got {mode!r} instead.")


def _without_self(indices: np.ndarray, distances: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Drop row i from its own k + 1 neighbours; where ties crowded it out, drop the last."""
    others = indices != np.arange(len(indices))[:, None]
    others[others.all(axis=1), -1] = False
    shape = (len(indices), indices.shape[1] - 1)
    return indices[others].reshape(shape), distances[others].reshape(shape)


def _as_rows(values: np.ndarray, stops: np.ndarray) -> np.ndarray:
    rows = np.empty(len(stops), dtype=object)
    rows[:] = np.split(values, stops[:-1])
    return rows
