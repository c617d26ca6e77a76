"""Images to hash: loaders in the manner of scikit-learn's."""

from ._loaders import fetch_cifar10, fetch_fashion_mnist, fetch_mnist, load_digits_gist
from ._local import load_cifar100, load_labelme, load_nus_wide

__all__ = [
    "fetch_cifar10",
    "fetch_fashion_mnist",
    "fetch_mnist",
    "load_cifar100",
    "load_digits_gist",
    "load_labelme",
    "load_nus_wide",
]
