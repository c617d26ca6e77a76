"""Codes of classes: far apart from each other, whatever the rows of the classes are."""

from typing import Any

import numpy as np
from scipy import linalg
from sklearn.utils import check_random_state

from .._utils.parameters import is_int


def hadamard_codes(n_classes: int, n_bits: int, random_state: Any = None) -> np.ndarray:
    """Make a code of -1 and +1 for each class, any two of which differ in about half of the bits.

    They are rows of a Hadamard matrix without its constant column. The first bits are the digits of
    the number of the class, so no two classes share a code if there are enough bits. The other
    columns follow in random order, and all of them again if `n_bits` is larger. Codes of fewer bits
    are the first bits of longer codes.
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
