"""Binary codes: formats, distances, and how many items have each code."""

from .._files.codes import load_codes
from ._class_codes import hadamard_codes
from ._distances import hamming_distances, spherical_distances, weighted_distances
from ._formats import pack_codes, truncate_codes, unpack_codes
from ._groups import EqualCodes, group_equal
from ._reading import codes_of_array, read_codes

__all__ = [
    "EqualCodes",
    "codes_of_array",
    "group_equal",
    "hadamard_codes",
    "hamming_distances",
    "load_codes",
    "pack_codes",
    "read_codes",
    "spherical_distances",
    "truncate_codes",
    "unpack_codes",
    "weighted_distances",
]
