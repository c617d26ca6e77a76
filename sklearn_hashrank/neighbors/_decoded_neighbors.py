"""DecodedNeighbors, the index that ranks codes by what they decode to."""

import os
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator, _fit_context
from sklearn.utils import check_array
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from .. import _kernels
from .._features.nearest_rows import METRICS
from .._features.tensors import as_host_array
from .._files.codes import model_of_codes
from .._files.model_names import check_one_model, model_name
from .._files.reading import reading
from .._solvers.additive import decode
from .._utils.binary_units import binary_units
from .._utils.documentation import HasPage
from .._utils.threads import over_rows
from .._utils.types import MatrixLike
from ..codes._formats import pack_codes, packed_width, unpack_codes
from . import _index_file
from ._checks import check_n_neighbors
from ._mask import Mask, read_mask
from ._rescore import read_candidates
from ._row_ids import RowIds, read_ids
from ._searches import MISSING

# Measured nanoseconds of a byte of a code: when all are scanned, by tables
# of nibbles and of bytes, and when candidates are ranked.
_BYTE_COST, _TABLE_COST, _CANDIDATE_COST = 0.03, 0.3, 2.0
_GROUP = 64  # queries whose tables are in memory at once
_SIGNS_OF_NIBBLES = 2.0 * (np.arange(16) >> np.arange(3, -1, -1)[:, None] & 1) - 1
_ROWS_AT_A_TIME = 1 << 12  # a multiple of the size of a block


class _Items(NamedTuple):
    """Codes as the kernels read them; a search takes them once, as `add` replaces them."""

    blocks: np.ndarray  # (n_blocks, n_bytes, BLOCK)
    lengths: np.ndarray  # of the decoded vectors, and ones up to the end of the last block
    divisors: np.ndarray  # the lengths, and 0 for vectors that are nothing but rounding
    n: int

    @classmethod
    def of(cls, packed: np.ndarray, lengths: np.ndarray, shortest: float) -> "_Items":
        size = _kernels.nibble_tables.BLOCK
        n_blocks = -(-len(packed) // size)
        blocks = np.zeros((n_blocks, packed.shape[1], size), np.uint8)
        for start in range(0, len(packed), _ROWS_AT_A_TIME):
            rows = packed[start : start + _ROWS_AT_A_TIME]
            padded = np.zeros((-(-len(rows) // size) * size, packed.shape[1]), np.uint8)
            padded[: len(rows)] = rows
            part = padded.reshape(-1, size, packed.shape[1]).transpose(0, 2, 1)
            blocks[start // size : start // size + len(part)] = part
        filled = np.ones(n_blocks * size, np.float32)
        filled[: len(packed)] = lengths
        is_short = filled <= shortest
        divisors = np.where(is_short, np.float32(0), filled) if is_short.any() else filled
        return cls(blocks, filled, divisors, len(packed))

    def codes(self) -> np.ndarray:
        """All codes, packed."""
        rows = self.blocks.transpose(0, 2, 1).reshape(-1, self.blocks.shape[1])
        return rows[: self.n]


def _places_that_pass(mask: Mask, rows: slice, n: int) -> np.ndarray:
    """Places for each of some queries, ascending, and `n` where there are no more."""
    found = [mask.of_query(query) for query in range(rows.start, rows.stop)]
    places = np.full((len(found), max(1, *map(len, found))), n, np.int64)
    for row, passing in zip(places, found):
        row[: len(passing)] = passing
    return places


class DecodedNeighbors(HasPage, BaseEstimator):
    """Nearest codes by the distance between the query and what the codes decode to.

    The query stays as it is, and no code is decoded: the product of a query and a decoded vector is
    a sum of entries of tables, one for each byte of the code, or for each four bits if the decoder
    is linear. For tables of four bits, a first pass with numbers that are rounded to bytes skips
    codes that cannot be among the nearest. The result is exact. Ties go to the lowest index.

    Parameters
    ----------
    hasher : hasher
        Fitted :class:`~sklearn_hashrank.AdditiveQuantizer` or
        :class:`~sklearn_hashrank.BinaryAutoencoderHasher`, or another hasher with ``decoder_``,
        ``decoder_intercept_`` and ``n_bits_``. It stays fitted in a clone of the index as a
        :class:`sklearn.frozen.FrozenEstimator`.
    n_neighbors : int, default=5
        Number of neighbors that :meth:`kneighbors` returns for each query.
    metric : {"cosine", "euclidean", "inner_product"}, default="cosine"
        Distance between the query and the decoded vectors. The cosine is the best of them for
        embeddings of length 1, because decoded vectors are shorter, some more than others. A vector
        that is zero, or zero but for rounding, has the cosine 0 with every query.
    n_jobs : int or None, default=None
        Threads over queries. None means 1 unless in a :obj:`joblib.parallel_config` context, -1
        means all processors.

    Attributes
    ----------
    codes_ : ndarray of shape (`n_samples_fit_`, ceil(n_bits / 8)), uint8
        The indexed codes, packed. A copy: the index keeps them in another order.
    norms_ : ndarray of shape (`n_samples_fit_`,), float32
        Lengths of the decoded vectors: four bytes of memory for each code. They follow from the
        codes, so that they need not be stored.
    ids_ : ndarray of shape (`n_samples_fit_`,)
        What the searches return for each code.
    model_ : str or None
        Digest of the hasher.
    n_samples_fit_ : int
        Number of codes in the index.

    See Also
    --------
    HammingNeighbors : Neighbors by Hamming distance, which finds candidates faster.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from sklearn_hashrank import AdditiveQuantizer
    >>> from sklearn_hashrank.neighbors import DecodedNeighbors
    >>> X, _ = load_digits(return_X_y=True)
    >>> quantizer = AdditiveQuantizer(n_bytes=8, random_state=0).fit(X)
    >>> index = DecodedNeighbors(quantizer, n_neighbors=3).fit(quantizer.transform(X))
    >>> distances, indices = index.kneighbors(X[:2])
    >>> indices[:, 0]
    array([0, 1])
    """

    _parameter_constraints: dict = {
        "hasher": [HasMethods(["inverse_transform"])],
        "n_neighbors": [Interval(Integral, 1, None, closed="left")],
        "metric": [StrOptions(set(METRICS))],
        "n_jobs": [Integral, None],
    }

    def __init__(
        self,
        hasher: Any,
        n_neighbors: int = 5,
        *,
        metric: str = "cosine",
        n_jobs: int | None = None,
    ):
        self.hasher = hasher
        self.n_neighbors = n_neighbors
        self.metric = metric
        self.n_jobs = n_jobs

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, codes: MatrixLike, y: None = None, *, ids: Any = None) -> "DecodedNeighbors":
        """Index codes that the hasher gave.

        Parameters
        ----------
        codes : array-like of shape (n_samples, n_columns)
            Codes as bits, signs or packed bytes. Mapped codes of a file that another hasher's
            ``encode_blocks`` wrote are an error.
        y : None
            Not used, present for scikit-learn's conventions.
        ids : array-like of shape (n_samples,), default=None
            Integers of 64 bits, or hashable objects, all different: what :meth:`kneighbors` returns
            in place of indices. None: the codes are numbered from 0 on.

        Returns
        -------
        self : DecodedNeighbors
        """
        check_is_fitted(self.hasher)
        self.model_ = model_name(self.hasher)
        check_one_model([("hasher", self.model_), ("codes", model_of_codes(codes))])
        self._n_bits = self.hasher.n_bits_
        self._set_decoder(self.hasher.decoder_, self.hasher.decoder_intercept_)
        packed = pack_codes(codes, self._n_bits)
        self._shortest = self._rounding_of_sums(packed.shape[1])
        n = len(packed)
        names = RowIds(n, None, n) if ids is None else RowIds(n, read_ids(ids, n), None)
        self._state = self._items(packed, self._lengths_of(packed)), names
        return self

    def add(self, codes: MatrixLike, ids: Any = None) -> "DecodedNeighbors":
        """Append codes to those of :meth:`fit`.

        Other threads may search meanwhile: a search that has begun does not see the new codes. Add
        and remove in one thread at a time.

        Parameters
        ----------
        codes : array-like of shape (n_samples, n_columns)
            Codes that the same hasher gave.
        ids : array-like of shape (n_samples,), default=None
            Needed if :meth:`fit` was given ids, and of the same kind. Without them the numbers of
            the codes go on where those of the earlier codes ended.

        Returns
        -------
        self : DecodedNeighbors
        """
        check_is_fitted(self)
        items, names = self._state
        check_one_model([("the index", self.model_), ("codes", model_of_codes(codes))])
        packed = pack_codes(codes, self._n_bits)
        names = names.with_more(ids, len(packed))
        lengths = np.concatenate([items.lengths[: items.n], self._lengths_of(packed)])
        self._state = self._items(np.concatenate([items.codes(), packed]), lengths), names
        return self

    def remove(self, ids: Any, *, missing: str = "raise") -> "DecodedNeighbors":
        """Take codes away. The others keep their ids, and their order.

        Parameters
        ----------
        ids : array-like of shape (n_removed,)
            As :meth:`kneighbors` returns them. One code must be left.
        missing : {"raise", "ignore"}, default="raise"
            Whether an id that is not in the index is an error.

        Returns
        -------
        self : DecodedNeighbors
        """
        check_is_fitted(self)
        items, names = self._state
        places = names.places_to_remove(ids, missing)
        if len(places):
            kept = np.delete(np.arange(items.n), places)
            left = self._items(items.codes()[kept], items.lengths[kept])
            self._state = left, names.without(places)
        return self

    def save(self, path: str | os.PathLike) -> None:
        """Write codes, ids and parameters to a file, but not the hasher; see :meth:`load`.

        Parameters
        ----------
        path : str or path-like
            Where to. A file that is there is replaced once the new one is complete.
        """
        check_is_fitted(self)
        items, names = self._state
        parameters = {
            name: value for name, value in self.get_params(deep=False).items() if name != "hasher"
        }
        _index_file.write_decoded(path, items.codes(), parameters, names, self.model_)

    @classmethod
    def load(cls, path: str | os.PathLike, hasher: Any) -> "DecodedNeighbors":
        """Open an index that :meth:`save` wrote, after a check of every byte.

        Parameters
        ----------
        path : str or path-like
            A file that :meth:`save` wrote.
        hasher : hasher
            The fitted hasher that made the codes. A file with codes of another hasher is an error.

        Returns
        -------
        index : DecodedNeighbors
            Fitted, with the parameters and ids of the saved one.
        """
        codes, parameters, names, model = _index_file.read_decoded(path)
        check_one_model([("hasher", model_name(hasher)), (os.fspath(path), model)])
        with reading(path, " is malformed, although its checksum is right ({})."):
            index = cls(hasher, **parameters).fit(codes)
        index._state = index._state[0], names
        return index

    def _items(self, packed: np.ndarray, lengths: np.ndarray) -> _Items:
        return _Items.of(packed, lengths, self._shortest)

    def _lengths_of(self, packed: np.ndarray) -> np.ndarray:
        """Lengths of decoded vectors, in the unit of the decoder."""
        lengths = np.empty(len(packed), np.float32)
        for start in range(0, len(packed), _ROWS_AT_A_TIME):
            rows = slice(start, start + _ROWS_AT_A_TIME)
            decoded = self._decode(packed[rows]) + self._intercept
            lengths[rows] = np.sqrt(np.einsum("ij,ij->i", decoded, decoded))
        return lengths

    def _rounding_of_sums(self, n_bytes: int) -> float:
        """Length below which the sums of tables, in float32, are nothing but rounding.

        They do not tell a direction of such a vector, as where its parts cancel.
        """
        tables = self._decoder if self._decoder.ndim == 3 else self._decoder[:, None]
        largest = np.sqrt(np.einsum("ijk,ijk->ij", tables, tables)).max(axis=1)
        size = largest.sum() + np.sqrt(self._intercept @ self._intercept)
        return float(np.finfo(np.float32).eps * (n_bytes + 4) * size)

    def _decode(self, packed: np.ndarray) -> np.ndarray:
        """Decoded vectors less the intercept."""
        if self._decoder.ndim == 3:
            return decode(self._decoder, packed)
        decoded: np.ndarray = unpack_codes(packed, self._n_bits, "signs") @ self._decoder
        return decoded

    @property
    def n_samples_fit_(self) -> int:
        """Number of codes in the index."""
        return self._state[0].n

    @property
    def codes_(self) -> np.ndarray:
        """The indexed codes, packed."""
        return self._state[0].codes()

    @property
    def ids_(self) -> np.ndarray:
        """What :meth:`kneighbors` returns for each code."""
        return self._state[1].array()

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_state")

    def _set_decoder(self, decoder: np.ndarray, intercept: np.ndarray) -> None:
        """Keep the decoder that made the codes, in float64: the hasher may be fitted again.

        In float64, the same query has the same distances in every batch, and so have equal codes.
        """
        self._unit = binary_units(np.append(decoder.ravel(), intercept)[None])[0]
        self._decoder = np.asarray(decoder, np.float64) / self._unit
        self._intercept = np.asarray(intercept, np.float64) / self._unit

    def _tables(self, queries: np.ndarray) -> np.ndarray:
        """Products of queries and what each value of a part of a code adds."""
        if self._decoder.ndim == 3:
            entries = self._decoder.reshape(-1, self._decoder.shape[2])
            products = (queries @ entries.T).astype(np.float32)
            return products.reshape(len(queries), *self._decoder.shape[:2])
        weights = np.zeros((len(queries), 2 * packed_width(self._n_bits), 4))
        weights.reshape(len(queries), -1)[:, : self._n_bits] = queries @ self._decoder.T
        return (weights @ _SIGNS_OF_NIBBLES).astype(np.float32)

    @property
    def norms_(self) -> np.ndarray:
        """Lengths of the decoded vectors."""
        with np.errstate(over="ignore", under="ignore"):
            items = self._state[0]
            return (items.lengths[: items.n] * self._unit).astype(np.float32)

    def kneighbors(
        self,
        X: MatrixLike,
        n_neighbors: int | None = None,
        return_distance: bool = True,
        *,
        candidates: Any = None,
        mask: Any = None,
    ) -> Any:
        """Find the codes whose decoded vectors are nearest.

        Parameters
        ----------
        X : array-like of shape (n_queries, n_features)
            Query vectors with the features that the hasher was fitted on, not codes.
        n_neighbors : int, default=None
            Neighbors of each query; None: the parameter `n_neighbors`.
        return_distance : bool, default=True
            Whether to return distances too.
        candidates : array-like of shape (n_queries, n_candidates), int, default=None
            Places of codes, from 0 on in the order of `ids_`, such as the nearest by Hamming
            distance: only these are ranked. A missing result, -1, stays missing, and a code that is
            named twice for a query counts once. None: all.
        mask : array-like of shape (`n_samples_fit_`,) or (n_queries, `n_samples_fit_`), bool, \
                default=None
            Which codes may be returned, in the order of `ids_`, to all queries or to each; a row
            for each query may also be one of a sparse matrix. Not together with `candidates`. None:
            all.

        Returns
        -------
        distances : ndarray of shape (n_queries, n_neighbors), float32
            One minus the cosine, the Euclidean distance, or the inner product times -1; inf if a
            result is missing, because candidates are or because fewer codes pass the mask. Only
            with ``return_distance=True``.
        indices : ndarray of shape (n_queries, n_neighbors), int64 or object
            In order of (distance, index); the ids of the codes if they have any. If a result is
            missing, -1, or None among ids that are objects. Distances are compared
            before the last rounding, so that some which differ may be returned as equal.
        """
        check_is_fitted(self)
        items, names = self._state
        queries = self._queries(X)
        k = check_n_neighbors(
            self.n_neighbors if n_neighbors is None else n_neighbors, items.n, False
        )
        if candidates is not None and mask is not None:
            raise ValueError("candidates and mask exclude each other. Got both.")
        numbers = passing = None
        if candidates is not None:
            numbers = read_candidates(candidates, len(queries), items.n, k)
        if mask is not None:
            passing = read_mask(mask, len(queries), items.n)
            if passing.is_shared:
                passing_places = passing.of_query(0)
                items = self._items(items.codes()[passing_places], items.lengths[passing_places])
        units = self._units(queries)
        queries = queries / units
        places = np.full((len(queries), k), MISSING, np.int64)
        scores = np.zeros((len(queries), k), np.float32)
        n_found = min(k, items.n)
        lengths = items.divisors if self.metric == "cosine" else items.lengths
        kernels = _kernels.nibble_tables
        kind = getattr(kernels, self.metric.upper())

        def search(rows):
            products = self._products(queries[rows])
            searched = items.blocks, lengths, items.n
            chosen = None if numbers is None else numbers[rows]
            if passing is not None and not passing.is_shared:
                chosen = _places_that_pass(passing, rows, items.n)
            if chosen is None:
                found = np.empty((len(products[1]), n_found), np.int64)
                best = np.empty(found.shape, np.float32)
                kernels.nearest(*products, *searched, kind, found, best)
                places[rows, :n_found], scores[rows, :n_found] = found, best
            else:
                kernels.nearest_candidates(
                    *products, *searched, chosen, kind, places[rows], scores[rows]
                )

        n_bytes = items.blocks.shape[1]
        if numbers is not None:
            cost = _CANDIDATE_COST * numbers.shape[1] * n_bytes
        elif passing is not None and not passing.is_shared:
            cost = _CANDIDATE_COST * items.n * n_bytes
        else:
            cost = (_BYTE_COST if self._decoder.ndim == 2 else _TABLE_COST) * items.blocks.size
        if items.n:
            over_rows(search, len(queries), self.n_jobs, cost=cost, most=_GROUP)
        is_missing = places == MISSING
        if passing is not None and passing.is_shared and items.n:
            places = np.where(is_missing, MISSING, passing_places[places])
        found = names.of(places)
        if not return_distance:
            return found
        distances = self._distances(queries, scores, units)
        distances[is_missing] = np.inf
        return distances, found

    def _products(self, queries: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Tables and offsets of queries, in float32."""
        with np.errstate(over="ignore", under="ignore", invalid="ignore"):
            if self.metric == "euclidean":  # twice the product, less the square of the length
                queries = 2 * queries
            tables = self._tables(queries)
            offsets = (queries @ self._intercept).astype(np.float32)
            largest = np.abs(tables).max(axis=2).sum(axis=1) + np.abs(offsets)
        if not np.isfinite(largest).all():
            raise ValueError(
                "X holds values too large beside those that the hasher was fitted on for "
                f"{self.metric} distances."
            )
        return tables, offsets

    def _queries(self, X: Any) -> np.ndarray:
        """Rows that have the columns of the decoder."""
        queries: np.ndarray = check_array(as_host_array(X, "X"), dtype=np.float64, input_name="X")
        n_features = self._decoder.shape[-1]
        if queries.shape[1] != n_features:
            raise ValueError(
                f"X must have {n_features} columns, like the rows that the hasher was fitted on. "
                f"Got {queries.shape[1]} columns."
            )
        return queries

    def _units(self, queries: np.ndarray) -> np.ndarray:
        """What each query is measured in: only differences need the unit of the decoder."""
        if self.metric == "euclidean":
            return np.full((len(queries), 1), self._unit)
        return binary_units(queries)[:, None]

    def _distances(self, queries: np.ndarray, scores: np.ndarray, units: np.ndarray) -> np.ndarray:
        lengths = np.sqrt(np.einsum("ij,ij->i", queries, queries))[:, None]
        if self.metric == "cosine":
            distances = 1 - np.divide(
                scores, lengths, out=np.zeros(scores.shape), where=lengths > 0
            )
        elif self.metric == "euclidean":
            distances = np.sqrt(np.maximum(lengths**2 - scores, 0)) * self._unit
        else:
            distances = -scores * units * self._unit
        with np.errstate(over="ignore", under="ignore"):
            distances = distances.astype(np.float32)
        if not np.isfinite(distances).all():
            raise ValueError(f"X holds values too large for {self.metric} distances of float32.")
        return distances
