"""Objectives of learning: functions of the scores and relevance levels of a batch.

An objective is an object with ``value_and_gradient(scores, level, levels)``, to be maximized.
`scores` (M, n_bits) are the real projections of a batch of rows, `level` (M, M) unsigned indices
into `levels` (n_levels,), the ascending affinity levels. It returns a float and the gradient by the
scores. It leaves the pairs of a row with itself out. What else it may declare (how it changes with
the training, its learning rates, the affinities it accepts, a measure) is in `BaseObjective`, and
is read in one place, `CheckedObjective`.

Ranking objectives (`RankingObjective`) see only soft histograms, pairwise objectives
(`PairwiseObjective`) the distances of pairs; `DPSH`, `HashNet` and `DTSH` are likelihoods of pairs
and triplets.
`Centers` sees the classes of rows, which it asks for by `bind`. A new one is a class; hashers find
it by name if it has a line in `_objective_names`.
"""

from ._base import BaseObjective
from ._centers import Centers
from ._prefixes import Prefixes
from .pairwise._margin_losses import DSH, Dispersed, Hierarchical, Nested, PairwiseObjective
from .pairwise._pair_likelihoods import DPSH, HashNet
from .pairwise._triplet_likelihood import DTSH
from .ranking._auto import AutoRanking
from .ranking._average_precision import AveragePrecision
from .ranking._base import RankingObjective
from .ranking._mutual_information import MutualInformation
from .ranking._ndcg import NDCG
from .ranking._soft_histogram import SoftHistogram
from .ranking._ties import SoftTies, TieValues

__all__ = [
    "DPSH",
    "DSH",
    "DTSH",
    "NDCG",
    "AutoRanking",
    "AveragePrecision",
    "BaseObjective",
    "Centers",
    "Dispersed",
    "HashNet",
    "Hierarchical",
    "MutualInformation",
    "Nested",
    "PairwiseObjective",
    "Prefixes",
    "RankingObjective",
    "SoftHistogram",
    "SoftTies",
    "TieValues",
]
