"""From what a user gives as `objective` to the loss of the scores of a batch."""

import copy
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import torch

from ..affinity import is_auto
from ..learning import NeighborRelevance
from ..objectives import ObjectiveParameter
from ._losses import BatchLoss

_MOST_BINS_OF_NEIGHBORS = 64  # as TALRLinear has; coarser bins cannot tell the nearest rows apart

_OBJECTIVE = ObjectiveParameter(
    "DeepHasher",
    takes_ranking=True,
    takes_zones=True,
    takes_likelihoods=True,
    also=", or a loss, a torch.nn.Module",
)

Loss = Callable[[torch.Tensor, np.ndarray], torch.Tensor]
"""From scores, and the numbers of their rows, to a scalar that is minimised."""


class BatchObjective(NamedTuple):
    """What a network learns from.

    Attributes
    ----------
    objective : CheckedObjective or OwnLoss
    loss : callable
        Minus the objective of a batch.
    before_step : tuple of callable
        Listeners to the progress of the training.
    """

    objective: Any
    loss: Loss
    before_step: tuple[Callable[[float], None], ...] = ()


def find_loss(objective: Any, n_bits: int, of_neighbors: bool = False) -> torch.nn.Module:
    """Return the loss module of a name, of an objective, or a copy of one that was given.

    Parameters
    ----------
    objective : str, object or Module
        The parameter of `DeepHasher`.
    n_bits : int
        Length of a code.
    of_neighbors : bool, default=False
        Whether nearest rows are relevant.

    Returns
    -------
    loss : Module
    """
    if isinstance(objective, torch.nn.Module):
        if isinstance(objective, BatchLoss) and not is_auto(objective.affinity):
            raise ValueError(
                "the affinity belongs to the hasher: pass DeepHasher(affinity=...) and leave that "
                f"of the loss at 'auto'. Got {objective.affinity!r}."
            )
        return copy.deepcopy(objective)
    n_bins = min(n_bits, _MOST_BINS_OF_NEIGHBORS) if of_neighbors else "auto"
    return BatchLoss(_OBJECTIVE.resolve(objective, n_bins=n_bins), "auto", "auto")


def batch_objective(
    objective: Any, n_bits: int, relevance: Any, y: Any, by_form: bool = True
) -> BatchObjective:
    """Return what a network learns from.

    Parameters
    ----------
    objective : str, object or Module
        The parameter of `DeepHasher`.
    n_bits : int
        Length of a code.
    relevance : BatchRelevance or NeighborRelevance
        Of the training rows.
    y : array-like with n_samples rows or None
        What a loss of the user's own is given.
    by_form : bool, default=True
        Whether the form of y says what is relevant.

    Returns
    -------
    found : BatchObjective
    """
    module = find_loss(objective, n_bits, isinstance(relevance, NeighborRelevance))
    if not isinstance(module, BatchLoss):
        own = OwnLoss(module, y)
        return BatchObjective(own, own, (own.anneal,))
    module.checked_objective.check_affinity(relevance.affinity, by_form)
    levels = np.asarray(relevance.levels, dtype=np.float64)

    def loss(scores: torch.Tensor, batch: np.ndarray) -> torch.Tensor:
        return module.of_level_indices(scores, relevance.level_indices(batch), levels)

    return BatchObjective(module.checked_objective, loss, (module.anneal,))


class OwnLoss:
    """A loss of the user's own, which is given the y of a batch itself."""

    def __init__(self, module: torch.nn.Module, y: Any):
        if y is None:
            raise ValueError(
                f"a loss of your own, here {type(module).__name__}, is called with y. Got y=None."
            )
        y = y.toarray() if hasattr(y, "toarray") else np.asarray(y)
        if y.dtype.kind not in "biuf":
            raise ValueError(
                f"a loss of your own, here {type(module).__name__}, is called with y as a tensor, "
                f"which takes numbers. Got y of dtype {y.dtype}."
            )
        self._module, self._y = module, y

    def anneal(self, progress: float) -> None:
        """Tell the loss how much of the training is done, if it wants to know."""
        if hasattr(self._module, "anneal"):
            self._module.anneal(progress)

    def level_gain(self, levels: np.ndarray) -> None:
        """Say nothing of the levels."""

    def __call__(self, scores: torch.Tensor, batch: np.ndarray) -> torch.Tensor:
        module, y = self._module.to(scores.device), torch.from_numpy(self._y[batch])
        loss = module(scores, y.to(scores.device))
        if not torch.is_tensor(loss) or loss.ndim:
            what = f"shape {tuple(loss.shape)}" if torch.is_tensor(loss) else type(loss).__name__
            raise ValueError(
                f"{type(self._module).__name__} must give a loss, a tensor of one number. "
                f"Got {what}."
            )
        return loss
