"""Binary codes: formats, distances, and how many items have each code."""

from ..persistence import load_codes
from ._class_codes import hadamard_codes
from ._code_distances import hamming_distances, spherical_distances, weighted_distances
from ._code_formats import (
    FORMATS,
    CodeReader,
    as_code_matrix,
    check_n_bits,
    pack_codes,
    packed_width,
    truncate_codes,
    unpack_codes,
    write_codes,
)
from ._code_reading import codes_of_array, read_codes
from ._counts import CodeCounter, KeptCodes
from ._groups import EqualCodes, group_equal
from ._targets import collect_codes

__all__ = [
    "FORMATS",
    "CodeCounter",
    "CodeReader",
    "EqualCodes",
    "KeptCodes",
    "as_code_matrix",
    "check_n_bits",
    "codes_of_array",
    "collect_codes",
    "group_equal",
    "hadamard_codes",
    "hamming_distances",
    "load_codes",
    "pack_codes",
    "packed_width",
    "read_codes",
    "spherical_distances",
    "truncate_codes",
    "unpack_codes",
    "weighted_distances",
    "write_codes",
]
