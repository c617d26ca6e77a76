"""Rows of numbers as images: which of their axes are height, width and channels."""

from typing import Any, NamedTuple

import numpy as np

from .._features.moments import Moments
from .._features.space import FeatureSpace
from .._files.storable import storable

_MOST_CHANNELS = 4  # of an axis that "auto" takes for colors: gray, RGB, and RGB with opacity
_BLOCK_NUMBERS = 1 << 22  # of rows whose moments are computed at a time: 17 MB of float32
_FORMS = "(n, height, width), (n, height, width, channels) or (n, channels, height, width)"


@storable
class ImageLayout(NamedTuple):
    """How the numbers of a row are an image.

    Attributes
    ----------
    shape : tuple of int
        Of an image as it comes: two axes, or three with the channels first or last.
    channels_first : bool
        Where the channels are, of three axes.
    """

    shape: tuple[int, ...]
    channels_first: bool

    @classmethod
    def of(cls, shape: tuple[int, ...], channels: str) -> "ImageLayout":
        """Layout of images of some shape; `channels` is "first", "last" or "auto"."""
        if len(shape) == 2:
            return cls(shape, False)
        if len(shape) != 3 or 0 in shape:
            raise ValueError(f"images must have shape {_FORMS}. Got images of shape {shape}.")
        if channels != "auto":
            return cls(shape, channels == "first")
        is_first, is_last = shape[0] <= _MOST_CHANNELS, shape[2] <= _MOST_CHANNELS
        if is_first == is_last:
            which = "both the first and the last" if is_first else "neither the first nor the last"
            raise ValueError(
                f"images must have shape {_FORMS}, with 1 to {_MOST_CHANNELS} channels. Of images "
                f"of shape {shape}, {which} axis may be the channels. Set channels='first' or "
                "channels='last'."
            )
        return cls(shape, is_first)

    @property
    def channels_height_width(self) -> tuple[int, int, int]:
        if len(self.shape) == 2:
            return (1, self.shape[0], self.shape[1])
        a, b, c = self.shape
        return (a, b, c) if self.channels_first else (c, a, b)

    @property
    def channel_of(self) -> np.ndarray:
        n, height, width = self.channels_height_width
        if len(self.shape) == 2 or self.channels_first:
            return np.repeat(np.arange(n), height * width)
        return np.tile(np.arange(n), height * width)

    def images(self, rows: np.ndarray) -> np.ndarray:
        """Rows (m, n_numbers) as images (m, channels, height, width)."""
        n, height, width = self.channels_height_width
        if len(self.shape) == 2 or self.channels_first:
            return rows.reshape(len(rows), n, height, width)
        return np.ascontiguousarray(rows.reshape(len(rows), height, width, n).transpose(0, 3, 1, 2))

    def space(self, moments: Moments) -> FeatureSpace:
        """Space in which each channel has mean 0 and variance 1; of constant ones it has 0."""
        channel_of = self.channel_of
        n_pixels = np.bincount(channel_of)
        mean = np.bincount(channel_of, moments.mean) / n_pixels
        deviations = moments.variance + (moments.mean - mean[channel_of]) ** 2
        variance = np.bincount(channel_of, deviations) / n_pixels
        channels = moments._replace(mean=mean, variance=variance)
        scale = np.zeros_like(variance)
        np.divide(1, np.sqrt(variance), out=scale, where=channels.varies)
        return FeatureSpace(mean[channel_of], scale[channel_of])


def find_layout(
    n_features: int, found: tuple[int, ...] | None, image_shape: Any, channels: str
) -> ImageLayout | None:
    """Layout of the images in the rows of X; None where rows are no images.

    Parameters
    ----------
    n_features : int
        Numbers of a row.
    found : tuple of int or None
        Shape of an image, where X has more than two axes.
    image_shape : tuple of int or None
        The shape that the user gives; one number may be -1.
    channels : {"auto", "first", "last"}

    Returns
    -------
    layout : ImageLayout or None
    """
    if image_shape is None:
        return None if found is None else ImageLayout.of(found, channels)
    try:
        shape = np.empty(n_features, dtype=bool).reshape(tuple(image_shape)).shape
    except (TypeError, ValueError):
        raise ValueError(
            f"image_shape={image_shape!r} does not fit rows of n_features = {n_features} numbers."
        ) from None
    if found is not None and shape != found:
        raise ValueError(f"images have shape {found}, but image_shape={shape}.")
    return ImageLayout.of(shape, channels)


def moments_of(X: Any) -> Moments:
    """Means and variances of the numbers of rows, block by block, each made dense."""
    size = max(1, _BLOCK_NUMBERS // X.shape[1])
    starts = range(0, X.shape[0], size)
    blocks = (dense_rows(X, slice(start, start + size)) for start in starts)
    moments = [Moments.of(block) for block in blocks]
    total = moments[0]
    for others in moments[1:]:
        total += others
    return total


def dense_rows(X: Any, rows: Any) -> np.ndarray:
    """Some rows of an array, a sparse matrix or a data set, as an array of floats."""
    block = X[rows]
    if hasattr(block, "toarray"):
        block = block.toarray()
    return block if block.dtype.kind == "f" else block.astype(np.float32)
