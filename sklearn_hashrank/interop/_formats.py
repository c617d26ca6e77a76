"""Codes to and from where they are searched: faiss, PostgreSQL, vector stores.

All of them take bits in the order of :func:`numpy.packbits`, the first bit being the highest of the
first byte, or the leftmost character. faiss and most vector stores want whole bytes: codes of
another length are filled up with zeros, which changes no distance, and `n_bits` takes them off on
the way back.
"""

from collections.abc import Iterable
from typing import Any

import numpy as np

from ..codes import CodeReader, check_n_bits, packed_width, unpack_codes, write_codes


def to_bit_strings(codes: Any, n_bits: int | None = None) -> list[str]:
    """Write each code as a string of 0 and 1.

    That is a literal of PostgreSQL's ``bit(n)``, which pgvector compares by ``<~>``.

    Parameters
    ----------
    codes : array-like of shape (n, n_columns)
        Codes as bits, signs or packed bytes.
    n_bits : int, default=None
        Length of a code; needed for packed bytes.

    Returns
    -------
    strings : list of str
        `n_bits` characters each, the first bit leftmost.

    Examples
    --------
    >>> from sklearn_hashrank.interop import to_bit_strings
    >>> to_bit_strings([[1, -1, -1], [1, 1, -1]])
    ['100', '110']
    """
    packed, n_bits = _packed(codes, n_bits)
    text = (write_codes(packed, n_bits, "bits") + ord("0")).tobytes().decode("ascii")
    return [text[start : start + n_bits] for start in range(0, len(text), n_bits)]


def from_bit_strings(strings: Iterable[str], output: str = "bits") -> np.ndarray:
    """Read codes written as strings of 0 and 1.

    Parameters
    ----------
    strings : iterable of str
        Of one length.
    output : {"bits", "signs", "packed"}, default="bits"
        Format of the codes.

    Returns
    -------
    codes : ndarray
        See :func:`sklearn_hashrank.codes.unpack_codes`.

    Examples
    --------
    >>> from sklearn_hashrank.interop import from_bit_strings
    >>> from_bit_strings(["100", "110"])
    array([[1, 0, 0],
           [1, 1, 0]], dtype=uint8)
    """
    if isinstance(strings, str):
        raise ValueError("bit strings must come in an iterable. Got a single str.")
    strings = list(strings)
    lengths = {len(string) for string in strings}
    if len(lengths) != 1 or 0 in lengths:
        found = f"lengths {sorted(lengths)[:5]}" if lengths else "no strings"
        raise ValueError(f"bit strings must be of one length, at least 1. Got {found}.")
    n_bits = lengths.pop()
    for i, string in enumerate(strings):
        if string.strip("01"):
            raise ValueError(
                f"bit strings must hold only 0 and 1. Got {string[:40]!r}, number {i}."
            )
    text = np.frombuffer("".join(strings).encode("ascii"), dtype=np.uint8)
    bits = (text - ord("0")).reshape(-1, n_bits)
    return bits if output == "bits" else write_codes(np.packbits(bits, axis=1), n_bits, output)


def to_bytes(codes: Any, n_bits: int | None = None) -> list[bytes]:
    r"""Write each code as packed bytes.

    That is what Milvus takes as ``BINARY_VECTOR`` and Oracle as ``VECTOR(n, BINARY)``, of a length
    that is a multiple of 8.

    Parameters
    ----------
    codes : array-like of shape (n, n_columns)
        Codes as bits, signs or packed bytes.
    n_bits : int, default=None
        Length of a code; needed for packed bytes.

    Returns
    -------
    rows : list of bytes
        ``ceil(n_bits / 8)`` bytes each; bits beyond `n_bits` are zeros.

    Examples
    --------
    >>> from sklearn_hashrank.interop import to_bytes
    >>> to_bytes([[0, 1, 0, 0, 0, 0, 0, 1, 1]])
    [b'A\x80']
    """
    packed, _ = _packed(codes, n_bits)
    return [row.tobytes() for row in packed]


def from_bytes(rows: Iterable[bytes], n_bits: int, output: str = "bits") -> np.ndarray:
    r"""Read codes written as packed bytes.

    Parameters
    ----------
    rows : iterable of bytes
        ``ceil(n_bits / 8)`` bytes each.
    n_bits : int
        Length of a code.
    output : {"bits", "signs", "packed"}, default="bits"
        Format of the codes.

    Returns
    -------
    codes : ndarray
        See :func:`sklearn_hashrank.codes.unpack_codes`.

    Examples
    --------
    >>> from sklearn_hashrank.interop import from_bytes
    >>> from_bytes([b"A\x80"], n_bits=9)
    array([[0, 1, 0, 0, 0, 0, 0, 1, 1]], dtype=uint8)
    """
    rows = list(rows)
    width = packed_width(check_n_bits(n_bits) or 1)
    for i, row in enumerate(rows):
        if len(row) != width:
            raise ValueError(
                f"codes of n_bits={n_bits} take {width} bytes. Got {len(row)}, in row {i}."
            )
    packed = np.frombuffer(b"".join(rows), dtype=np.uint8).reshape(-1, width)
    return unpack_codes(packed, n_bits, output)


def to_faiss(codes: Any, n_bits: int | None = None, *, n_lists: int | None = None) -> Any:
    """Make a faiss index of codes. Needs the extra ``faiss``.

    Parameters
    ----------
    codes : array-like of shape (n, n_columns)
        Codes as bits, signs or packed bytes.
    n_bits : int, default=None
        Length of a code; needed for packed bytes.
    n_lists : int, default=None
        Inverted lists, for approximate search, trained on the codes. None: all codes are scanned.

    Returns
    -------
    index : faiss.IndexBinaryFlat or faiss.IndexBinaryIVF
        Of ``8 * ceil(n_bits / 8)`` dimensions; distances are those of the codes.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_hashrank.interop import to_faiss
    >>> codes = np.eye(3, 8, dtype=np.uint8)
    >>> index = to_faiss(codes)
    >>> index.search(np.packbits(codes, axis=1), 2)[0]
    array([[0, 2],
           [0, 2],
           [0, 2]], dtype=int32)
    """
    faiss = _import_faiss()
    packed, n_bits = _packed(codes, n_bits)
    dimension = 8 * packed_width(n_bits)
    index: Any = faiss.IndexBinaryFlat(dimension)
    if n_lists is not None:
        if not 1 <= n_lists <= len(packed):
            raise ValueError(f"n_lists must be in [1, {len(packed)}], the codes. Got {n_lists}.")
        index = faiss.IndexBinaryIVF(index, dimension, n_lists)
        index.train(packed)
    index.add(packed)
    return index


def from_faiss(index: Any, n_bits: int | None = None, output: str = "packed") -> np.ndarray:
    """Read the codes of a faiss index. Needs the extra ``faiss``.

    Parameters
    ----------
    index : faiss.IndexBinaryFlat or faiss.IndexBinaryIVF
        With the ids 0, 1, ... that ``add`` gives.
    n_bits : int, default=None
        Length of a code; None: all bits of the index.
    output : {"packed", "bits", "signs"}, default="packed"
        Format of the codes.

    Returns
    -------
    codes : ndarray
        In order of id; see :func:`sklearn_hashrank.codes.unpack_codes`.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_hashrank.interop import from_faiss, to_faiss
    >>> codes = np.eye(3, 8, dtype=np.uint8)
    >>> from_faiss(to_faiss(codes), output="bits")
    array([[1, 0, 0, 0, 0, 0, 0, 0],
           [0, 1, 0, 0, 0, 0, 0, 0],
           [0, 0, 1, 0, 0, 0, 0, 0]], dtype=uint8)
    """
    faiss = _import_faiss()
    # What downcasting returns does not own the index, so that `index` has to live on.
    known: Any = index
    if isinstance(index, faiss.IndexBinary):
        known = faiss.downcast_IndexBinary(index)
    if not isinstance(known, (faiss.IndexBinaryFlat, faiss.IndexBinaryIVF)):
        raise TypeError(
            f"index must be an IndexBinaryFlat or IndexBinaryIVF. Got {type(known).__name__}."
        )
    if n_bits is not None and packed_width(check_n_bits(n_bits) or 1) != known.code_size:
        raise ValueError(f"n_bits={n_bits} does not go with an index of {known.d} bits.")
    is_flat = isinstance(known, faiss.IndexBinaryFlat)
    packed = _flat_codes(known) if is_flat else _codes_of_lists(known)
    return unpack_codes(packed, known.d if n_bits is None else n_bits, output)


def _import_faiss() -> Any:
    try:
        import faiss
    except ImportError as error:
        raise ImportError(
            "faiss is needed, which is not installed. "
            "It comes with `pip install sklearn-hashrank[faiss]`."
        ) from error
    return faiss


def _flat_codes(index: Any) -> np.ndarray:
    faiss = _import_faiss()

    return faiss.vector_to_array(index.xb).reshape(-1, index.code_size)


def _codes_of_lists(index: Any) -> np.ndarray:
    faiss = _import_faiss()

    packed = np.empty((index.ntotal, index.code_size), dtype=np.uint8)
    seen = np.zeros(index.ntotal, dtype=bool)
    lists = index.invlists
    for number in range(index.nlist):
        size = lists.list_size(number)
        if not size:
            continue
        ids = faiss.rev_swig_ptr(lists.get_ids(number), size)
        if ids.min() < 0 or ids.max() >= index.ntotal:
            break
        codes = faiss.rev_swig_ptr(lists.get_codes(number), size * index.code_size)
        packed[ids] = codes.reshape(size, -1)
        seen[ids] = True
    if not seen.all():
        raise ValueError(f"the ids of the index must be 0, ..., {index.ntotal - 1}, each once.")
    return packed


def _packed(codes: Any, n_bits: int | None) -> tuple[np.ndarray, int]:
    reader = CodeReader(n_bits)
    packed = np.ascontiguousarray(reader.packed(codes, "codes"))
    return packed, int(reader.n_bits or 0)
