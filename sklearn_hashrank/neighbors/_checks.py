"""Check the parameters of a search."""

from typing import Any

import numpy as np
from sklearn.utils import check_array

from .._features.tensors import as_host_array
from .._utils.parameters import is_int


def check_int(value: Any, name: str, least: int) -> None:
    """Refuse what is no int, or too small."""
    if not is_int(value, least):
        raise ValueError(f"{name} must be an int >= {least}. Got {value!r} instead.")


def check_n_neighbors(k: Any, n_codes: int, exclude_self: bool) -> int:
    """Return the number of neighbours, of which there must be so many."""
    check_int(k, "n_neighbors", 1)
    if k > n_codes - exclude_self:
        others = ", of which each leaves out itself" if exclude_self else ""
        raise ValueError(
            f"n_neighbors = {k} neighbours were asked for, but n_samples_fit_ = {n_codes} codes "
            f"are indexed{others}."
        )
    return int(k)


def check_mode(mode: str) -> None:
    """Refuse what is not a kind of graph."""
    if mode not in ("connectivity", "distance"):
        raise ValueError(f"mode must be 'connectivity' or 'distance'. Got {mode!r} instead.")


def check_projections(projections: Any, n_bits: int) -> np.ndarray:
    """Real projections of queries, as float64, or say what is wrong with them."""
    projections = as_host_array(projections, "projections")
    projections = check_array(projections, dtype=np.float64, input_name="projections")
    if projections.shape[1] != n_bits:
        raise ValueError(
            f"projections must have a column for each of the {n_bits} bits. "
            f"Got {projections.shape[1]}."
        )
    return projections
