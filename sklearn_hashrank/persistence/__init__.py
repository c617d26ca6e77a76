"""Files: how they are written, and those of codes and of trees of objects.

* ``_atomic`` writes any file: under a name of its own, then renamed.
* ``_code_file`` reads and writes packed codes.
* ``_archive`` reads and writes arrays with a description, under a digest.
* ``_tree`` turns objects into such a description and arrays, and back, without pickle.
"""

from ._archive import Archive, read_archive, write_archive
from ._atomic import Draft, check_output, write_file
from ._code_file import CodeFile, load_codes, noted_n_bits
from ._tree import TreeReader, TreeWriter, storable, storable_types, type_name

__all__ = [
    "Archive",
    "CodeFile",
    "Draft",
    "TreeReader",
    "TreeWriter",
    "check_output",
    "load_codes",
    "noted_n_bits",
    "read_archive",
    "storable",
    "storable_types",
    "type_name",
    "write_archive",
    "write_file",
]
