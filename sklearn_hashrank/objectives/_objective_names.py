"""The names of objectives, each of which stands for an object with its defaults."""

from collections.abc import Mapping
from typing import Any

from .pairwise._margin_losses import DSH, Dispersed, Hierarchical, Nested
from .pairwise._pair_likelihoods import DPSH, HashNet
from .pairwise._triplet_likelihood import DTSH
from .ranking._auto import AutoRanking
from .ranking._average_precision import AveragePrecision
from .ranking._mutual_information import MutualInformation
from .ranking._ndcg import NDCG

RANKING: Mapping[str, Any] = {"ap": AveragePrecision, "ndcg": NDCG, "mi": MutualInformation}
LIKELIHOODS: Mapping[str, Any] = {"dpsh": DPSH, "dtsh": DTSH, "hashnet": HashNet}
ZONES: Mapping[str, Any] = {
    "dsh": DSH,
    "dispersed": Dispersed,
    "hierarchical": Hierarchical,
    "nested": Nested,
}
NAMED = {"auto": AutoRanking, **RANKING, **LIKELIHOODS, **ZONES}


def find_objective(objective: Any, levels: Any = None, n_jobs: int | None = None) -> Any:
    """Return the object that a name stands for, with these threads; an object as it is.

    With the levels of an affinity, "auto" and `AutoRanking` are what they choose for these.
    """
    if isinstance(objective, str):
        objective = NAMED[objective](n_jobs=n_jobs)
    if isinstance(objective, AutoRanking) and levels is not None:
        return objective.choose(levels)
    return objective
