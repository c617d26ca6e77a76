"""Files: how they are written, and those of codes and of trees of objects.

* ``_atomic`` writes any file: under a name of its own, then renamed.
* ``_code_file`` reads and writes packed codes.
* ``_archive`` reads and writes arrays with a description, under a digest.
* ``_arrays`` reads ``.npy`` and ``.npz`` files that anybody wrote.
* ``_tree`` turns objects into such a description and arrays, and back, without pickle.
"""

from ._archive import Archive, read_archive, write_archive
from ._arrays import MalformedFileError, map_array, read_array, read_arrays, reading
from ._atomic import Draft, check_output, write_file
from ._code_file import CodeFile, load_codes, noted_n_bits
from ._tree import (
    TreeReader,
    TreeWriter,
    given_name,
    is_given,
    is_of_package,
    storable,
    storable_types,
    type_name,
)

__all__ = [
    "Archive",
    "CodeFile",
    "Draft",
    "MalformedFileError",
    "TreeReader",
    "TreeWriter",
    "check_output",
    "given_name",
    "is_given",
    "is_of_package",
    "load_codes",
    "map_array",
    "noted_n_bits",
    "read_archive",
    "read_array",
    "read_arrays",
    "reading",
    "storable",
    "storable_types",
    "type_name",
    "write_archive",
    "write_file",
]
