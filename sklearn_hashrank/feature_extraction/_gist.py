"""The GIST descriptor of images, and its filter bank."""

import math
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import fft
from sklearn.base import BaseEstimator, TransformerMixin, _fit_context
from sklearn.utils import gen_batches
from sklearn.utils._param_validation import Interval
from sklearn.utils.validation import _check_feature_names_in, validate_data

from .._utils.documentation import HasPage
from .._utils.parameters import is_int
from .._utils.threads import run_in_threads
from ._image_files import as_paths, read_images

# The constants of the published descriptor.
_TOP_FREQUENCY = 0.3  # cycles per pixel, of the finest scale
_FREQUENCY_RATIO = 1.85  # between a scale and the next coarser one
_RADIAL_SHARPNESS = 3.5  # of the Gaussian of frequency, relative to its scale
_CONTRAST_FLOOR = 0.2  # of the log image, added to the local standard deviation
_CONTRAST_MARGIN = 5  # pixels by which the image is extended while contrast is normalized

_SIZE_OF_FILES, _FILES = (256, 256), 256  # of images that are resized; in memory at a time
_BATCH_PIXELS = 300_000  # in the Fourier domain: a batch and its filtered copy stay in the cache


class GIST(TransformerMixin, HasPage, BaseEstimator):
    """The GIST descriptor: how much there is of each scale and direction in each part of an image.

    Images are turned gray, their local contrast is made even, and a bank of Gabor filters runs over
    them. The features are the mean magnitudes of every filter over a grid of blocks: with the
    defaults 4 scales x 8 orientations x 4 x 4 blocks = 512 of them, in the order of the original
    code. Nothing is learned, so that :meth:`transform` works without :meth:`fit`.

    Parameters
    ----------
    image_shape : tuple of int, default=None
        Shape of the image in a flattened row: (height, width) or (height, width, channels). One
        of them may be -1, as in :func:`numpy.reshape`. None: flattened rows are square gray
        images. Arrays of images bring their own shape; it must agree with `image_shape` if given.
    n_blocks : int, default=4
        The grid has `n_blocks` x `n_blocks` blocks.
    orientations : sequence of int, default=(8, 8, 8, 8)
        Number of orientations at each scale, from fine to coarse. More of them are narrower.
    prefilter : float or None, default=4
        Cut-off of the contrast normalization in cycles per image: coarser structure is taken away,
        and what remains is divided by its local standard deviation. None: left out.
    boundary_extension : int, default=32
        Pixels by which the image is mirrored at its edges before filtering.
    n_jobs : int or None, default=None
        Threads over batches of images. None means 1 unless in a :obj:`joblib.parallel_config`
        context, -1 means all processors. The result does not depend on it.

    Attributes
    ----------
    n_features_in_ : int
        Number of values of an image seen during fit.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names of the features, when `X` has string column names.

    See Also
    --------
    gabor_filters : The filter bank.

    Notes
    -----
    The brightness of each image is stretched to [0, 255] first, so that neither the type nor the
    range of the input matters. An image of one color has only zeros as features. Images are not
    resized: descriptors of images of different sizes can be compared, but scales count pixels.

    References
    ----------
    A. Oliva, A. Torralba, "Modeling the shape of the scene: a holistic representation of the
    spatial envelope", International Journal of Computer Vision 42(3), 2001.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from sklearn_hashrank.feature_extraction import GIST
    >>> images = load_digits().images
    >>> images.shape
    (1797, 8, 8)
    >>> gist = GIST().fit(images[:10])
    >>> gist.transform(images[:10]).shape
    (10, 512)
    >>> gist.get_feature_names_out()[113]
    'gist_s0_o7_r1_c0'
    """

    _parameter_constraints: dict = {
        "image_shape": ["array-like", None],
        "n_blocks": [Interval(Integral, 1, None, closed="left")],
        "orientations": ["array-like"],
        "prefilter": [Interval(Real, 0, None, closed="neither"), None],
        "boundary_extension": [Interval(Integral, 0, None, closed="left")],
        "n_jobs": [Integral, None],
    }

    def __init__(
        self,
        image_shape=None,
        *,
        n_blocks=4,
        orientations=(8, 8, 8, 8),
        prefilter=4,
        boundary_extension=32,
        n_jobs=None,
    ):
        self.image_shape = image_shape
        self.n_blocks = n_blocks
        self.orientations = orientations
        self.prefilter = prefilter
        self.boundary_extension = boundary_extension
        self.n_jobs = n_jobs

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: ArrayLike, y: None = None) -> "GIST":
        """Check parameters and images. Nothing is learned.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), (n_samples, height, width) or \
                (n_samples, height, width, channels)
            Images, with 1 or 3 channels, of integers or floats; or a folder of image files, or
            paths of them, which are resized to `image_shape`, or to 256 x 256 pixels.
        y : None
            Not used, present for scikit-learn's conventions.

        Returns
        -------
        self : GIST
        """
        if (paths := as_paths(X)) is not None:
            X = self._read(paths[:1])
        self._validate_images(X, reset=True)
        return self

    def transform(self, X: ArrayLike) -> np.ndarray:
        """Describe images.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), (n_samples, height, width) or \
                (n_samples, height, width, channels)
            Images, with 1 or 3 channels, of integers or floats; or a folder of image files, or
            paths of them, which are resized to `image_shape`, or to 256 x 256 pixels.

        Returns
        -------
        features : ndarray of shape (n_samples, sum(orientations) * n_blocks ** 2), float32
            By scale, orientation, column and row of the block; the row runs fastest.
        """
        if (paths := as_paths(X)) is not None:
            blocks = (self._read(paths[rows]) for rows in gen_batches(len(paths), _FILES))
            return np.concatenate([self.transform(block) for block in blocks])
        images = self._validate_images(X, reset=False)
        extension = self.boundary_extension
        bank = _cached_bank(
            images.shape[1] + 2 * extension,
            images.shape[2] + 2 * extension,
            tuple(map(int, self.orientations)),
        )
        features = np.empty((len(images), len(bank), self.n_blocks, self.n_blocks), np.float32)

        def describe(rows: slice) -> None:
            prepared = _stretch(images[rows])
            if self.prefilter is not None:
                prepared = _normalize_contrast(prepared, self.prefilter)
            features[rows] = _mean_magnitudes(prepared, bank, extension, self.n_blocks)

        batch_size = max(1, _BATCH_PIXELS // bank[0].size)
        run_in_threads(describe, list(gen_batches(len(images), batch_size)), self.n_jobs)
        return features.reshape(len(images), -1)

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Names such as ``gist_s0_o3_r1_c2``: scale, orientation, row and column of the block.

        Parameters
        ----------
        input_features : array-like of str or None, default=None
            Only checked against the names seen during fit.

        Returns
        -------
        feature_names_out : ndarray of str objects
            One name for each feature, in the order of :meth:`transform`.
        """
        _check_feature_names_in(self, input_features, generate_names=False)
        names = [
            f"gist_s{scale}_o{orientation}_r{row}_c{column}"
            for scale, n_orientations in enumerate(self.orientations)
            for orientation in range(n_orientations)
            for column in range(self.n_blocks)
            for row in range(self.n_blocks)
        ]
        return np.array(names, dtype=object)

    def _validate_images(self, X: Any, reset: bool) -> np.ndarray:
        _check_orientations(self.orientations)
        if isinstance(X, list | tuple):
            X = _stack(X)
        shape = None
        if getattr(X, "ndim", 2) > 2:
            shape = X.shape[1:]
            X = np.reshape(X, (len(X), math.prod(shape)))
        X = validate_data(self, X, reset=reset)
        if shape is None or self.image_shape is not None:
            shape = self._given_shape(X.shape[1], shape)
        if len(shape) == 2:
            shape = (*shape, 1)
        if len(shape) != 3 or shape[2] not in (1, 3):
            raise ValueError(
                "Images must have shape (height, width), (height, width, 1) or (height, width, 3). "
                f"Got images of shape {shape}."
            )
        if min(shape[:2]) < self.n_blocks:
            raise ValueError(
                f"Images must be at least n_blocks={self.n_blocks} pixels high and wide. "
                f"Got images of {shape[0]} x {shape[1]} pixels."
            )
        return X.reshape(len(X), *shape)

    def _read(self, paths: list) -> np.ndarray:
        """Read images from files, in the size and with the channels of `image_shape`."""
        if self.image_shape is None:
            return read_images(paths, _SIZE_OF_FILES)
        shape = tuple(self.image_shape)
        if len(shape) not in (2, 3) or min(shape) < 1:
            raise ValueError(
                "image_shape must be (height, width) or (height, width, channels) without -1 to "
                f"resize images. Got {self.image_shape!r}."
            )
        images = read_images(paths, shape[:2])
        if len(shape) == 3 and shape[2] == 3:
            return images
        gray = images.mean(axis=3)
        return gray if len(shape) == 2 else gray[..., None]

    def _given_shape(self, n_features: int, found: Any) -> tuple[int, ...]:
        """Shape of an image by `image_shape`, which must suit the `found` shape, if any."""
        if self.image_shape is None:
            side = math.isqrt(n_features)
            if side * side != n_features:
                raise ValueError(
                    "With image_shape=None, rows are square gray images, and n_features must be a "
                    f"square number. Got n_features = {n_features}: give image_shape=(height, "
                    "width) or (height, width, channels), or pass images of shape (n_samples, "
                    "height, width) or (n_samples, height, width, channels)."
                )
            return side, side
        try:
            shape = np.empty(n_features, dtype=bool).reshape(tuple(self.image_shape)).shape
        except (TypeError, ValueError):
            raise ValueError(
                f"image_shape={self.image_shape!r} does not fit rows of n_features = {n_features} "
                "values."
            ) from None
        if found is not None and shape != tuple(found):
            raise ValueError(f"Images have shape {tuple(found)}, but image_shape={shape}.")
        return shape

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.three_d_array = True
        tags.requires_fit = False
        tags.transformer_tags.preserves_dtype = []
        return tags


def gabor_filters(shape: tuple[int, int], orientations: Sequence[int] = (8, 8, 8, 8)) -> np.ndarray:
    """Gabor filters of :class:`GIST` in the frequency domain.

    A filter is real there, a Gaussian of frequency relative to its scale times one of direction; it
    passes one of each two opposite directions, so that filtered images are complex and their
    magnitude does not oscillate.

    Parameters
    ----------
    shape : tuple of int
        Height and width of the image, with its extension at the boundary.
    orientations : sequence of int, default=(8, 8, 8, 8)
        Number of orientations at each scale, from fine to coarse.

    Returns
    -------
    filters : ndarray of shape (sum(orientations), height, width)
        In the order of :func:`numpy.fft.fft2`.

    Examples
    --------
    >>> from sklearn_hashrank.feature_extraction import gabor_filters
    >>> gabor_filters((96, 128)).shape
    (32, 96, 128)
    """
    _check_orientations(orientations)
    y = fft.fftfreq(shape[0])[:, None]
    x = fft.fftfreq(shape[1])[None]
    frequency, direction = np.hypot(x, y), np.arctan2(y, x)
    filters = np.empty((sum(orientations), *shape))
    index = 0
    for scale, n_orientations in enumerate(orientations):
        center = _TOP_FREQUENCY / _FREQUENCY_RATIO**scale
        radial = _RADIAL_SHARPNESS * (frequency / center - 1) ** 2
        sharpness = np.pi * n_orientations**2 / 32
        for angle in np.pi * np.arange(n_orientations) / n_orientations:
            turned = direction + angle
            turned -= 2 * np.pi * (turned > np.pi)
            filters[index] = np.exp(-radial - sharpness * turned**2)
            index += 1
    return filters


@lru_cache(maxsize=2)
def _cached_bank(height: int, width: int, orientations: tuple[int, ...]) -> np.ndarray:
    return gabor_filters((height, width), orientations).astype(np.float32)


def _check_orientations(orientations: Any) -> None:
    is_sequence = np.ndim(orientations) == 1 and len(orientations) > 0
    if not is_sequence or not all(is_int(count, 1) for count in orientations):
        raise ValueError(
            "orientations must be a sequence of positive integers, one for each scale. "
            f"Got {orientations!r}."
        )


def _stack(images: Sequence) -> np.ndarray:
    try:
        return np.asarray(images)
    except ValueError as error:
        if "inhomogeneous" not in str(error):
            raise
        shapes = sorted({np.shape(image) for image in images})[:3]
        raise ValueError(
            f"All images of a call must have the same shape. Got shapes {shapes}."
        ) from None


def _stretch(images: np.ndarray) -> np.ndarray:
    """Gray images, each from 0 to 255; an image of one brightness becomes 0."""
    peaks = np.abs(images.astype(np.float64)).max(axis=(1, 2, 3), keepdims=True)
    gray = np.divide(images, peaks, out=np.zeros(images.shape), where=peaks > 0).mean(axis=3)
    gray -= gray.min(axis=(1, 2), keepdims=True)
    highest = gray.max(axis=(1, 2), keepdims=True)
    return np.divide(255 * gray, highest, out=gray, where=highest > 0)


def _normalize_contrast(images: np.ndarray, cycles: float) -> np.ndarray:
    """Logarithms less their local mean, divided by their local standard deviation."""
    margin = _CONTRAST_MARGIN
    height, width = np.array(images.shape[1:]) + 2 * margin
    side = max(height, width)
    side += side % 2
    sides = (margin, margin)
    logs = np.pad(np.log1p(images), ((0, 0), sides, sides), mode="symmetric")
    logs = np.pad(logs, ((0, 0), (0, side - height), (0, side - width)), mode="symmetric")
    y, x = side * fft.fftfreq(side)[:, None], side * fft.rfftfreq(side)
    low_pass = np.exp(-(x**2 + y**2) * math.log(2) / cycles**2)

    def blur(values: np.ndarray) -> np.ndarray:
        return fft.irfft2(fft.rfft2(values) * low_pass, (side, side))

    details = logs - blur(logs)
    details /= _CONTRAST_FLOOR + np.sqrt(np.abs(blur(details**2)))
    return details[:, margin : height - margin, margin : width - margin]


def _mean_magnitudes(
    images: np.ndarray, bank: np.ndarray, extension: int, n_blocks: int
) -> np.ndarray:
    """Mean magnitude of filtered images by filter, column and row of blocks."""
    n_images, height, width = images.shape
    rows, columns = (slice(extension, extension + side) for side in (height, width))
    sides = (extension, extension)
    padded = np.pad(images.astype(np.float32), ((0, 0), sides, sides), mode="symmetric")
    spectrum = fft.fft2(padded)
    by_row, by_column = _block_means(height, n_blocks), _block_means(width, n_blocks)
    means = np.empty((n_images, len(bank), n_blocks, n_blocks), np.float32)
    for index, transfer in enumerate(bank):
        filtered = fft.ifft(spectrum * transfer, axis=1, overwrite_x=True)[:, rows]
        magnitudes = np.abs(fft.ifft(filtered, axis=2)[:, :, columns])
        means[:, index] = np.swapaxes(by_row @ (magnitudes @ by_column.T), 1, 2)
    return means


def _block_means(n_pixels: int, n_blocks: int) -> np.ndarray:
    """Matrix that takes means over blocks of pixels, as equal as whole pixels allow."""
    edges = np.linspace(0, n_pixels, n_blocks + 1).astype(int)
    means = np.zeros((n_blocks, n_pixels), np.float32)
    for block, (start, stop) in enumerate(pairwise(edges)):
        means[block, start:stop] = 1 / (stop - start)
    return means
