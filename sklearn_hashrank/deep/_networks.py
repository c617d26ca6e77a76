"""Networks that `DeepHasher` makes, and the layer of bits that a given network gets."""

import torch
from torch import nn

_HIDDEN = 512  # units of a hidden layer
_CHANNELS = (32, 32, 64)  # of the three convolutions
_FULLY_CONNECTED = 500


def perceptron(n_features: int, n_bits: int, hidden: int = _HIDDEN) -> nn.Module:
    """Multilayer perceptron for rows of features.

    Parameters
    ----------
    n_features : int
        Width of a row.
    n_bits : int
        Width of the output.
    hidden : int, default=512
        Units of the hidden layer.

    Returns
    -------
    network : Module
    """
    return nn.Sequential(
        nn.Linear(n_features, hidden), nn.BatchNorm1d(hidden), nn.ReLU(), hash_layer(hidden, n_bits)
    )


def convolutional(shape: tuple[int, int, int], n_bits: int) -> nn.Module:
    """Three convolutions and two fully connected layers, for images.

    Parameters
    ----------
    shape : tuple (channels, height, width)
        Of an image.
    n_bits : int
        Width of the output.

    Returns
    -------
    network : Module
    """
    layers: list[nn.Module] = []
    width = shape[0]
    for n_channels in _CHANNELS:
        layers += [nn.Conv2d(width, n_channels, 5, padding=2), nn.BatchNorm2d(n_channels)]
        layers += [nn.ReLU(), nn.MaxPool2d(3, stride=2, padding=1)]
        width = n_channels
    layers.append(nn.Flatten())
    features = nn.Sequential(*layers).eval()
    with torch.no_grad():
        n_features = features(torch.zeros(1, *shape)).shape[1]
    layers += [nn.Linear(n_features, _FULLY_CONNECTED), nn.ReLU()]
    return nn.Sequential(*layers, hash_layer(_FULLY_CONNECTED, n_bits))


def hash_layer(n_features: int, n_bits: int) -> nn.Module:
    """Layer that gives bits: a linear map, whose outputs are kept at unit variance.

    Parameters
    ----------
    n_features : int
        Width of what comes in.
    n_bits : int
        Width of the output.

    Returns
    -------
    layer : Module
    """
    return nn.Sequential(nn.Linear(n_features, n_bits), nn.BatchNorm1d(n_bits, affine=False))
