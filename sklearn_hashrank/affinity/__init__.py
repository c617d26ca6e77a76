"""How relevant a database item is to a query: a few levels, computed from `y` alone.

Every affinity validates rows of `y` once and then gives level indices of blocks of
(queries x database). Two optional methods make counting fast: ``group`` puts rows of equal `y`
together, ``runs`` says where the level changes along the groups.
"""

from ._auto import (
    affinity_by_form,
    affinity_for,
    affinity_of_all_pairs,
    affinity_to_learn_from,
    auto_affinity,
    fit_affinity,
    fit_affinity_of_blocks,
    is_auto,
    judges_what_it_taught,
)
from ._coercion import as_array, as_rows
from ._euclidean import EuclideanAffinity
from ._labels import HierarchicalAffinity, LabelAffinity, SharedLabelAffinity
from ._learnable import check_can_learn, warn_if_alike
from ._level_checks import check_level_indices
from ._neighbors import NeighborAffinity
from ._precomputed import PrecomputedAffinity
from ._protocol import BaseAffinity

__all__ = [
    "BaseAffinity",
    "EuclideanAffinity",
    "HierarchicalAffinity",
    "LabelAffinity",
    "NeighborAffinity",
    "PrecomputedAffinity",
    "SharedLabelAffinity",
    "affinity_by_form",
    "affinity_for",
    "affinity_of_all_pairs",
    "affinity_to_learn_from",
    "as_array",
    "as_rows",
    "auto_affinity",
    "check_can_learn",
    "check_level_indices",
    "fit_affinity",
    "fit_affinity_of_blocks",
    "is_auto",
    "judges_what_it_taught",
    "warn_if_alike",
]
