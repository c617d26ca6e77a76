"""Images to hash: loaders in the manner of scikit-learn's."""

from ._loaders import fetch_cifar10, fetch_fashion_mnist, fetch_mnist, load_digits_gist

__all__ = [
    "fetch_cifar10",
    "fetch_fashion_mnist",
    "fetch_mnist",
    "load_digits_gist",
]
