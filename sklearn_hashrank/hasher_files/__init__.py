"""Fitted hashers in files that are checked when they are read, and that hold no code.

* ``_saving`` writes and reads the files.
* ``_fitted_state`` checks that fitted attributes fit together.
* ``_probes`` compares the scores of a few rows with those that were stored.
"""

from ._saving import load_hasher, save_hasher

__all__ = ["load_hasher", "save_hasher"]
