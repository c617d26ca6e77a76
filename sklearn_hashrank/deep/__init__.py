"""Losses for torch networks. This folder alone imports torch at its top, and nothing imports it.

`TieAwareLoss` and `PairwiseLoss` are modules whose ``forward(scores, y)`` is minus an objective of
:mod:`sklearn_hashrank.objectives`. On the CPU the objective itself is evaluated (`_by_kernels`), on
another device its version in torch (`_native`, on soft histograms in `_ranking` or on the pairs of
a batch in `_pairs`). What is relevant is decided by an affinity (`_relevance`).
"""

try:
    import torch  # noqa: F401
except ImportError as error:
    raise ImportError(
        "sklearn_hashrank.deep needs torch, which is not installed. It comes with the extra "
        '`torch`: pip install "sklearn-hashrank[torch]".'
    ) from error

from ._hasher import DeepHasher
from ._losses import PairwiseLoss, TieAwareLoss

__all__ = ["DeepHasher", "PairwiseLoss", "TieAwareLoss"]
