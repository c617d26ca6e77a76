"""Additive quantizer: bytes that name the entries of tables, whose sums reconstruct rows."""

from numbers import Integral, Real
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import _fit_context
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval
from sklearn.utils.validation import check_is_fitted

from .._features.block_rows import is_dask_array
from .._features.row_slices import block_slices
from .._features.space import FeatureSpace
from .._solvers.additive import (
    N_VALUES,
    coupling_of,
    deal_directions,
    decode,
    encode,
    learn_tables,
)
from .._utils.parameters import is_int
from .._utils.threads import one_blas_thread, over_blocks
from .._utils.types import MatrixLike, Target
from ..base import BaseHasher
from ..codes._formats import pack_codes

__all__ = ["AdditiveQuantizer"]

# As many as one k-means of 256 centroids learns from in faiss.
_MOST_ROWS = 1 << 16
# Tables that are learned together, by products of all of their entries: 64 MB for 16.
_MOST_TABLES_TOGETHER = 16
# Principal directions for each byte. A byte has eight bits, and directions of which one explains
# less than a quarter of a bit are reconstructed by their mean.
_DIRECTIONS_OF_A_BYTE = 32
# As of faiss. Twice as many lower the error by less than more alternations do.
_BEAM_WIDTH_OF_FIT = 5
_EXACT_FEATURES = 2048  # up to so many, principal directions are exact


class AdditiveQuantizer(BaseHasher):
    """Codes of a few bytes from which rows are reconstructed: the sums of one entry of each table.

    A byte of a code names one of 256 vectors of its table, and a code decodes to the sum of the
    vectors that it names. Codes and tables are found in turn: the tables by least squares, the
    codes by a beam search and descent. Codes are searched by
    :class:`~sklearn_hashrank.neighbors.DecodedNeighbors`, which compares queries with decoded
    vectors. Their bits mean nothing by themselves: do not rank these codes by Hamming distance.

    Parameters
    ----------
    n_bytes : int, default=8
        Length of a code, and number of tables.
    max_iter : int, default=15
        Number of alternations of codes and tables. The time of `fit` is proportional to it.
    ridge : float, default=3.0
        Number of rows of zeros that each entry is averaged with. Use more when rows are few.
    beam_width : int, default=8
        Number of partial codes that the search keeps while it encodes. More lower the error and
        take longer. During `fit`, at most five are kept.
    random_state : int, RandomState instance or None, default=None
        Samples the rows of which the first tables are made, and the noise that keeps the
        alternation from a poor optimum. Also samples training rows if there are more than 65,536.
    n_jobs : int or None, default=None
        Threads over rows, in `fit` and :meth:`transform`. Codes do not depend on it. None means 1
        unless in a :obj:`joblib.parallel_config` context, -1 means all processors.
    verbose : int, default=0
        If above 0, print the error after each alternation.

    Attributes
    ----------
    decoder_ : ndarray of shape (n_bytes, 256, n_features)
        The tables: what each value of each byte adds to the decoded row.
    decoder_intercept_ : ndarray of shape (n_features,)
        Mean of the training rows, added to every decoded row.
    errors_ : list of float
        Mean squared error of the training rows after the start and each alternation, relative to
        their variance. Noise that fades out may raise it in between.
    n_iter_ : int
        Number of alternations.
    n_bits_ : int
        Eight times the number of bytes of a code.
    fitted_with_y_ : bool
        Whether `fit` was given `y`.
    n_features_in_ : int
        Number of features seen during fit.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names of the features, when `X` has string column names.

    See Also
    --------
    neighbors.DecodedNeighbors : Search codes by what they decode to.
    BinaryAutoencoderHasher : Codes with a linear decoder, which Hamming distance can rank.

    Notes
    -----
    More than 16 bytes are learned in parts of at most 16, each for its own principal directions.

    There is no ``predict`` and no ``decision_function``, because single bits of a byte mean
    nothing.

    References
    ----------
    A. Babenko, V. Lempitsky, "Additive quantization for extreme vector compression", CVPR 2014.

    J. Martinez, S. Zakhmi, H. H. Hoos, J. J. Little, "LSQ++: lower running time and higher recall
    in multi-codebook quantization", ECCV 2018.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from sklearn_hashrank import AdditiveQuantizer
    >>> X, _ = load_digits(return_X_y=True)
    >>> quantizer = AdditiveQuantizer(n_bytes=4, random_state=0).fit(X)
    >>> codes = quantizer.transform(X)
    >>> codes.shape, codes.dtype
    ((1797, 4), dtype('uint8'))
    >>> quantizer.inverse_transform(codes).shape
    (1797, 64)
    >>> print(f"{quantizer.score(X):.1f}")
    0.9
    """

    _parameter_constraints: dict = {
        "n_bytes": [Interval(Integral, 1, None, closed="left")],
        "max_iter": [Interval(Integral, 0, None, closed="left")],
        "ridge": [Interval(Real, 0, None, closed="neither")],
        "beam_width": [Interval(Integral, 1, N_VALUES, closed="both")],
        "random_state": ["random_state"],
        "n_jobs": [Integral, None],
        "verbose": ["verbose"],
    }

    output = "packed"  # the one format of these codes

    decoder_: np.ndarray
    decoder_intercept_: np.ndarray
    _couplings: list[np.ndarray] | None

    def __init__(
        self,
        n_bytes=8,
        *,
        max_iter=15,
        ridge=3.0,
        beam_width=8,
        random_state=None,
        n_jobs=None,
        verbose=0,
    ):
        self.n_bytes = n_bytes
        self.max_iter = max_iter
        self.ridge = ridge
        self.beam_width = beam_width
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    @_fit_context(prefer_skip_nested_validation=True)
    @one_blas_thread()
    def fit(self, X: MatrixLike, y: Target | None = None) -> "AdditiveQuantizer":
        """Learn the tables.

        Parameters
        ----------
        X : {array-like, sparse matrix, dask array} of shape (n_samples, n_features)
            Training rows. A sample is learned from if there are more than 65,536.
        y : array-like with n_samples rows, default=None
            Not used.

        Returns
        -------
        self : AdditiveQuantizer
        """
        X, _ = self._validate_training_data(X, y)
        self.__dict__.pop("_many_rows", None)
        random_state = check_random_state(self.random_state)
        if X.shape[0] > _MOST_ROWS:
            X = X[np.sort(random_state.choice(X.shape[0], _MOST_ROWS, replace=False))]
        self.n_bits_, self._beam_width = 8 * self.n_bytes, self.beam_width
        n_directions = _DIRECTIONS_OF_A_BYTE * self.n_bytes
        self._space = FeatureSpace.unit(X)
        principal = self._space.with_components(
            X, n_directions, 0.0, random_state, exact_features=_EXACT_FEATURES
        )
        assert principal.basis is not None
        self._basis = principal.basis.directions.astype(np.float32)
        rows = self._rows(X)
        n_parts = min(-(-self.n_bytes // _MOST_TABLES_TOGETHER), rows.shape[1])
        self._directions = deal_directions(rows.var(axis=0), n_parts)
        sizes = [len(each) for each in np.array_split(np.arange(self.n_bytes), n_parts)]
        unexplained = max(0.0, 1.0 - float(np.mean(np.einsum("ij,ij->i", rows, rows))))
        self._tables, errors = [], []
        for part, (directions, size) in enumerate(zip(self._directions, sizes)):
            tables, of_part = learn_tables(
                np.ascontiguousarray(rows[:, directions]),
                size,
                max_iter=self.max_iter,
                ridge=self.ridge,
                beam_width=min(_BEAM_WIDTH_OF_FIT, self.beam_width),
                random_state=random_state,
                n_jobs=self.n_jobs,
                report=self._reporter(part, n_parts),
            )
            self._tables.append(tables)
            errors.append(of_part)
        self.errors_ = [unexplained + sum(each) for each in zip(*errors)]
        self.n_iter_ = len(self.errors_) - 1
        self._set_decoder(X.dtype)
        return self

    def _reporter(self, part, n_parts):
        def report(iteration, error):
            if self.verbose:
                of_part = f", part {part + 1} of {n_parts}" if n_parts > 1 else ""
                print(f"[AdditiveQuantizer] iteration {iteration}{of_part}: error {error:.4f}")

        return report

    def _set_decoder(self, dtype):
        scale, mean = self._space.scale, self._space.mean
        assert scale is not None
        units = np.divide(1.0, scale, out=np.zeros_like(scale), where=scale > 0)
        directions = self._basis.T * units
        decoded = [
            tables @ directions[part] for tables, part in zip(self._tables, self._directions)
        ]
        self.decoder_ = np.concatenate(decoded).astype(dtype)
        self.decoder_intercept_ = mean.astype(dtype)
        self._couplings = [coupling_of(tables) for tables in self._tables]

    def _rows(self, X):
        """Principal components in the unit of the training rows, float32."""
        return self._space.transform(X, np.float32) @ self._basis

    def transform(self, X: MatrixLike) -> np.ndarray:
        """Encode rows.

        Parameters
        ----------
        X : {array-like, sparse matrix, dask array} of shape (n_samples, n_features)
            Rows to encode.

        Returns
        -------
        codes : ndarray of shape (n_samples, n_bytes), uint8
            The entry of each table that a row is reconstructed from. In blocks of other sizes,
            rounding may choose another one where two are equally good.
        """
        if is_dask_array(X):
            return self._map_chunks("transform", X)
        return self.packed_codes(X)

    def packed_codes(self, X: MatrixLike) -> np.ndarray:
        """Encode rows, as :meth:`transform` does.

        Parameters
        ----------
        X : {array-like, sparse matrix, dask array} of shape (n_samples, n_features)
            Rows to encode. A dask array is computed, chunk by chunk.

        Returns
        -------
        codes : ndarray of shape (n_samples, n_bytes), uint8
            What :meth:`transform` gives.
        """
        if is_dask_array(X):
            return self._map_chunks("packed_codes", X).compute()
        check_is_fitted(self)
        return self._encode(self._check_rows(X, reset=False))

    @one_blas_thread()
    def _encode(self, X):
        if self._couplings is None:
            self._couplings = [coupling_of(tables) for tables in self._tables]
        couplings = self._couplings
        codes = np.empty((X.shape[0], self.n_bits_ // 8), np.uint8)

        def encode_block(block):
            rows = self._rows(X[block])
            parts = zip(self._directions, self._tables, couplings)
            found = [
                encode(np.ascontiguousarray(rows[:, part]), tables, coupling, self._beam_width)
                for part, tables, coupling in parts
            ]
            codes[block] = np.concatenate(found, axis=1)

        over_blocks(encode_block, X.shape[0], self.n_jobs)
        return codes

    def _has_no_bits(self) -> Any:
        """Absent: bits of these codes are no predictions."""
        raise AttributeError("single bits of an additive quantizer mean nothing.")

    predict = property(_has_no_bits)
    decision_function = property(_has_no_bits)

    def _project(self, X: Any) -> np.ndarray:
        return np.unpackbits(self._encode(X), axis=1) * 2.0 - 1

    def inverse_transform(self, codes: MatrixLike) -> np.ndarray:
        """Decode codes.

        Parameters
        ----------
        codes : array-like of shape (n_samples, n_bytes), uint8
            Codes that :meth:`transform` gave.

        Returns
        -------
        X : ndarray of shape (n_samples, n_features)
            Sums of the entries that the codes name, in the dtype of the training rows.
        """
        check_is_fitted(self)
        return decode(self.decoder_, pack_codes(codes, self.n_bits_)) + self.decoder_intercept_

    def score(self, X: MatrixLike, y: Target | None = None) -> float:
        """Share of the variance of rows that their codes preserve.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows to encode and decode.
        y : array-like with n_samples rows, default=None
            Not used.

        Returns
        -------
        score : float
            One minus the squared error of the decoded rows, divided by the squared distance of the
            rows to the mean of the training rows. At most 1; 1 if that distance is zero.
        """
        check_is_fitted(self)
        X = self._check_rows(X, reset=False)
        error = spread = 0.0
        for block in block_slices(X.shape[0], X.shape[1]):
            rows = X[block].toarray() if sparse.issparse(X) else X[block]
            rows = rows.astype(np.float64)  # squares of float32 overflow and underflow
            error += float(np.sum((rows - self.inverse_transform(self._encode(X[block]))) ** 2))
            spread += float(np.sum((rows - self.decoder_intercept_) ** 2))
        return 1 - error / spread if spread > 0 else 1.0

    def _most_rows(self, shape: tuple[int, ...]) -> int:
        return min(_MOST_ROWS, super()._most_rows(shape))

    def __getstate__(self) -> dict[str, Any]:
        return {**super().__getstate__(), "_couplings": None}

    def _state_to_store(self) -> dict[str, Any]:
        return {**vars(self), "_couplings": None}

    def _check_fitted(self) -> None:
        n_bytes, n_features = self.n_bits_ // 8, self.n_features_in_
        self._couplings = None  # follow from the tables, whatever a file says
        if not is_int(self._beam_width, 1) or self._beam_width > N_VALUES:
            raise ValueError(f"the width of the beam must be 1 to 256. Got {self._beam_width!r}.")
        expected = {
            "decoder_": (n_bytes, N_VALUES, n_features),
            "decoder_intercept_": (n_features,),
            "_basis": (n_features, len(np.concatenate(self._directions))),
        }
        for name, shape in expected.items():
            array = getattr(self, name)
            if array.dtype.kind != "f" or array.shape != shape:
                raise ValueError(
                    f"{name} must be numbers of shape {shape}. "
                    f"Got {array.dtype} of shape {array.shape}."
                )
        tables = [np.shape(each) for each in self._tables]
        sizes = [(size, N_VALUES, len(part)) for (size, *_), part in zip(tables, self._directions)]
        are_float32 = all(each.dtype == np.float32 for each in self._tables)
        if not are_float32 or tables != sizes or sum(size for size, *_ in sizes) != n_bytes:
            raise ValueError(f"the tables must be those of {n_bytes} bytes. Got shapes {tables}.")

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_couplings")
