"""Compiled loops: arrays in, arrays out.

A module of kernels is imported, and numba with it, when one of its names is asked for. So every
module of the package may write ``from .. import _kernels`` at its top and call
``_kernels.hamming.count_runs(...)``; importing the package stays light.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from . import (
        asymmetric,
        bit_flips,
        cuts,
        distances,
        hamming,
        moves,
        nearest,
        nibble_tables,
        pair_walk,
        pairs,
        projections,
        rankings,
        soft_histogram,
        soft_ties,
        special,
        substrings,
        table_descent,
        trees,
        triplets,
        violated_rankings,
    )

__all__ = [
    "asymmetric",
    "bit_flips",
    "cuts",
    "distances",
    "hamming",
    "moves",
    "nearest",
    "nibble_tables",
    "pair_walk",
    "pairs",
    "projections",
    "rankings",
    "soft_histogram",
    "soft_ties",
    "special",
    "substrings",
    "table_descent",
    "trees",
    "triplets",
    "violated_rankings",
]


def __getattr__(name: str) -> Any:
    """Import a module of kernels."""
    if name in __all__:
        return import_module(f".{name}", __name__)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
