"""Codes in the formats of other programs."""

from ._bits import from_bit_strings, from_bytes, to_bit_strings, to_bytes
from ._faiss import from_faiss, to_faiss

__all__ = [
    "from_bit_strings",
    "from_bytes",
    "from_faiss",
    "to_bit_strings",
    "to_bytes",
    "to_faiss",
]
