"""Files: how they are written, and how they are checked before they are believed.

* ``atomic`` writes any file: under a name of its own, then renamed.
* ``container`` is the format of the package's own files: arrays and a description, under a digest.
* ``codes`` is the one kind of them that every layer above needs, packed codes.
* ``model_names`` names the hasher that made codes, and refuses codes of two.
* ``reading`` opens files, and turns the errors of parsers into one.
* ``arrays`` reads ``.npy`` and ``.npz`` files that other programs wrote.
* ``matlab`` reads matrices of MATLAB files, ``tensors`` the tensors that ``torch.save`` wrote, and
  ``named_arrays`` any of these by the ending of their name.
* ``storable`` says which objects a file can hold, and names their classes.
* ``tree_writer`` turns such objects into what a description can hold, without pickle, and
  ``tree_reader`` turns it back.

Fitted hashers in files that are checked when they are read, and that hold no code.

* ``hashers.saving`` writes and reads the files.
* ``hashers.fitted_state`` checks that fitted attributes fit together.
* ``hashers.probes`` compares the scores of a few rows with those that were stored.
"""
