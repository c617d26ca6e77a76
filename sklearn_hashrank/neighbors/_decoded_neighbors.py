"""DecodedNeighbors, the index that ranks codes by what they decode to."""

from numbers import Integral
from typing import Any

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
from .._solvers.additive import decode
from .._utils.binary_units import binary_units
from .._utils.documentation import HasPage
from .._utils.threads import over_rows
from .._utils.types import MatrixLike
from ..codes._formats import pack_codes, unpack_codes
from ._checks import check_n_neighbors
from ._rescore import read_candidates
from ._searches import MISSING

# Measured nanoseconds of a byte of a code: when all are scanned, by tables
# of nibbles and of bytes, and when candidates are ranked.
_BYTE_COST, _TABLE_COST, _CANDIDATE_COST = 0.03, 0.3, 2.0
_GROUP = 64  # queries whose tables are in memory at once
_SIGNS_OF_NIBBLES = 2.0 * (np.arange(16) >> np.arange(3, -1, -1)[:, None] & 1) - 1
_ROWS_AT_A_TIME = 1 << 12  # a multiple of the size of a block


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

    n_samples_fit_: int

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
    def fit(self, codes: MatrixLike, y: None = None) -> "DecodedNeighbors":
        """Index codes that the hasher gave.

        Parameters
        ----------
        codes : array-like of shape (n_samples, n_columns)
            Codes as bits, signs or packed bytes. Mapped codes of a file that another hasher's
            ``encode_blocks`` wrote are an error.
        y : None
            Not used, present for scikit-learn's conventions.

        Returns
        -------
        self : DecodedNeighbors
        """
        check_is_fitted(self.hasher)
        check_one_model([("hasher", model_name(self.hasher)), ("codes", model_of_codes(codes))])
        self._n_bits = self.hasher.n_bits_
        self._set_decoder(self.hasher.decoder_, self.hasher.decoder_intercept_)
        packed = pack_codes(codes, self._n_bits)
        self.n_samples_fit_ = len(packed)
        size = _kernels.nibble_tables.BLOCK
        n_blocks = -(-len(packed) // size)
        self._blocks = np.zeros((n_blocks, packed.shape[1], size), np.uint8)
        self._lengths = np.ones(n_blocks * size, np.float32)
        for start in range(0, self.n_samples_fit_, _ROWS_AT_A_TIME):
            rows = packed[start : start + _ROWS_AT_A_TIME]
            self._put(start, rows)
            decoded = self._decode(rows) + self._intercept
            lengths = np.sqrt(np.einsum("ij,ij->i", decoded, decoded))
            self._lengths[start : start + len(rows)] = lengths
        is_short = self._lengths <= self._rounding_of_sums(packed.shape[1])
        self._has_no_direction = is_short if is_short.any() else None
        return self

    def _rounding_of_sums(self, n_bytes: int) -> float:
        """Length below which the sums of tables, in float32, are nothing but rounding.

        They do not tell a direction of such a vector, as where its parts cancel.
        """
        tables = self._decoder if self._decoder.ndim == 3 else self._decoder[:, None]
        largest = np.sqrt(np.einsum("ijk,ijk->ij", tables, tables)).max(axis=1)
        size = largest.sum() + np.sqrt(self._intercept @ self._intercept)
        return float(np.finfo(np.float32).eps * (n_bytes + 4) * size)

    def _put(self, start: int, rows: np.ndarray) -> None:
        """Write packed codes from a place that starts a block."""
        size = self._blocks.shape[2]
        n_blocks = -(-len(rows) // size)
        padded = np.zeros((n_blocks * size, rows.shape[1]), np.uint8)
        padded[: len(rows)] = rows
        blocks = padded.reshape(n_blocks, size, -1).transpose(0, 2, 1)
        self._blocks[start // size : start // size + n_blocks] = blocks

    def _decode(self, packed: np.ndarray) -> np.ndarray:
        """Decoded vectors less the intercept."""
        if self._decoder.ndim == 3:
            return decode(self._decoder, packed)
        decoded: np.ndarray = unpack_codes(packed, self._n_bits, "signs") @ self._decoder
        return decoded

    @property
    def codes_(self) -> np.ndarray:
        """The indexed codes, packed."""
        rows = self._blocks.transpose(0, 2, 1).reshape(-1, self._blocks.shape[1])
        return rows[: self.n_samples_fit_]

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
        weights = np.zeros((len(queries), 2 * self._blocks.shape[1], 4))
        weights.reshape(len(queries), -1)[:, : self._n_bits] = queries @ self._decoder.T
        return (weights @ _SIGNS_OF_NIBBLES).astype(np.float32)

    @property
    def norms_(self) -> np.ndarray:
        """Lengths of the decoded vectors."""
        with np.errstate(over="ignore", under="ignore"):
            return (self._lengths[: self.n_samples_fit_] * self._unit).astype(np.float32)

    def kneighbors(
        self,
        X: MatrixLike,
        n_neighbors: int | None = None,
        return_distance: bool = True,
        *,
        candidates: Any = None,
    ) -> Any:
        """Find the codes whose decoded vectors are nearest.

        Parameters
        ----------
        X : array-like of shape (n_queries, n_features)
            Queries, as the hasher takes them: rows, not codes.
        n_neighbors : int, default=None
            Neighbors of each query; None: the parameter `n_neighbors`.
        return_distance : bool, default=True
            Whether to return distances too.
        candidates : array-like of shape (n_queries, n_candidates), int, default=None
            Numbers of codes, from 0 on in the order of `fit`, such as the nearest by Hamming
            distance: only these are ranked. A missing result, -1, stays missing, and a code that is
            named twice for a query counts once. None: all.

        Returns
        -------
        distances : ndarray of shape (n_queries, n_neighbors), float32
            One minus the cosine, the Euclidean distance, or the inner product times -1; inf where a
            candidate is missing. Only with ``return_distance=True``.
        indices : ndarray of shape (n_queries, n_neighbors), int64
            In order of (distance, index); -1 where a candidate is missing. Distances are compared
            before the last rounding, so that some which differ may be returned as equal.
        """
        check_is_fitted(self)
        queries = self._queries(X)
        k = check_n_neighbors(
            self.n_neighbors if n_neighbors is None else n_neighbors, self.n_samples_fit_, False
        )
        numbers = None
        if candidates is not None:
            numbers = read_candidates(candidates, len(queries), self.n_samples_fit_, k)
        units = self._units(queries)
        queries = queries / units
        indices = np.full((len(queries), k), MISSING, np.int64)
        scores = np.zeros((len(queries), k), np.float32)
        lengths = self._lengths
        if self.metric == "cosine" and self._has_no_direction is not None:
            lengths = np.where(self._has_no_direction, np.float32(0), lengths)

        def search(rows):
            kernels, products = _kernels.nibble_tables, self._products(queries[rows])
            items = self._blocks, lengths, self.n_samples_fit_
            settings = getattr(kernels, self.metric.upper()), indices[rows], scores[rows]
            if numbers is None:
                kernels.nearest(*products, *items, *settings)
            else:
                kernels.nearest_candidates(*products, *items, numbers[rows], *settings)

        if numbers is None:
            cost = (_BYTE_COST if self._decoder.ndim == 2 else _TABLE_COST) * self._blocks.size
        else:
            cost = _CANDIDATE_COST * numbers.shape[1] * self._blocks.shape[1]
        over_rows(search, len(queries), self.n_jobs, cost=cost, most=_GROUP)
        if not return_distance:
            return indices
        distances = self._distances(queries, scores, units)
        distances[indices == MISSING] = np.inf
        return distances, indices

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
                f"X must have {n_features} columns, as the rows that the hasher was fitted on. "
                f"Got {queries.shape[1]}."
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
