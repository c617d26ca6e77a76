"""HammingNeighbors, the exact index over binary codes with scikit-learn's interface."""

import os
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
from sklearn.utils import check_array
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from .._features.tensors import as_host_array
from .._files.codes import model_of_codes
from .._files.model_names import check_one_model, model_name
from .._files.reading import reading
from .._utils.documentation import HasPage
from .._utils.types import MatrixLike
from ..codes._formats import CodeReader, as_code_matrix, packed_width
from . import _index_file
from ._candidates import first_bits, nearest_by_bits, nearest_by_projections
from ._checks import check_int, check_n_neighbors
from ._chunked import ChunkedCodes, are_chunked
from ._mask import Mask, read_mask
from ._projections import LONGEST_WEIGHTED, weighted_queries
from ._row_ids import RowIds, read_ids
from ._searches import MISSING, Found, Nearest, Within
from ._stored import StoredCodes

_LONGEST = 1 << 15  # bits of a code; distances and bounds take two bytes
_CANDIDATES = 1 << 22  # of a first pass, held at a time: some hundred megabytes


class HammingNeighbors(ClassNamePrefixFeaturesOutMixin, TransformerMixin, HasPage, BaseEstimator):
    """Exact neighbors of binary codes by Hamming distance.

    Neighbors come in order of (distance, index): ties, also at the k-th place, go to the lowest
    index, so that results are the same for every `algorithm` and `n_jobs`. Distances are numbers
    of differing bits. Codes may have ids, by which they are returned and removed, and a mask says
    which of them a search may return. Only with `prefix` or asymmetric distances,
    :meth:`kneighbors` may miss neighbors.

    Parameters
    ----------
    n_neighbors : int, default=5
        Number of neighbors that :meth:`kneighbors` returns for each query.
    radius : int, default=2
        Largest distance of what :meth:`radius_neighbors` returns.
    n_bits : int, default=None
        Length of a code. Needed to recognize packed bytes; without it codes are bits or signs.
    algorithm : {"auto", "brute", "multi_index"}, default="auto"
        "brute" scans all codes. "multi_index" looks up substrings in tables [1]_, which are built
        when first needed: sub-linear for a small radius. Where the tables would cost more than
        scanning, also for single queries of :meth:`kneighbors`, it scans. "auto" takes the tables
        where building and using them is estimated to cost less than scanning.
    distance : {"hamming", "asymmetric"}, default="hamming"
        "asymmetric": :meth:`kneighbors` takes the real projections of the queries in place of codes
        and sorts by the sum of the absolute projections of the bits that differ [2]_ [3]_. A bit
        that the query hardly decides hardly counts. All codes are scanned by projections that are
        rounded to four bits, and the candidates are sorted by the exact projections.
    prefix : int, default=None
        :meth:`kneighbors` finds candidates by the first `prefix` bits of the codes, fewer than
        all, and sorts them by the distance of all bits. It reads the first bits only, and
        misses neighbors that are not among the candidates; their distances and their order are
        exact. :meth:`radius_neighbors` compares all bits. See :ref:`prefix_codes`. None: all bits.
    n_candidates : int, default=None
        Number of codes that the first pass finds, by rounded projections or by `prefix`. None means
        ten times the number of neighbors.
    n_jobs : int or None, default=None
        Threads over blocks of queries. None means 1 unless in a :obj:`joblib.parallel_config`
        context, -1 means all processors.

    Attributes
    ----------
    n_bits_ : int
        Length of the indexed codes.
    n_samples_fit_ : int
        Number of codes in the index.
    codes_ : ndarray of shape (`n_samples_fit_`, ceil(n_bits / 8)), uint8
        All indexed codes, eight bits in a byte.
    ids_ : ndarray of shape (`n_samples_fit_`,), int64 or object
        What the searches return for each of them: the ids that were given, or else numbers in the
        order in which codes were added.
    model_ : str or None
        Digest of the hasher that made the codes, if it is known. Files keep it. Codes that are
        known to be another hasher's are refused.

    References
    ----------
    .. [1] M. Norouzi, A. Punjani and D. J. Fleet, "Fast exact search in Hamming space with
       multi-index hashing", IEEE TPAMI 36(6), 2014.
    .. [2] W. Dong, M. Charikar and K. Li, "Asymmetric distance estimation with sketches for
       similarity search in high-dimensional spaces", SIGIR 2008.
    .. [3] A. Gordo, F. Perronnin, Y. Gong and S. Lazebnik, "Asymmetric distances for binary
       embeddings", IEEE TPAMI 36(1), 2014.

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

    Codes with ids, of which two may be returned:

    >>> index = HammingNeighbors(1).fit([[0, 0, 0], [0, 1, 1], [0, 0, 1]], ids=["a", "b", "c"])
    >>> index.kneighbors([[0, 0, 1]], mask=[True, True, False], return_distance=False)
    array([['a']], dtype=object)
    """

    n_bits_: int
    model_: str | None

    _parameter_constraints: dict = {
        "n_neighbors": [Interval(Integral, 1, None, closed="left")],
        "radius": [Interval(Integral, 0, None, closed="left")],
        "n_bits": [Interval(Integral, 1, _LONGEST, closed="both"), None],
        "algorithm": [StrOptions({"auto", "brute", "multi_index"})],
        "distance": [StrOptions({"hamming", "asymmetric"})],
        "prefix": [Interval(Integral, 1, None, closed="left"), None],
        "n_candidates": [Interval(Integral, 1, None, closed="left"), None],
        "n_jobs": [Integral, None],
    }

    def __init__(
        self,
        n_neighbors: int = 5,
        *,
        radius: int = 2,
        n_bits: int | None = None,
        algorithm: str = "auto",
        distance: str = "hamming",
        prefix: int | None = None,
        n_candidates: int | None = None,
        n_jobs: int | None = None,
    ):
        self.n_neighbors = n_neighbors
        self.radius = radius
        self.n_bits = n_bits
        self.algorithm = algorithm
        self.distance = distance
        self.prefix = prefix
        self.n_candidates = n_candidates
        self.n_jobs = n_jobs

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(
        self, codes: MatrixLike, y: None = None, *, ids: Any = None, hasher: Any = None
    ) -> "HammingNeighbors":
        """Index codes.

        Parameters
        ----------
        codes : {array-like, dask array} of shape (n_samples, n_columns)
            Codes as bits, signs or packed bytes. Contiguous packed bytes of a multiple of 64 bits,
            also a memmap of them, are not copied: the index searches your array, so do not change
            it. A dask array is not computed: every search is a task for each chunk, which scans it,
            and results are the same as in memory. `codes_`, :meth:`save` and searches without
            queries compute all codes.
        y : None
            Not used, present for scikit-learn's conventions.
        ids : array-like of shape (n_samples,), default=None
            Integers of 64 bits, or hashable objects, all different: what the searches return in
            place of indices. None: the codes are numbered from 0 on.
        hasher : hasher, default=None
            The fitted hasher that made the codes. Its digest becomes `model_`. None uses the digest
            in the file of mapped codes, if ``encode_blocks`` wrote the file.

        Returns
        -------
        self : HammingNeighbors
        """
        return self._index(codes, ids, hasher, is_copied=False)

    def _index(self, codes: Any, ids: Any, hasher: Any, is_copied: bool) -> "HammingNeighbors":
        model = _model_of(codes, hasher)
        reader = CodeReader(self.n_bits)
        if are_chunked(codes):
            stored: StoredCodes | ChunkedCodes = ChunkedCodes(codes, reader)
        else:
            stored = StoredCodes([_read(codes, reader, is_copied)], reader)
        self._check_lengths(stored.n_bits)
        n = len(stored)
        self._store(
            stored, RowIds(n, None, n) if ids is None else RowIds(n, read_ids(ids, n), None)
        )
        self.model_ = model
        return self

    @_fit_context(prefer_skip_nested_validation=True)
    def partial_fit(self, codes: MatrixLike, y: None = None) -> "HammingNeighbors":
        """Append codes, as :meth:`add` does.

        Parameters
        ----------
        codes : array-like of shape (n_samples, n_columns)
            Codes in any format that goes with the earlier ones. They are copied.
        y : None
            Not used, present for scikit-learn's conventions.

        Returns
        -------
        self : HammingNeighbors
        """
        return self.add(codes) if hasattr(self, "_state") else self._index(codes, None, None, True)

    def add(self, codes: MatrixLike, ids: Any = None) -> "HammingNeighbors":
        """Append codes to those of :meth:`fit`.

        Other threads may search meanwhile: a search that has begun does not see the new codes.
        Add and remove in one thread at a time.

        Parameters
        ----------
        codes : array-like of shape (n_samples, n_columns)
            Codes in any format that goes with the earlier ones. They are copied.
        ids : array-like of shape (n_samples,), default=None
            Needed where :meth:`fit` was given ids, and of the same kind. Without them the numbers
            of the codes go on where those of the earlier ones ended.

        Returns
        -------
        self : HammingNeighbors
        """
        stored, names = self._in_memory(codes)
        check_one_model([("the index", self.model_), ("codes", model_of_codes(codes))])
        reader = stored.reader.copy()
        words = _read(codes, reader, is_copied=True)
        self._store(StoredCodes([*stored.blocks, words], reader), names.with_more(ids, len(words)))
        return self

    def remove(self, ids: Any, *, missing: str = "raise") -> "HammingNeighbors":
        """Take codes away. The others keep their ids, and their order.

        Other threads may search meanwhile: a search that has begun still finds the codes.

        Parameters
        ----------
        ids : array-like of shape (n_removed,)
            As the searches return them. One code must be left.
        missing : {"raise", "ignore"}, default="raise"
            Whether an id that is not in the index is an error.

        Returns
        -------
        self : HammingNeighbors
        """
        stored, names = self._in_memory()
        places = names.places_to_remove(ids, missing)
        if len(places):
            self._store(stored.without(places), names.without(places))
        return self

    def _in_memory(self, codes: Any = None) -> tuple[StoredCodes, RowIds]:
        """Codes and ids of an index that can change."""
        stored, names = self._snapshot()
        if are_chunked(codes) or isinstance(stored, ChunkedCodes):
            raise ValueError(
                "codes are added to and removed from those in memory. Got a dask array, or codes "
                "of files: pass the concatenation of all codes to fit."
            )
        return stored, names

    def _store(self, codes: StoredCodes | ChunkedCodes, ids: RowIds) -> None:
        if codes.n_bits > _LONGEST:
            raise ValueError(f"codes must have at most {_LONGEST} bits. Got {codes.n_bits}.")
        # One assignment, so that a search in another thread sees codes and ids that fit together.
        self._state = codes, ids
        self.n_bits_ = codes.n_bits

    def _snapshot(self) -> tuple[Any, RowIds]:
        """Codes and ids. A search takes them once, because `add` and `remove` replace them."""
        if not hasattr(self, "_state"):  # check_is_fitted itself takes longer than a small search
            check_is_fitted(self)
        return self._state

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_state")

    @property
    def n_samples_fit_(self) -> int:
        """Number of codes in the index."""
        return len(self._state[0])

    @property
    def ids_(self) -> np.ndarray:
        """What the searches return for each code."""
        return self._state[1].array()

    @property
    def codes_(self) -> np.ndarray:
        """All codes, packed. Read-only, because they are those that are searched."""
        stored, _ = self._state
        packed: np.ndarray = stored.words().view(np.uint8)[:, : packed_width(stored.n_bits)]
        packed.flags.writeable = False
        return packed

    def save(self, path: str | os.PathLike) -> None:
        """Write the codes and the parameters to a file; see :meth:`load`.

        Parameters
        ----------
        path : str or path-like
            Where to. A file that is there is replaced once the new one is complete, and an index
            that was loaded from it goes on working.
        """
        stored, names = self._snapshot()
        parameters = {**self.get_params(), "n_bits": stored.n_bits}
        _index_file.write(path, stored.words(), stored.n_bits, parameters, names, self.model_)

    @classmethod
    def load(
        cls,
        path: str | os.PathLike,
        mmap_mode: str | None = "r",
        *,
        verify: bool = True,
        hasher: Any = None,
    ) -> "HammingNeighbors":
        """Open an index that :meth:`save` wrote.

        Parameters
        ----------
        path : str or path-like
            A file that :meth:`save` wrote.
        mmap_mode : {"r", None}, default="r"
            Map the codes into memory, shared by all processes that do, or None to read them.
        verify : bool, default=True
            Compare all codes to their digest, which reads them once. Without it only the
            description of the file, its size and the bits that fill up the last word of a code are
            checked. Codes of whole words have none, and are not read.
        hasher : hasher, default=None
            The fitted hasher that encodes the queries. A file whose codes another hasher made is an
            error.

        Returns
        -------
        index : HammingNeighbors
            Fitted, with the parameters and ids of the saved one; `n_bits` is set. Codes that
            :meth:`add` appends stay in memory.
        """
        words, n_bits, parameters, ids, model = _index_file.read(path, mmap_mode, verify)
        if hasher is not None:
            check_one_model([("hasher", model_name(hasher)), (os.fspath(path), model)])
        with reading(path, " is malformed, although its checksum is right ({})."):
            index = cls(**parameters)
            index._validate_params()
            index._store(StoredCodes([words], CodeReader(n_bits)), ids)
            index.model_ = model
        return index

    def kneighbors(
        self,
        codes: Any = None,
        n_neighbors: int | None = None,
        return_distance: bool = True,
        *,
        mask: Any = None,
    ) -> Any:
        """Find the nearest codes.

        Parameters
        ----------
        codes : array-like of shape (n_queries, n_columns), default=None
            Queries, in any format that goes with the indexed codes. None: every indexed code
            against all the others, itself left out by position. With ``distance="asymmetric"`` the
            real projections of the queries, of shape (n_queries, n_bits), which a hasher's
            ``decision_function`` returns.
        n_neighbors : int, default=None
            Neighbors of each query; None: the parameter `n_neighbors`.
        return_distance : bool, default=True
            Whether to return distances too.
        mask : array-like of shape (`n_samples_fit_`,) or (n_queries, `n_samples_fit_`), bool, \
                default=None
            Which codes may be returned, in the order of `ids_`, to all queries or to each; a row
            for each query may also be one of a sparse matrix. None: all. With a mask all codes
            are scanned, whatever `algorithm` is.

        Returns
        -------
        distances : ndarray of shape (n_queries, n_neighbors), int32
            Only with ``return_distance=True``. With ``distance="asymmetric"`` float64. Where fewer
            codes pass the mask, -1 at the end, or inf for asymmetric distances.
        indices : ndarray of shape (n_queries, n_neighbors), int64 or object
            In order of (distance, index); the ids of the codes where they have any. Where fewer
            codes pass the mask, -1 at the end, or None where ids are objects.
        """
        stored, names = self._snapshot()
        distances, places = self._nearest_places(stored, codes, n_neighbors, mask)
        found = names.of(places)
        return (distances, found) if return_distance else found

    def _nearest_places(
        self, stored: Any, codes: Any, n_neighbors: int | None, mask: Any = None
    ) -> tuple[np.ndarray, np.ndarray]:
        projections = None
        if self.distance == "asymmetric":
            projections = _check_projections(codes, stored.n_bits)
            queries = CodeReader(stored.n_bits).words(projections > 0, "projections")
        else:
            queries = self._queries(stored, codes)
        leaves_out_self = codes is None
        k = self.n_neighbors if n_neighbors is None else n_neighbors
        k = check_n_neighbors(k, len(stored), leaves_out_self) + leaves_out_self
        passing = None if mask is None else read_mask(mask, len(queries), len(stored))
        if self.prefix is None and projections is None:
            search = Nearest(k), queries, self.algorithm, self.n_jobs, passing
            indices, distances = stored.find(*search).rows(k)
        else:
            distances, indices = self._best_candidates(
                stored, queries, k, leaves_out_self, passing, projections
            )
        if leaves_out_self:
            others = indices != np.arange(len(indices))[:, None]
            others[others.all(axis=1), -1] = False  # ties crowded it out: drop the last
            shape = (len(indices), k - 1)
            indices, distances = indices[others].reshape(shape), distances[others].reshape(shape)
        return distances, indices

    def radius_neighbors(
        self,
        codes: Any = None,
        radius: int | None = None,
        return_distance: bool = True,
        sort_results: bool = False,
        *,
        mask: Any = None,
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
            Order neighbors by (distance, index) instead of by index.
        mask : array-like of shape (`n_samples_fit_`,) or (n_queries, `n_samples_fit_`), bool, \
                default=None
            Which codes may be returned, in the order of `ids_`, to all queries or to each; a row
            for each query may also be one of a sparse matrix. None: all. With a mask all codes
            are scanned, whatever `algorithm` is.

        Returns
        -------
        distances : ndarray of shape (n_queries,), object
            Each an int32 array of Hamming distances. Only with ``return_distance=True``.
        indices : ndarray of shape (n_queries,), object
            Each an int64 array of indices of codes, or of their ids, where they have any.
        """
        stored, names = self._snapshot()
        found = self._all_within(stored, codes, radius, sort_results, mask)
        stops = np.cumsum(found.n_found)
        indices = _as_rows(names.of(found.indices), stops)
        return (_as_rows(found.distances, stops), indices) if return_distance else indices

    def kneighbors_graph(
        self, codes: Any = None, n_neighbors: int | None = None, mode: str = "connectivity"
    ) -> sparse.csr_matrix:
        """Sparse matrix of the nearest codes.

        Parameters
        ----------
        codes : array-like of shape (n_queries, n_columns), default=None
            Queries, in any format that goes with the indexed codes. None: every indexed code
            against all the others, itself left out by position.
        n_neighbors : int, default=None
            Neighbors of each query; None: the parameter `n_neighbors`.
        mode : {"connectivity", "distance"}, default="connectivity"
            Ones, or distances; a distance of 0 is stored, unlike what is not a neighbor.

        Returns
        -------
        graph : csr_matrix of shape (n_queries, `n_samples_fit_`), float64
            One stored entry for each neighbor of a query. Columns are in the order of `ids_`.
        """
        _check_mode(mode)
        stored, _ = self._snapshot()
        distances, indices = self._nearest_places(stored, codes, n_neighbors)
        n_found = np.full(len(indices), indices.shape[1])
        found = Found(n_found, indices.ravel(), distances.ravel())
        return _as_graph(found, len(stored), mode)

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
        codes : array-like of shape (n_queries, n_columns), default=None
            Queries, in any format that goes with the indexed codes. None: every indexed code
            against all the others, itself left out by position.
        radius : int, default=None
            Largest distance, included; None: the parameter `radius`.
        mode : {"connectivity", "distance"}, default="connectivity"
            Ones, or distances; a distance of 0 is stored, unlike what is not a neighbor.
        sort_results : bool, default=False
            Order neighbors by (distance, index) instead of by index.

        Returns
        -------
        graph : csr_matrix of shape (n_queries, `n_samples_fit_`), float64
            One stored entry for each neighbor of a query. Columns are in the order of `ids_`.
        """
        _check_mode(mode)
        stored, _ = self._snapshot()
        found = self._all_within(stored, codes, radius, sort_results)
        return _as_graph(found, len(stored), mode)

    def transform(self, X: Any) -> sparse.csr_matrix:
        """Sparse distances to the ``n_neighbors + 1`` nearest codes.

        One more than `n_neighbors`, because the rows that were indexed find themselves: what
        scikit-learn's ``KNeighborsTransformer`` does, for ``metric="precomputed"`` estimators.

        Parameters
        ----------
        X : array-like of shape (n_queries, n_columns)
            Queries, in any format that goes with the indexed codes.

        Returns
        -------
        graph : csr_matrix of shape (n_queries, `n_samples_fit_`), float64
            One stored entry for each neighbor of a query.
        """
        check_is_fitted(self)
        return self.kneighbors_graph(X, self.n_neighbors + 1, mode="distance")

    @property
    def _n_features_out(self) -> int:
        return self.n_samples_fit_

    def _queries(self, stored: Any, codes: Any) -> np.ndarray:
        if codes is None:
            words: np.ndarray = stored.words()
            return words
        check_one_model([("the index", self.model_), ("query codes", model_of_codes(codes))])
        queries: np.ndarray = stored.queries(codes, self.n_jobs)
        return queries

    def _best_candidates(
        self,
        stored: Any,
        queries: np.ndarray,
        k: int,
        with_self: bool,
        mask: Mask | None,
        projections: np.ndarray | None,
    ) -> tuple[np.ndarray, np.ndarray]:
        """Distances and places of the `k` best of the candidates that a first pass finds.

        `with_self` says that one of the `k` stands for the query itself.
        """
        n_candidates = (self.n_candidates or 10 * (k - with_self)) + with_self
        if n_candidates < k:
            raise ValueError(
                f"n_candidates must be at least n_neighbors = {k - with_self}. "
                f"Got {n_candidates - with_self}."
            )
        self._check_lengths(stored.n_bits)
        searched = stored if self.prefix is None else stored.first_bits(self.prefix)
        if projections is not None:
            first = weighted_queries(projections[:, : self.prefix])
        else:
            first = first_bits(queries, searched.n_bits)
        n_candidates = min(n_candidates, len(stored))
        distances = np.empty((len(queries), k), np.int32 if projections is None else np.float64)
        indices = np.empty((len(queries), k), np.int64)
        most = max(1, _CANDIDATES // n_candidates)
        for start in range(0, len(queries), most):
            rows = slice(start, start + most)
            own_mask = None if mask is None else mask.of_rows(rows)
            search = Nearest(n_candidates), first[rows], self.algorithm, self.n_jobs, own_mask
            candidates, _ = searched.find(*search).rows(n_candidates)
            if projections is not None:
                candidates.sort(axis=1)  # of equal distances the lowest index comes first
            words, places = stored.words_of(np.where(candidates == MISSING, 0, candidates))
            given = queries[rows], words, places, candidates, k, self.n_jobs
            if projections is None:
                distances[rows], indices[rows] = nearest_by_bits(*given)
            else:
                distances[rows], indices[rows] = nearest_by_projections(*given, projections[rows])
        return distances, indices

    def _check_lengths(self, n_bits: int) -> None:
        if self.prefix is not None and self.prefix >= n_bits:
            raise ValueError(
                f"prefix must be less than the {n_bits} bits of the codes. Got {self.prefix}."
            )
        n_scanned = self.prefix or n_bits
        if self.distance == "asymmetric" and n_scanned > LONGEST_WEIGHTED:
            raise ValueError(
                f"distance='asymmetric' scans at most {LONGEST_WEIGHTED} bits. Got codes of "
                f"{n_scanned}: set prefix."
            )

    def _all_within(
        self, stored: Any, codes: Any, radius: int | None, by_distance: bool, mask: Any = None
    ) -> Found:
        radius = self.radius if radius is None else radius
        check_int(radius, "radius", 0)
        queries = self._queries(stored, codes)
        passing = None if mask is None else read_mask(mask, len(queries), len(stored))
        search = Within(min(int(radius), stored.n_bits), by_distance)
        found = stored.find(search, queries, self.algorithm, self.n_jobs, passing)
        return found if codes is not None else found.where(found.indices != found.queries)


def _read(codes: Any, reader: CodeReader, is_copied: bool) -> np.ndarray:
    """Words of codes, which are a view of what was given only if they may be."""
    given = as_code_matrix(codes, "codes")
    words = np.ascontiguousarray(reader.words_of(given, "codes"))
    return words.copy() if is_copied and np.may_share_memory(words, given) else words


def _model_of(codes: Any, hasher: Any) -> str | None:
    """Name of the model of codes, by their hasher or by their file."""
    noted = model_of_codes(codes)
    if hasher is None:
        return noted
    check_is_fitted(hasher)
    model = model_name(hasher)
    check_one_model([("hasher", model), ("codes", noted)])
    return model or noted


def _check_projections(given: Any, n_bits: int) -> np.ndarray:
    if given is None:
        raise ValueError("distance='asymmetric' needs the projections of queries. Got None.")
    given = as_host_array(given, "projections")
    projections = check_array(given, dtype="numeric", input_name="projections")
    if projections.dtype.kind != "f" or projections.shape[1] != n_bits:
        raise ValueError(
            "distance='asymmetric' needs projections, floats with a column for each of the "
            f"{n_bits} bits, as decision_function returns them. Got {projections.dtype} of shape "
            f"{projections.shape}."
        )
    return projections.astype(np.float64)


def _as_graph(found: Found, n_codes: int, mode: str) -> sparse.csr_matrix:
    data = np.ones(len(found.indices))
    if mode == "distance":
        data = found.distances.astype(float)
    offsets = np.append(0, np.cumsum(found.n_found))
    return sparse.csr_matrix((data, found.indices, offsets), shape=(len(found.n_found), n_codes))


def _check_mode(mode: str) -> None:
    if mode not in ("connectivity", "distance"):
        raise ValueError(f"mode must be 'connectivity' or 'distance'. Got {mode!r} instead.")


def _as_rows(values: np.ndarray, stops: np.ndarray) -> np.ndarray:
    """Array of arrays, of which number i ends at ``stops[i]``."""
    rows = np.empty(len(stops), dtype=object)
    rows[:] = np.split(values, stops[:-1])
    return rows
