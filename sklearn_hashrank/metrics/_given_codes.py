"""Codes that something else made, where a fitted estimator could be."""

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from ..codes._formats import pack_codes
from ..codes._reading import codes_of_array
from ._retrieval import Encoded


class GivenCodes(BaseEstimator):
    """Codes of all rows, of which some are looked up.

    Parameters
    ----------
    codes : ndarray of shape (n_samples, n_columns)
        Bits, signs, or what :func:`~sklearn_hashrank.codes.read_codes` returned.
    """

    def __init__(self, codes: Any):
        self.codes = codes

    def fit(self, X: Any, y: Any = None) -> "GivenCodes":
        """Learn nothing."""
        return self

    def encode_rows(self, rows: np.ndarray, taken: Any) -> Encoded:
        """Packed codes of the rows with these indices, which are `taken` from X."""
        codes, n_bits = self._read()
        return Encoded(pack_codes(codes[rows], n_bits), n_bits, taken)

    def check_rows(self, name: str, n_rows: int) -> None:
        """Check that there is a code for each row."""
        try:
            n_codes = len(self._read().codes)
        except (ValueError, TypeError) as error:
            raise ValueError(f"codes of {name!r}: {error}") from error
        if n_codes != n_rows:
            raise ValueError(
                f"codes of {name!r} must have one row for each row of X, {n_rows:,}. "
                f"Got {n_codes:,}."
            )

    def _read(self) -> Any:
        is_read = isinstance(self.codes, tuple) and hasattr(self.codes, "n_bits")
        return self.codes if is_read else codes_of_array(self.codes)

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        return (
            f"given codes of {self._read().n_bits} bits; what they learned from is not known here"
        )
