"""Binary codes: formats, distances, and how many items have each code."""

from .._files.codes import load_codes
from ._distances import hamming_distances, spherical_distances, weighted_distances
from ._formats import pack_codes, truncate_codes, unpack_codes
from ._reading import read_codes

__all__ = [
    "hamming_distances",
    "load_codes",
    "pack_codes",
    "read_codes",
    "spherical_distances",
    "truncate_codes",
    "unpack_codes",
    "weighted_distances",
]
