"""Read codes from the files that scripts of any kind leave."""

import os
from typing import Any, NamedTuple

import numpy as np

from .._files.codes import load_codes, note_of_codes
from .._files.named_arrays import choose_array, read_named_arrays, split_array_name
from .._utils.parameters import is_finite
from ._formats import as_code_matrix, check_n_bits, packed_width

_ROWS_TO_LOOK_AT = 4096  # whose values tell the format; every value is checked later
_FEWEST_BITS = 8  # of bytes of 0 and 1 that are taken for bits, and not for packed codes
_NAMES = ("codes", "code", "B")


class ReadCodes(NamedTuple):
    """Codes as they stand in a file, and their length.

    Parameters
    ----------
    codes : ndarray of shape (n, n_columns)
        Bits, signs or packed bytes.
    n_bits : int
        Length of a code.
    """

    codes: np.ndarray
    n_bits: int


def read_codes(
    path: Any, *, n_bits: int | None = None, threshold: float | None = None
) -> ReadCodes:
    """Read codes from a file, and find their length where it is not in doubt.

    Parameters
    ----------
    path : str or path-like
        ``.npy``; ``.npz`` or ``.mat`` with an array called ``codes``, ``code`` or ``B``, or only
        one array; or ``.pt`` that `torch.save` wrote, with a tensor or a dict of tensors, if torch
        is installed; torch runs nothing of it. Another array is named after a colon, as in
        ``"found.mat:B_database"``. Values are 0 and 1, -1 and +1, of any type of number, or packed
        bytes.
    n_bits : int, default=None
        Length of a code, needed for packed bytes unless
        :meth:`~sklearn_hashrank.base.BaseHasher.encode_blocks` wrote the file.
    threshold : float, default=None
        A bit is whether the value is above it, for values that are not binary yet, such as those of
        a tanh. None: values must be binary.

    Returns
    -------
    read : ReadCodes
        `codes` in any of the formats that metrics take, and `n_bits`.

    Examples
    --------
    >>> import os, tempfile
    >>> import numpy as np
    >>> from sklearn_hashrank.codes import read_codes
    >>> outputs = np.tanh([[0.3, -2.0, 1.1], [-0.1, 0.4, -3.0]])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "outputs.npz")
    ...     np.savez(path, codes=outputs)
    ...     codes, n_bits = read_codes(path, threshold=0)
    >>> codes.astype(int), n_bits
    (array([[1, 0, 1],
           [0, 1, 0]]), 3)
    """
    file, name = split_array_name(os.fspath(path))
    if file.lower().endswith(".npy") and (note := note_of_codes(file)) is not None:
        if threshold is not None:
            raise ValueError(f"{file} holds packed codes, which have no threshold.")
        return ReadCodes(load_codes(file, check_n_bits(n_bits)), note.n_bits)
    codes = choose_array(read_named_arrays(file), file, name, _NAMES)
    return codes_of_array(codes, file, n_bits=n_bits, threshold=threshold)


def codes_of_array(
    codes: Any, name: str = "codes", *, n_bits: int | None = None, threshold: float | None = None
) -> ReadCodes:
    """Find out what an array of codes is; `name` is what errors call it."""
    n_bits = check_n_bits(n_bits)
    if threshold is not None and not is_finite(threshold):
        raise ValueError(f"threshold must be a finite float or None. Got {threshold!r} instead.")
    codes = as_code_matrix(codes, name)
    n_columns = codes.shape[1]
    if threshold is not None:
        codes = _above(codes, float(threshold), name)
    if n_bits is not None and n_columns != n_bits:
        width = packed_width(n_bits)
        if n_columns != width or codes.dtype.kind not in "iu":
            raise ValueError(
                f"{name} must be integers in {width} packed columns or {n_bits} columns of bits, "
                f"as n_bits={n_bits}. Got {codes.dtype} of shape {codes.shape}."
            )
        return ReadCodes(codes, n_bits)
    values = np.unique(codes[:_ROWS_TO_LOOK_AT])
    if not np.isin(values, (-1, 1)).all() and not np.isin(values, (0, 1)).all():
        shown = ", ".join(f"{value:g}" for value in values[:4].astype(float))
        shown += f", ... ({len(values)} distinct values)" if len(values) > 4 else ""
        if codes.dtype == np.uint8:
            hint = f"Packed bytes need their length: give n_bits={8 * n_columns}."
        elif set(values.tolist()) == {-1, 0, 1}:
            hint = "A sign of 0 is no bit: give threshold=0."
        else:
            hint = "Give threshold=0, where a bit is whether a value is above 0."
        raise ValueError(f"{name} must hold only 0 and 1, or only -1 and +1. Got {shown}. {hint}")
    if n_bits is None and codes.dtype == np.uint8 and n_columns < _FEWEST_BITS:
        raise ValueError(f"{name} are bytes in {n_columns} columns, bits or packed: give n_bits.")
    return ReadCodes(codes, n_columns)


def _above(values: np.ndarray, threshold: float, name: str) -> np.ndarray:
    if values.dtype == np.uint8 and values.max() > 1:
        raise ValueError(
            f"{name} are bytes beyond 0 and 1, packed codes or signs that lost their minus, which "
            "have no threshold. Convert them to floats if they are values."
        )
    if np.isnan(values).any():
        row = int(np.argmax(np.isnan(values).any(axis=1)))
        raise ValueError(
            f"{name} hold a NaN in row {row}, which is not above a threshold nor below it."
        )
    found: np.ndarray = values > threshold
    return found
