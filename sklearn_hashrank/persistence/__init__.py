"""Files that are whole, or are refused."""

from ._code_file import CodeFile, load_codes, noted_n_bits

__all__ = ["CodeFile", "load_codes", "noted_n_bits"]
