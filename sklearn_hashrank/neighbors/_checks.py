"""Check the parameters of a search."""

from typing import Any

from .._utils.parameters import is_int


def check_int(value: Any, name: str, least: int) -> None:
    if not is_int(value, least):
        raise ValueError(f"{name} must be an int >= {least}. Got {value!r} instead.")


def check_n_neighbors(k: Any, n_codes: int, exclude_self: bool) -> int:
    check_int(k, "n_neighbors", 1)
    if k > n_codes - exclude_self:
        others = ", of which each leaves out itself" if exclude_self else ""
        raise ValueError(
            f"n_neighbors = {k} neighbors were asked for, but n_samples_fit_ = {n_codes} codes "
            f"are indexed{others}."
        )
    return int(k)
