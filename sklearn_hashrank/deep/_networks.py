"""Networks that `DeepHasher` makes, and the layer of bits that a given network gets."""

from collections.abc import Sequence

import torch
from torch import nn

# The usual share of hidden units. Features of a network gained .015 from dropping a part of them at
# the input as well, where .4 was too much.
_HIDDEN, _DROPOUT, _INPUT_DROPOUT = 512, 0.5, 0.3
# Three convolutions and 500 units are those of deep supervised hashing (Liu et al. 2016) and of the
# dispersed objectives. That network has 32, 32 and 64 channels, kernels of 5 x 5, pools before it
# rectifies and is not normalized. This one has as many parameters and takes as long; on validation
# rows of Fashion-MNIST it had an AP of .787 after 10 passes, the other one, normalized, .75.
_CHANNELS, _FULLY_CONNECTED = (32, 64, 64), 500

# Whatever torch makes by default: in float64 other numbers would be sampled.
_DTYPE = torch.float32


def perceptron(
    n_features: int,
    n_bits: int,
    hidden: int = _HIDDEN,
    *,
    dropout: float = _DROPOUT,
    input_dropout: float = _INPUT_DROPOUT,
) -> nn.Sequential:
    """Multilayer perceptron with one hidden layer, for rows of features.

    Parameters
    ----------
    n_features : int
        Width of a row.
    n_bits : int
        Width of the output.
    hidden : int, default=512
        Units of the hidden layer.
    dropout, input_dropout : float
        Share of the hidden units, and of the features, that a training step leaves out.

    Returns
    -------
    network : Sequential
    """
    return nn.Sequential(
        nn.Dropout(input_dropout),
        nn.Linear(n_features, hidden, bias=False, dtype=_DTYPE),
        nn.BatchNorm1d(hidden, dtype=_DTYPE),
        nn.ReLU(),
        nn.Dropout(dropout),
        hash_layer(hidden, n_bits),
    )


def convolutional(
    shape: tuple[int, int, int],
    n_bits: int,
    channels: Sequence[int] = _CHANNELS,
    hidden: int = _FULLY_CONNECTED,
) -> nn.Sequential:
    """Convolutions, each with a pooling that halves the image, and two fully connected layers.

    Parameters
    ----------
    shape : tuple (channels, height, width)
        Of an image.
    n_bits : int
        Width of the output.
    channels : sequence of int, default=(32, 64, 64)
        Of each convolution.
    hidden : int, default=500
        Units of the fully connected layer.

    Returns
    -------
    network : Sequential
    """
    layers: list[nn.Module] = []
    width, *size = shape
    for n_channels in channels:
        layers += [
            nn.Conv2d(width, n_channels, 3, padding=1, bias=False, dtype=_DTYPE),
            nn.BatchNorm2d(n_channels, dtype=_DTYPE),
            nn.ReLU(),
            nn.MaxPool2d(2, ceil_mode=True),
        ]
        width, size = n_channels, [-(-length // 2) for length in size]
    n_features = width * size[0] * size[1]
    layers += [
        nn.Flatten(),
        nn.Linear(n_features, hidden, bias=False, dtype=_DTYPE),
        nn.BatchNorm1d(hidden, dtype=_DTYPE),
        nn.ReLU(),
        hash_layer(hidden, n_bits),
    ]
    return nn.Sequential(*layers)


def hash_layer(n_features: int, n_bits: int) -> nn.Sequential:
    """Return the layer of the bits: a linear map, whose outputs have mean 0 and unit variance.

    The steepness of the relaxed codes is meant for this variance, and half of the bits are set.

    Parameters
    ----------
    n_features : int
        Number of input features.
    n_bits : int
        Width of the output.

    Returns
    -------
    layer : Sequential
    """
    return nn.Sequential(
        nn.Linear(n_features, n_bits, bias=False, dtype=_DTYPE),
        nn.BatchNorm1d(n_bits, affine=False, dtype=_DTYPE),
    )
