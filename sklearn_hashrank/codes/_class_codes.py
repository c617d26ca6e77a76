"""Codes of classes: far apart from each other, whatever the rows of the classes are."""

from typing import Any

import numpy as np
from scipy import linalg
from sklearn.utils import check_random_state

from .._utils.parameters import is_int


def hadamard_codes(n_classes: int, n_bits: int, random_state: Any = None) -> np.ndarray:
    """Make a code for each class, any two of which differ in about half of the bits.

    They are rows of a Hadamard matrix without its constant column. The first bits are the digits of
    the number of the class, so that no two classes share a code where there are enough bits. The
    other columns come in an order that is sampled, and all of them again where `n_bits` is larger.

    Parameters
    ----------
    n_classes : int
        Number of classes.
    n_bits : int
        Length of a code. The codes of fewer bits are the first bits of those of more.
    random_state : int, RandomState instance or None, default=None
        Samples the order.

    Returns
    -------
    codes : ndarray of shape (n_classes, n_bits), int8
        -1 and +1.

    Examples
    --------
    >>> from sklearn_hashrank.codes import hadamard_codes
    >>> hadamard_codes(4, 3, random_state=0)
    array([[ 1,  1,  1],
           [-1,  1, -1],
           [ 1, -1, -1],
           [-1, -1,  1]], dtype=int8)
    """
    for name, value in {"n_classes": n_classes, "n_bits": n_bits}.items():
        if not is_int(value, 1):
            raise ValueError(f"{name} must be an int >= 1. Got {value!r}.")
    n_digits = max(1, (n_classes - 1).bit_length())
    digits = 1 << np.arange(n_digits)
    others = np.setdiff1d(np.arange(1, 1 << n_digits), digits)
    order = check_random_state(random_state).permutation(others)
    columns = np.resize(np.concatenate([digits, order]), n_bits)
    codes: np.ndarray = linalg.hadamard(1 << n_digits, dtype=np.int8)[:n_classes, columns]
    return codes
