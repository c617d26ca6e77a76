"""Names of models: files of codes say which hasher made them, so that no two are mixed."""

import hashlib
import json
from collections.abc import Iterable
from typing import Any

from .storable import PLAIN, storable_types
from .tree_writer import NOT_KEPT, TreeWriter

# Attributes that codes do not depend on. A file may lack them, or have gained them.
_NOT_OF_CODES = {"codes_", "y_", "affinity_", "fitted_with_y_", "feature_names_in_", "history_"}
_NOT_OF_CODES |= {"output", "n_jobs", "verbose", "random_state"}


def model_name(hasher: Any) -> str | None:
    """Return the SHA-256 of all that the codes of a fitted hasher depend on.

    The name is the same before and after the hasher is saved. Objects among the parameters decide
    what is learned, and not how rows are encoded. None: no file could hold the hasher.
    """
    parameters = hasher.get_params(deep=False)
    kept = hasher._state_to_store() if hasattr(hasher, "_state_to_store") else vars(hasher)
    left_out = _NOT_OF_CODES.union(NOT_KEPT, getattr(type(hasher), "_not_stored", ()))
    left_out |= {name for name, value in parameters.items() if not isinstance(value, _SIMPLE)}
    digest = hashlib.sha256(type(hasher).__name__.encode())
    for name in sorted({*kept, *parameters} - left_out):
        writer = TreeWriter(storable_types(), lambda value: True)
        try:
            tree = writer.write(parameters.get(name, kept.get(name)), name)
        except ValueError:  # such as functions and generators of random numbers
            return None
        digest.update(json.dumps([name, tree], sort_keys=True).encode())
        for _, array in writer.arrays:
            digest.update(f"{array.dtype.str} {array.shape}".encode() + array.tobytes())
    return digest.hexdigest()


_SIMPLE = (*PLAIN, float, tuple)


def noted_model(about: dict[str, Any]) -> str | None:
    """Return the name of the model in the description of a file; None: the file names none."""
    model: str | None = about["model"]
    if type(model) not in (str, type(None)):
        raise ValueError(f"the name of the model is {model!r}")
    return model


def check_one_model(names: Iterable[tuple[str, str | None]]) -> None:
    """Refuse things whose models have different names, given pairs ``(what, name of its model)``.

    What has no name, None, goes with everything.
    """
    first: tuple[str, str] | None = None
    for what, name in names:
        if name is None:
            continue
        if first is not None and name != first[1]:
            raise ValueError(
                f"{what} has the codes of another model than {first[0]}, "
                f"{name[:8]} and {first[1][:8]}. Encode both with one model."
            )
        first = first or (what, name)
