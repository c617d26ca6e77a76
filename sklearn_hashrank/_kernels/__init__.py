"""Compiled loops: arrays in, arrays out.

A module of kernels is imported, and numba with it, when one of its names is asked for. So every
module of the package may write ``from .. import _kernels`` at its top and call
``_kernels.hamming.count_runs(...)``; importing the package stays light.
"""

import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from . import (
        adam,
        asymmetric,
        bit_flip_losses,
        bit_flips,
        cuts,
        distances,
        hamming,
        nearest,
        nibble_tables,
        pairs,
        projections,
        rankings,
        soft_histogram,
        soft_ties,
        substrings,
        table_beams,
        table_descent,
        trees,
        trigamma,
        triplets,
        violated_rankings,
    )

__all__ = [
    "adam",
    "asymmetric",
    "bit_flip_losses",
    "bit_flips",
    "cuts",
    "distances",
    "hamming",
    "nearest",
    "nibble_tables",
    "pairs",
    "projections",
    "rankings",
    "soft_histogram",
    "soft_ties",
    "substrings",
    "table_beams",
    "table_descent",
    "trees",
    "trigamma",
    "triplets",
    "violated_rankings",
]


# Pairs below which numpy takes less time than to import numba and to compile, or load, a kernel.
# Measured by benchmarks/notes/first_evaluation.py.
_WORTH_LOADING = 1 << 20


def pays(name: str, n_pairs: int) -> bool:
    """Whether a module of kernels is loaded, or so many pairs are worth loading it."""
    return n_pairs >= _WORTH_LOADING or f"{__name__}.{name}" in sys.modules


def __getattr__(name: str) -> Any:
    """Import a module of kernels."""
    if name in __all__:
        return import_module(f".{name}", __name__)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
