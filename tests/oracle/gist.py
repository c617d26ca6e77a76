"""The GIST descriptor as it is defined, with sums in place of fast transforms."""

import functools
import math

import numpy as np


def mirrored(size, before, after):
    """Pixels 0..size-1, with their mirror images on both sides: 1 0 | 0 1 2 | 2 1."""
    places = np.arange(-before, size + after) % (2 * size)
    return np.where(places < size, places, 2 * size - 1 - places)


def frequencies(size):
    """Whole cycles per image, in ascending order."""
    return np.arange(-(size // 2), size - size // 2)


@functools.cache
def waves(size):
    return np.exp(-2j * np.pi * np.outer(frequencies(size), np.arange(size)) / size)


def apply_filter(image, transfer):
    """Filter an image by its transfer function at the frequencies above."""
    along_y, along_x = waves(image.shape[0]), waves(image.shape[1])
    spectrum = along_y @ image @ along_x.T
    return along_y.conj().T @ (spectrum * transfer) @ along_x.conj() / image.size


def prefilter(image, cycles, margin=5):
    height, width = image.shape
    side = max(height, width) + 2 * margin
    side += side % 2
    rows = mirrored(height + 2 * margin, 0, side - height - 2 * margin)
    columns = mirrored(width + 2 * margin, 0, side - width - 2 * margin)
    image = np.log(image + 1)[np.ix_(mirrored(height, 5, 5), mirrored(width, 5, 5))]
    image = image[np.ix_(rows, columns)]
    low_pass = np.zeros((side, side))
    for i, y in enumerate(frequencies(side)):
        for j, x in enumerate(frequencies(side)):
            low_pass[i, j] = np.exp(-(x**2 + y**2) / (cycles / np.sqrt(np.log(2))) ** 2)
    details = image - apply_filter(image, low_pass).real
    deviation = np.sqrt(np.abs(apply_filter(details**2, low_pass)))
    return (details / (0.2 + deviation))[5 : 5 + height, 5 : 5 + width]


@functools.cache
def gabor_filter(height, width, scale, orientation, n_orientations):
    transfer = np.zeros((height, width))
    for i, y in enumerate(frequencies(height).tolist()):
        for j, x in enumerate(frequencies(width).tolist()):
            frequency = math.hypot(x / width, y / height)
            angle = math.atan2(y / height, x / width) + math.pi / n_orientations * orientation
            if angle > math.pi:
                angle -= 2 * math.pi
            transfer[i, j] = math.exp(
                -10 * 0.35 * (frequency / (0.3 / 1.85**scale) - 1) ** 2
                - 2 * (16 * n_orientations**2 / 32**2) * math.pi * angle**2
            )
    return transfer


def gist(image, n_blocks=4, orientations=(8, 8, 8, 8), cycles=4, extension=32):
    """Descriptor of one image, (height, width) or (height, width, channels)."""
    image = np.asarray(image, dtype=float)
    if image.ndim == 3:
        image = image.mean(axis=2)
    image = image - image.min()
    image = 255 * image / image.max()
    if cycles is not None:
        image = prefilter(image, cycles)
    height, width = image.shape
    rows, columns = (mirrored(size, extension, extension) for size in (height, width))
    image = image[np.ix_(rows, columns)]
    features = []
    for scale, n_orientations in enumerate(orientations):
        for orientation in range(n_orientations):
            transfer = gabor_filter(*image.shape, scale, orientation, n_orientations)
            magnitude = np.abs(apply_filter(image, transfer))
            magnitude = magnitude[extension : extension + height, extension : extension + width]
            for column in range(n_blocks):
                for row in range(n_blocks):
                    top, bottom = (int(height * edge / n_blocks) for edge in (row, row + 1))
                    left, right = (int(width * edge / n_blocks) for edge in (column, column + 1))
                    features.append(magnitude[top:bottom, left:right].mean())
    return np.array(features)
