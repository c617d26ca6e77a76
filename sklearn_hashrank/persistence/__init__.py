"""Files that are whole, or are refused."""

from ._arrays import MalformedFileError, map_array, read_array, read_arrays, reading
from ._code_file import CodeFile, load_codes, noted_n_bits

__all__ = [
    "CodeFile",
    "MalformedFileError",
    "load_codes",
    "map_array",
    "noted_n_bits",
    "read_array",
    "read_arrays",
    "reading",
]
