"""Losses for torch networks, and a network that is a hasher.

This folder alone imports torch at its top. Files of hashers and comparisons import it where a
network is asked for; nothing else does.

`TieAwareLoss` and `PairwiseLoss` are modules whose ``forward(scores, y)`` is minus an objective of
:mod:`sklearn_hashrank.objectives`. numba kernels evaluate it on the CPU, whatever the device of the
scores, and torch takes their gradient (`_numpy_autograd`). An affinity decides what is relevant
(`_relevance`).

`DeepHasher` (`_hasher`) trains a network on these losses by the learner of the linear hashers, of
which the network is a model (`_learner`). What its parameters stand for is found elsewhere: rows
and images in `_images` and `_datasets`, `module` in `_modules`, `objective` in `_objectives`,
"auto" in `_defaults`, threads in `_threads`.

`CodesLoss` is the loss that `interop.sentence_transformers_loss` makes of `TieAwareLoss` for
sentence encoders, which are trained by a trainer of their own.
"""

from .._utils.extras import how_to_install

try:
    import torch  # noqa: F401
except ImportError as error:
    raise ImportError(
        "sklearn_hashrank.deep needs torch, which is not installed. It comes with: "
        + how_to_install("deep")
    ) from error


from ._hasher import DeepHasher
from ._losses import PairwiseLoss, TieAwareLoss

__all__ = ["DeepHasher", "PairwiseLoss", "TieAwareLoss"]
