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

Fitted hashers in files that are checked when they are read, and that hold no code.

* ``_saving`` writes and reads the files.
* ``_fitted_state`` checks that fitted attributes fit together.
* ``_probes`` compares the scores of a few rows with those that were stored.
"""
