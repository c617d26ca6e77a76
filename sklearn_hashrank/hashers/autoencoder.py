"""Binary autoencoder: codes that a decoder reconstructs rows from."""

from numbers import Integral, Real
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import _fit_context, clone
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from .._features.row_slices import block_slices
from .._features.sign_rounding import project
from .._features.space import FeatureSpace, Hyperplanes
from .._solvers.binary_autoencoder import fit_decoder, reconstruct_in_turn, signs_of_least_error
from .._solvers.rotation import random_rotation, rotate_to_signs
from .._solvers.table_decoder import (
    coupling_of,
    decode,
    fit_tables,
    reconstruct_by_tables,
    values_of_codes,
    values_of_least_error,
)
from .._utils.threads import one_blas_thread
from .._utils.types import MatrixLike, Target
from ..base import BaseHasher
from ..codes._formats import pack_codes, packed_width, unpack_codes

__all__ = ["BinaryAutoencoderHasher"]

_EXACT_FEATURES = 1024  # up to so many, principal directions are exact
_TURNS_OF_ROTATION = 50  # as of ITQHasher
_RIDGE_OF_HYPERPLANES = 1e-6  # of the mean diagonal: where bits outnumber directions
_LEAST = float(np.finfo(np.float32).tiny)  # above zero in both dtypes

_WIDTHS = {"nibbles": 4, "bytes": 8}  # bits that are decoded together
_MOST_BITS_BY_BYTES = 128  # of "auto": the time of a fit grows with the square of the length
_FEWEST_ROWS_BY_TABLES = 512  # of "auto"; 16 bytes tell the rows of fewer apart by any decoder
_MOST_ROWS_BY_TABLES = 1 << 15
_ROWS_OF_LINEAR = 10.0  # that the linear decoder counts as; 1 and 50 were tried on two sets
_HELD_OUT = 3  # one of so many rows is held out by "cv"
_PASSES = 5  # over the tables, where codes stay as they are


class BinaryAutoencoderHasher(BaseHasher):
    """Codes from which a decoder reconstructs the rows.

    A linear decoder makes ``s @ decoder_ + decoder_intercept_`` of a code ``s`` of -1 and +1. A
    decoder of bytes adds one vector for the value of each byte. Decoder and codes
    are found in turn: the decoder by least squares, the codes by
    coordinate descent on the squared error, bit by bit or byte by byte. The codes are ranked by the
    product of the
    query and the decoded vector (:class:`~sklearn_hashrank.neighbors.DecodedNeighbors`), as those
    of product quantizers are, or by Hamming distance, as those of every hasher.

    Parameters
    ----------
    n_bits : int, default=64
        Length of a code. It may exceed the number of features.
    start : hasher, default=None
        Hasher that learns without `y`, from whose codes the alternation starts. It is cloned, and
        gets `n_bits` and, where it has one, a random state. None: principal directions, rotated
        towards their signs as by :class:`~sklearn_hashrank.ITQHasher`.
    decoder : {"auto", "cv", "linear", "nibbles", "bytes"}, default="auto"
        What codes are decoded by. ``"linear"`` adds or takes a vector for each bit. ``"nibbles"``
        and ``"bytes"`` look up a vector for the value of each four or eight bits, as additive
        quantizers do, and stay near the linear decoder where few rows have a value. They find
        more neighbors by what codes decode to. Bytes take longer to learn and to search.
        ``"auto"`` takes bytes for up to 128 bits and nibbles for more, and is linear for fewer than
        512 rows: these find the most in a database of the training rows. ``"cv"`` holds a third of
        the rows out, and takes the decoder that reconstructs them with the least error, for
        databases of other rows. It takes about twice the time.
    encoder : {"descent", "hyperplanes"}, default="descent"
        How rows are encoded. ``"descent"`` starts from hyperplanes that are fitted to the codes of
        the training rows, and changes parts of them while that lowers the squared error.
        ``"hyperplanes"``
        stops at the hyperplanes, which takes one product, and fits the decoder to their codes. Such
        hashers can be exported, see :ref:`stores`.
    max_iter : int, default=10
        Most alternations of decoder and codes. 0 keeps the codes of `start`, and fits a decoder
        and hyperplanes to them.
    ridge : float, default=1e-3
        Penalty of the linear decoder. It matters where there are few training rows for each bit.
    tol : float, default=1e-3
        The alternation has converged when the error falls by no more than this share of it.
    output : {"bits", "signs", "packed"}, default="bits"
        Format of :meth:`transform`: 0/1 uint8, -1/+1 int8, or packed uint8 bytes.
    random_state : int, RandomState instance or None, default=None
        Samples the first rotation, or starts `start`. Also used where the principal directions of
        large data are found by a randomized method.

    Attributes
    ----------
    decoder_ : ndarray of shape (n_bits, n_features) or (n_parts, n_values, n_features)
        What each bit adds to the decoded row, or takes from it; or what each value of a nibble or
        byte of the packed code adds.
    decoder_intercept_ : ndarray of shape (n_features,)
        What is added to every decoded row.
    components_ : ndarray of shape (n_bits, n_features)
        Normal vectors of the hyperplanes that encoding starts from.
    intercept_ : ndarray of shape (n_bits,)
        Their offsets.
    errors_ : list of float
        Mean squared error of the reconstruction of the training rows, with the penalty
        of the decoder, relative to their variance; of the first decoder, and after each
        alternation. It never rises. Nibbles and bytes are learned from at most 32,768
        of the rows.
    cv_errors_ : dict of str to float
        Squared error of the rows that ``"cv"`` held out, relative to their variance, by each
        decoder. Absent without ``"cv"``.
    n_iter_ : int
        Number of alternations done.
    n_bits_ : int
        Length of the codes, whatever `n_bits` was set to after `fit`.
    codes_ : ndarray of shape (n_samples, ceil(n_bits / 8)), uint8
        Packed codes of the training rows.
    y_ : array-like
        `y` of the training rows; absent where it was None.
    affinity_ : affinity object
        Relevance by the form of `y_`, set when :meth:`score` first needs it.
    n_features_in_ : int
        Number of features seen during fit.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names of the features, when `X` has string column names.

    Notes
    -----
    With ``encoder="descent"``, :meth:`decision_function` gives for each bit a quarter of what the
    squared error would rise by if the bit were 0, less what it would rise by if it were 1, in units
    in which the training rows have the variance 1. Other bits, nibbles or bytes stay. Its
    signs are the bits, because the descent ends where none wants to change.

    References
    ----------
    M. A. Carreira-Perpinan, R. Raziperchikolaei, "Hashing with binary autoencoders", CVPR 2015.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_digits
    >>> from sklearn_hashrank import BinaryAutoencoderHasher
    >>> X, y = load_digits(return_X_y=True)
    >>> hasher = BinaryAutoencoderHasher(n_bits=32, random_state=0).fit(X)
    >>> decoded = hasher.inverse_transform(hasher.transform(X))
    >>> print(f"{np.mean((X - decoded) ** 2) / X.var(axis=0).mean():.1f}")
    0.2
    """

    _parameter_constraints: dict = {
        **BaseHasher._parameter_constraints,
        "start": [HasMethods(["fit", "predict"]), None],
        "decoder": [StrOptions({"auto", "cv", "linear", *_WIDTHS})],
        "encoder": [StrOptions({"descent", "hyperplanes"})],
        "max_iter": [Interval(Integral, 0, None, closed="left")],
        "ridge": [Interval(Real, 0, None, closed="neither")],
        "tol": [Interval(Real, 0, None, closed="left")],
        "random_state": ["random_state"],
    }

    _unit_tables: Any

    def __init__(
        self,
        n_bits=64,
        *,
        start=None,
        decoder="auto",
        encoder="descent",
        max_iter=10,
        ridge=1e-3,
        tol=1e-3,
        output="bits",
        random_state=None,
    ):
        self.n_bits = n_bits
        self.start = start
        self.decoder = decoder
        self.encoder = encoder
        self.max_iter = max_iter
        self.ridge = ridge
        self.tol = tol
        self.output = output
        self.random_state = random_state

    @_fit_context(prefer_skip_nested_validation=True)
    @one_blas_thread()
    def fit(self, X: MatrixLike, y: Target | None = None) -> "BinaryAutoencoderHasher":
        """Find decoder and codes in turn, then hyperplanes that predict the codes.

        Parameters
        ----------
        X : {array-like, sparse matrix, dask array} of shape (n_samples, n_features)
            Training rows.
        y : array-like with n_samples rows, default=None
            Not used for learning; kept for :meth:`score`.

        Returns
        -------
        self : BinaryAutoencoderHasher
        """
        X, y = self._validate_training_data(X, y)
        random_state = check_random_state(self.random_state)
        space = FeatureSpace.unit(X)
        self.n_bits_, self._encoder = self.n_bits, self.encoder
        decoder = self._choose_decoder(X, random_state)
        if decoder == "linear":
            self._learn_bits(X, space, random_state)
        else:
            rows = _some_rows(X, random_state)
            self._learn_tables(rows, _WIDTHS[decoder], space, random_state)
        self._keep_database(X, y)
        return self

    def _choose_decoder(self, X, random_state):
        self.__dict__.pop("cv_errors_", None)
        tables = ("nibbles", "bytes") if self.n_bits <= _MOST_BITS_BY_BYTES else ("nibbles",)
        if self.decoder == "auto":
            return tables[-1] if X.shape[0] >= _FEWEST_ROWS_BY_TABLES else "linear"
        if self.decoder == "cv":
            return self._decoder_of_least_error(X, ("linear", *tables), random_state)
        return self.decoder

    def _decoder_of_least_error(self, X, decoders, random_state):
        """Compare decoders by rows that are held out."""
        if X.shape[0] < 2 * _HELD_OUT:
            raise ValueError(
                f'"cv" holds a third of the rows out and needs at least {2 * _HELD_OUT} rows. '
                f"Got n_samples = {X.shape[0]}."
            )
        X = _some_rows(X, random_state)
        is_held_out = random_state.permutation(X.shape[0]) % _HELD_OUT == 0
        learned, others = X[np.flatnonzero(~is_held_out)], X[np.flatnonzero(is_held_out)]
        seed = random_state.randint(np.iinfo(np.int32).max)
        plain = clone(self).set_params(random_state=seed, output="bits")
        self.cv_errors_ = {
            each: _error_of(clone(plain).set_params(decoder=each).fit(learned), others)
            for each in decoders
        }
        return min(self.cv_errors_, key=self.cv_errors_.__getitem__)

    def _learn_bits(self, X, space, random_state):
        rows = space.rows(X)
        signs = self._first_signs(X, space, random_state)
        decoder, offset, explained = reconstruct_in_turn(
            rows, signs, self.max_iter, self.ridge, self.tol
        )
        self._set_errors([1 - each for each in explained])
        self._set_hyperplanes(rows, decoder, signs, space, X.dtype)
        if self._encoder == "hyperplanes":
            signs = _signs_of(project(X, self.components_, self.intercept_))
            decoder, offset, _ = fit_decoder(rows, signs, self.ridge)
        self._set_decoder(space, decoder, offset, X.dtype)

    def _learn_tables(self, X, width, space, random_state):
        rows = space.transform(X)
        signs = self._first_signs(X, space, random_state)
        base = _as_tables(*fit_decoder(rows, signs, self.ridge)[:2], width)
        values = _values_of(signs, width)
        tables, errors = reconstruct_by_tables(
            rows,
            values,
            base,
            self.max_iter,
            _ROWS_OF_LINEAR,
            self.tol,
            _entries_beyond(self.n_bits, values.shape[1], width),
        )
        self._set_errors(errors)
        signs = _signs_of_values(values, width, self.n_bits_)
        decoder, *_ = fit_decoder(rows, signs, self.ridge)
        self._set_hyperplanes(rows, decoder, signs, space, X.dtype)
        if self._encoder == "hyperplanes":
            signs = _signs_of(project(X, self.components_, self.intercept_))
            base = _as_tables(*fit_decoder(rows, signs, self.ridge)[:2], width)
            tables, values = base.copy(), _values_of(signs, width)
            for _ in range(_PASSES):
                fit_tables(rows, values, tables, base, _ROWS_OF_LINEAR)
        self._set_tables(space, tables, X.dtype)

    def _set_errors(self, errors):
        self.errors_, self.n_iter_ = errors, len(errors) - 1

    def _set_hyperplanes(self, rows, decoder, signs, space, dtype):
        weights, offsets = _regress_on_fields(rows, decoder, signs)
        self.components_, self.intercept_ = space.fold(weights, offsets, dtype)

    def _first_signs(self, X, space, random_state):
        """Codes of the training rows to start from, of -1 and +1."""
        if self.start is not None:
            start = clone(self.start).set_params(n_bits=self.n_bits)
            if "random_state" in start.get_params():
                start.set_params(random_state=random_state.randint(np.iinfo(np.int32).max))
            return 2.0 * start.fit(X).predict(X) - 1
        n_directions = min(self.n_bits, *X.shape)
        principal = space.with_components(
            X, n_directions, 0.0, random_state, exact_features=_EXACT_FEATURES
        )
        projections = principal.transform(X)
        rotation = random_rotation(self.n_bits, random_state)[: projections.shape[1]]
        rotation, _ = rotate_to_signs(projections, rotation, _TURNS_OF_ROTATION)
        return _signs_of(projections @ rotation)

    def _set_decoder(self, space, decoder, offset, dtype):
        units = _units_of(space)
        self.decoder_ = (decoder * units).astype(dtype)
        self.decoder_intercept_ = (space.mean + offset * units).astype(dtype)
        self._unit_tables, self._gram = None, decoder @ decoder.T
        self._field_normals, self._field_offsets = space.fold(
            decoder.T, -decoder @ offset, np.float64
        )

    def _set_tables(self, space, tables, dtype):
        self.decoder_ = (tables * _units_of(space)).astype(dtype)
        self.decoder_intercept_ = space.mean.astype(dtype)
        entries = tables.reshape(-1, tables.shape[2])
        self._field_normals, self._field_offsets = space.fold(
            entries.T, -np.einsum("ij,ij->i", entries, entries) / 2, np.float64
        )
        self._unit_tables = tables
        self._gram = coupling_of(tables)

    def __getstate__(self) -> dict[str, Any]:
        return self._without_coupling(super().__getstate__())

    def _state_to_store(self) -> dict[str, Any]:
        return self._without_coupling(dict(vars(self)))

    def _without_coupling(self, state):
        """State without what follows from the tables, and is larger."""
        return {**state, "_gram": None} if state.get("_unit_tables") is not None else state

    def hyperplanes(self) -> Hyperplanes:
        """Return the hyperplanes whose sides are the bits, for exports.

        Returns
        -------
        hyperplanes : Hyperplanes
            ``components_`` (n_bits, n_features) and ``intercept_`` (n_bits,).

        Raises
        ------
        TypeError
            Where the codes come from descent.
        """
        check_is_fitted(self)
        if self._encoder == "descent":
            raise TypeError(
                "codes that descent changes are not half-spaces. Fit with encoder='hyperplanes'."
            )
        return Hyperplanes(self.components_, self.intercept_)

    def inverse_transform(self, codes: MatrixLike) -> np.ndarray:
        """Decode codes.

        Parameters
        ----------
        codes : array-like of shape (n_samples, n_bits) or (n_samples, ceil(n_bits / 8))
            Codes as bits, signs or packed bytes.

        Returns
        -------
        X : ndarray of shape (n_samples, n_features)
            What the decoder makes of them, in the dtype of the training rows.
        """
        check_is_fitted(self)
        packed = pack_codes(codes, self.n_bits_)
        if self.decoder_.ndim == 3:
            values = values_of_codes(packed, self.decoder_.shape[1])
            return decode(self.decoder_, values) + self.decoder_intercept_
        signs = unpack_codes(packed, self.n_bits_, "signs")
        return signs.astype(self.decoder_.dtype) @ self.decoder_ + self.decoder_intercept_

    def _project(self, X: Any) -> np.ndarray:
        projections = project(X, self.components_, self.intercept_)
        if self._encoder == "descent":
            descend = self._descend if self.decoder_.ndim == 2 else self._descend_by_tables
            if self._gram is None:
                self._gram = coupling_of(self._unit_tables)
            for rows in block_slices(X.shape[0], X.shape[1] + len(self._field_normals)):
                projections[rows] = descend(X[rows], _signs_of(projections[rows]))
        return projections

    def _descend(self, X, signs):
        """Fields of the bits once no bit changes."""
        fields = X @ self._field_normals.T + self._field_offsets
        signs_of_least_error(fields, self._gram, signs)
        return fields

    def _descend_by_tables(self, X, signs):
        """Fields of the bits once no part of a code changes."""
        n_parts, n_values, _ = self._unit_tables.shape
        width = n_values.bit_length() - 1
        fields = X @ self._field_normals.T + self._field_offsets
        fields[:, _entries_beyond(self.n_bits_, n_parts, width)] = -np.inf
        values = _values_of(signs, width)
        values_of_least_error(fields, self._gram, values)
        fields = _fields_of_bits(fields.reshape(len(fields), n_parts, n_values), self.n_bits_)
        # Where two values are equally good, the fields of their bits are zero.
        has_bit = _signs_of_values(values, width, self.n_bits_) > 0
        return np.where(has_bit, np.maximum(fields, _LEAST), np.minimum(fields, 0))

    def _check_fitted(self) -> None:
        n_bits, n_features = self.n_bits_, self.n_features_in_
        if self._unit_tables is not None:
            self._gram = None  # follows from the tables, whatever a file says
        n_fields: int = n_bits
        decoder: tuple[int, ...] = n_bits, n_features
        if self._unit_tables is not None:
            n_parts, n_values, _ = np.shape(self._unit_tables)
            width = {1 << each: each for each in _WIDTHS.values()}.get(n_values, 0)
            if n_parts * width != 8 * packed_width(n_bits):
                raise ValueError(
                    f"the tables must be those of the nibbles or bytes of {n_bits} bits. "
                    f"Got shape {np.shape(self._unit_tables)}."
                )
            n_fields, decoder = n_parts * n_values, (n_parts, n_values, n_features)
        expected = {
            "components_": (n_bits, n_features),
            "intercept_": (n_bits,),
            "decoder_": decoder,
            "decoder_intercept_": (n_features,),
            "_field_normals": (n_fields, n_features),
            "_field_offsets": (n_fields,),
        }
        if self._unit_tables is not None:
            expected["_unit_tables"] = decoder
        else:
            expected["_gram"] = (n_bits, n_bits)
        for name, shape in expected.items():
            array = getattr(self, name)
            if array.dtype.kind != "f" or array.shape != shape:
                raise ValueError(
                    f"{name} must be numbers of shape {shape}. "
                    f"Got {array.dtype} of shape {array.shape}."
                )

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_gram")


def _some_rows(X, random_state):
    """All rows in their order, or a sample of them that tables can be learned from."""
    if X.shape[0] <= _MOST_ROWS_BY_TABLES:
        return X
    chosen = random_state.choice(X.shape[0], _MOST_ROWS_BY_TABLES, replace=False)
    return X[np.sort(chosen)]


def _error_of(hasher, X):
    """Squared error of the reconstruction of rows, relative to their variance."""
    error = spread = 0.0
    mean = np.asarray(X.mean(axis=0, dtype=np.float64)).ravel()
    for block in block_slices(X.shape[0], X.shape[1]):
        rows = X[block].toarray() if sparse.issparse(X) else X[block]
        rows = rows.astype(np.float64, copy=False)  # squares of float32 overflow and underflow
        error += float(np.sum((rows - hasher.inverse_transform(hasher.transform(X[block]))) ** 2))
        spread += float(np.sum((rows - mean) ** 2))
    return error / spread if spread > 0 else 0.0


def _units_of(space):
    return np.divide(1.0, space.scale, out=np.zeros_like(space.scale), where=space.scale > 0)


def _signs_of(projections: np.ndarray) -> np.ndarray:
    return np.where(projections > 0, 1.0, -1.0)


def _values_of(signs, width):
    """Parts of packed codes as numbers, (n_samples, n_parts)."""
    return values_of_codes(np.packbits(signs > 0, axis=1), 1 << width)


def _bits_of(values, width):
    """Bits of numbers below 256, the highest of `width` first."""
    return np.asarray(values)[..., None] >> np.arange(width - 1, -1, -1) & 1


def _signs_of_values(values, width, n_bits):
    return 2.0 * _bits_of(values, width).reshape(len(values), -1)[:, :n_bits] - 1


def _entries_beyond(n_bits, n_parts, width):
    """Entries of tables that need bits beyond the end of the code."""
    place = width * np.arange(n_parts)[:, None] + np.arange(width)
    is_beyond = (place >= n_bits)[:, None, :] & (_bits_of(np.arange(1 << width), width) == 1)
    return np.flatnonzero(is_beyond.any(axis=2))


def _as_tables(decoder, offset, width):
    """What the values of parts add by a linear decoder; bits beyond its end add nothing."""
    n_bits, n_features = decoder.shape
    n_parts = 8 * packed_width(n_bits) // width
    padded = np.zeros((n_parts * width, n_features))
    padded[:n_bits] = decoder
    signs = 2.0 * _bits_of(np.arange(1 << width), width) - 1
    return signs @ padded.reshape(n_parts, width, n_features) + offset / n_parts


def _fields_of_bits(fields, n_bits):
    """Half of what the best value of a part with a bit is ahead of the best one without it."""
    n, n_parts, n_values = fields.shape
    width = n_values.bit_length() - 1
    found = np.empty((n, n_parts, width))
    best = fields  # for each value of the bits from here on, whatever the bits before are
    for bit in range(width):
        without, having = np.split(best, 2, axis=2)
        found[:, :, bit] = having.max(axis=2) - without.max(axis=2)
        best = np.maximum(without, having)
    return found.reshape(n, -1)[:, :n_bits] / 2


def _regress_on_fields(rows, decoder, signs):
    """Weights (n_features, n_bits) and offsets of hyperplanes that predict codes.

    The hyperplanes lie in the space of the decoder, so that as many unknowns are estimated for each
    bit as there are bits.
    """
    fields = rows @ decoder.T
    moments = fields.T @ fields / len(signs)
    size = np.trace(moments) / len(moments)
    moments[np.diag_indices_from(moments)] += _RIDGE_OF_HYPERPLANES * size if size > 0 else 1.0
    offsets = signs.mean(axis=0)
    products = fields.T @ signs / len(signs)
    return decoder.T @ np.linalg.solve(moments, products), offsets
