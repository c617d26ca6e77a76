"""Files: how they are written, and how they are checked before they are believed.

* ``_atomic`` writes any file: under a name of its own, then renamed.
* ``_container`` is the format of the package's own files: arrays and a description, under a digest.
* ``_code_file`` is the one kind of them that every layer above needs, packed codes.
* ``_reading`` opens files, and turns the errors of parsers into one.
* ``_arrays`` reads ``.npy`` and ``.npz`` files that other programs wrote.
* ``_matlab`` reads matrices of MATLAB files, ``_torch_archive`` the tensors that ``torch.save``
  wrote, and ``_named_arrays`` any of these by the ending of their name.
* ``_storable`` says which objects a file can hold, and names their classes.
* ``_tree_writer`` turns such objects into what a description can hold, without pickle, and
  ``_tree_reader`` turns it back.
"""

from ._arrays import read_array, read_arrays
from ._atomic import Draft, check_output, write_file
from ._code_file import code_file, load_codes, noted_n_bits
from ._container import (
    Archive,
    Container,
    RowsFile,
    malformed,
    open_container,
    read_archive,
    write_archive,
)
from ._matlab import read_matrices, read_matrix
from ._named_arrays import ARRAY_FILES, choose_array, read_named_arrays, split_array_name
from ._reading import MalformedFileError, open_regular, reading
from ._storable import (
    given_name,
    is_given,
    is_of_package,
    storable,
    storable_types,
    type_name,
)
from ._torch_archive import read_tensors
from ._tree_reader import TreeReader
from ._tree_writer import TreeWriter

__all__ = [
    "ARRAY_FILES",
    "Archive",
    "Container",
    "Draft",
    "MalformedFileError",
    "RowsFile",
    "TreeReader",
    "TreeWriter",
    "check_output",
    "choose_array",
    "code_file",
    "given_name",
    "is_given",
    "is_of_package",
    "load_codes",
    "malformed",
    "noted_n_bits",
    "open_container",
    "open_regular",
    "read_archive",
    "read_array",
    "read_arrays",
    "read_matrices",
    "read_matrix",
    "read_named_arrays",
    "read_tensors",
    "reading",
    "split_array_name",
    "storable",
    "storable_types",
    "type_name",
    "write_archive",
    "write_file",
]
