"""Binary autoencoder: codes that a decoder reconstructs rows from."""

from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.base import _fit_context, clone
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from .._features.row_slices import block_slices
from .._features.sign_rounding import project
from .._features.space import FeatureSpace, Hyperplanes
from .._solvers.binary_autoencoder import fit_decoder, reconstruct_in_turn, signs_of_least_error
from .._solvers.rotation import random_rotation, rotate_to_signs
from .._utils.threads import one_blas_thread
from .._utils.types import MatrixLike, Target
from ..base import BaseHasher
from ..codes._formats import pack_codes, unpack_codes

__all__ = ["BinaryAutoencoderHasher"]

_EXACT_FEATURES = 1024  # up to so many, principal directions are exact
_TURNS_OF_ROTATION = 50  # as of ITQHasher
_RIDGE_OF_HYPERPLANES = 1e-6  # of the mean diagonal: where bits outnumber directions


class BinaryAutoencoderHasher(BaseHasher):
    """Codes from which a decoder reconstructs the rows.

    The decoder makes ``s @ decoder_ + decoder_intercept_`` of a code ``s`` of -1 and +1. Decoder
    and codes are found in turn: the decoder by least squares, the codes by coordinate descent on
    the squared error, bit by bit. Codes are ranked by Hamming distance, as the codes of every
    hasher, or by the product of the query and the decoded row
    (:class:`~sklearn_hashrank.neighbors.DecodedNeighbors`). If you need the second ranking alone,
    :class:`~sklearn_hashrank.AdditiveQuantizer` finds more neighbors with as many bytes.

    Parameters
    ----------
    n_bits : int, default=64
        Length of a code. It may exceed the number of features.
    start : hasher, default=None
        Hasher that learns without `y`, from whose codes the alternation starts. It is cloned, and
        gets `n_bits` and, where it has one, a random state. None: principal directions, rotated
        towards their signs as by :class:`~sklearn_hashrank.ITQHasher`.
    encoder : {"descent", "hyperplanes"}, default="descent"
        How rows are encoded. ``"descent"`` starts from hyperplanes that are fitted to the codes of
        the training rows, and changes bits while that lowers the squared error.
        ``"hyperplanes"`` stops at the hyperplanes, which takes one product, and fits the decoder to
        their codes. Such hashers can be exported, see :ref:`stores`.
    max_iter : int, default=10
        Most alternations of decoder and codes. 0 keeps the codes of `start`, and fits a decoder
        and hyperplanes to them.
    ridge : float, default=1e-3
        Penalty of the decoder. It matters where there are few training rows for each bit.
    tol : float, default=1e-3
        The alternation has converged when the error falls by no more than this share of it.
    output : {"bits", "signs", "packed"}, default="bits"
        Format of :meth:`transform`: 0/1 uint8, -1/+1 int8, or packed uint8 bytes.
    random_state : int, RandomState instance or None, default=None
        Samples the first rotation, or starts `start`. Also used where the principal directions of
        large data are found by a randomized method.

    Attributes
    ----------
    decoder_ : ndarray of shape (n_bits, n_features)
        What each bit adds to the decoded row, or takes from it.
    decoder_intercept_ : ndarray of shape (n_features,)
        What is added to every decoded row.
    components_ : ndarray of shape (n_bits, n_features)
        Normal vectors of the hyperplanes that encoding starts from.
    intercept_ : ndarray of shape (n_bits,)
        Their offsets.
    errors_ : list of float
        Mean squared error of the reconstruction of the training rows, with the penalty of the
        decoder, relative to their variance; of the first decoder, and after each alternation. It
        never rises.
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
    in which the training rows have the variance 1. Other bits stay. Its signs are the bits, because
    the descent ends when no change of one bit lowers the error.

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
        "encoder": [StrOptions({"descent", "hyperplanes"})],
        "max_iter": [Interval(Integral, 0, None, closed="left")],
        "ridge": [Interval(Real, 0, None, closed="neither")],
        "tol": [Interval(Real, 0, None, closed="left")],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        n_bits=64,
        *,
        start=None,
        encoder="descent",
        max_iter=10,
        ridge=1e-3,
        tol=1e-3,
        output="bits",
        random_state=None,
    ):
        self.n_bits = n_bits
        self.start = start
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
        rows = space.rows(X)
        signs = self._first_signs(X, space, random_state)
        decoder, offset, explained = reconstruct_in_turn(
            rows, signs, self.max_iter, self.ridge, self.tol
        )
        self.errors_ = [1 - each for each in explained]
        self.n_iter_ = len(self.errors_) - 1
        weights, offsets = _regress_on_fields(rows, decoder, signs)
        self.components_, self.intercept_ = space.fold(weights, offsets, X.dtype)
        if self._encoder == "hyperplanes":
            signs = _signs_of(project(X, self.components_, self.intercept_))
            decoder, offset, _ = fit_decoder(rows, signs, self.ridge)
        self._set_decoder(space, decoder, offset, X.dtype)
        self._keep_database(X, y)
        return self

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
        units = np.divide(1.0, space.scale, out=np.zeros_like(space.scale), where=space.scale > 0)
        self.decoder_ = (decoder * units).astype(dtype)
        self.decoder_intercept_ = (space.mean + offset * units).astype(dtype)
        self._gram = decoder @ decoder.T
        self._field_normals, self._field_offsets = space.fold(
            decoder.T, -decoder @ offset, np.float64
        )

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
        signs = unpack_codes(pack_codes(codes, self.n_bits_), self.n_bits_, "signs")
        return signs.astype(self.decoder_.dtype) @ self.decoder_ + self.decoder_intercept_

    def _project(self, X: Any) -> np.ndarray:
        projections = project(X, self.components_, self.intercept_)
        if self._encoder == "descent":
            for rows in block_slices(X.shape[0], X.shape[1] + len(self._field_normals)):
                projections[rows] = self._descend(X[rows], _signs_of(projections[rows]))
        return projections

    def _descend(self, X, signs):
        """Fields of the bits once no bit changes."""
        fields = X @ self._field_normals.T + self._field_offsets
        signs_of_least_error(fields, self._gram, signs)
        return fields

    def _check_fitted(self) -> None:
        n_bits, n_features = self.n_bits_, self.n_features_in_
        expected = {
            "components_": (n_bits, n_features),
            "intercept_": (n_bits,),
            "decoder_": (n_bits, n_features),
            "decoder_intercept_": (n_features,),
            "_field_normals": (n_bits, n_features),
            "_field_offsets": (n_bits,),
            "_gram": (n_bits, n_bits),
        }
        for name, shape in expected.items():
            array = getattr(self, name)
            if array.dtype.kind != "f" or array.shape != shape:
                raise ValueError(
                    f"{name} must be numbers of shape {shape}. "
                    f"Got {array.dtype} of shape {array.shape}."
                )

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_gram")


def _signs_of(projections: np.ndarray) -> np.ndarray:
    return np.where(projections > 0, 1.0, -1.0)


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
