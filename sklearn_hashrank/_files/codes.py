"""Files of packed codes."""

import os
from typing import Any, NamedTuple

import numpy as np

from .container import RowsFile, description_of, malformed, open_container
from .model_names import noted_model


class CodesNote(NamedTuple):
    """What a file of codes says of itself: their length, and the name of the model, if known."""

    n_bits: int
    model: str | None


def code_file(path: Any, n_bits: int, model: str | None = None) -> RowsFile:
    """Begin a ``.npy`` file of packed codes, which are written block by block."""
    about = {"n_bits": n_bits, "model": model}
    return RowsFile(path, "codes", np.uint8, _width(n_bits), about)


def load_codes(path: Any, n_bits: int | None = None) -> np.ndarray:
    """Map a file that `encode_blocks` wrote, after a look at every byte.

    Parameters
    ----------
    path : str or path-like
        Name of the file that is read.
    n_bits : int, default=None
        Length that the codes must have; None accepts any.

    Returns
    -------
    codes : memmap of shape (n_samples, ceil(n_bits / 8)), uint8
        Packed codes, read-only.

    Raises
    ------
    ValueError
        Where the file is truncated, was changed, holds codes of another length, or was written by
        something else.

    Examples
    --------
    >>> import os, tempfile
    >>> import numpy as np
    >>> from sklearn_hashrank import LSHHasher
    >>> from sklearn_hashrank.codes import load_codes
    >>> X = np.random.default_rng(0).normal(size=(100, 8))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "codes.npy")
    ...     _ = LSHHasher(n_bits=16, random_state=0).fit(X).encode_blocks(X, out=path)
    ...     load_codes(path, n_bits=16).shape
    (100, 2)
    """
    with open_container(path, "codes") as file:  # all is read from one file, though it be replaced
        noted = _note(file.about, file.path).n_bits
        file.check_content()
        codes = file.rows(np.uint8, "r")
        with malformed(file.path):
            if codes.shape[1] != _width(noted):
                raise ValueError
    if n_bits is not None and noted != n_bits:
        raise ValueError(f"{os.fspath(path)!r} holds codes of n_bits={noted}. Expected {n_bits}.")
    return codes


def note_of_codes(path: Any) -> CodesNote | None:
    """What a file that `encode_blocks` wrote says of itself; None for files of other programs.

    Only the description of the file is looked at: :func:`load_codes` looks at the rest.
    """
    about = description_of(path, "codes")
    return None if about is None else _note(about, os.fspath(path))


def model_of_codes(codes: Any) -> str | None:
    """Name of the model of mapped codes, if their file has one; it gets lost in other arrays."""
    path = getattr(codes, "filename", None) if isinstance(codes, np.memmap) else None
    if path is None or not os.path.isfile(path):
        return None
    noted = note_of_codes(path)
    return None if noted is None else noted.model


def _note(about: dict[str, Any], path: str) -> CodesNote:
    with malformed(path):
        n_bits = about["n_bits"]
        if type(n_bits) is not int or n_bits < 1:
            raise ValueError
        return CodesNote(n_bits, noted_model(about))


def _width(n_bits: int) -> int:
    return -(-n_bits // 8)
