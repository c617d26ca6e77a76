"""From what a user gives as `objective` to the loss of some rows of a fit."""

import copy
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import torch

from .._learning.relevance import Relevance
from ..affinity._auto import is_auto
from ..objectives._objective_checks import CheckedObjective
from ..objectives._objective_names import find_objective
from ..objectives._prefixes import Prefixes, check_prefixes
from ._losses import BatchLoss
from ._numpy_autograd import minus_objective

Loss = Callable[[torch.Tensor], torch.Tensor]
"""From the scores of a batch to a scalar that is minimized."""


def check_given(objective: Any, prefixes: Any, n_bits: int) -> None:
    """Refuse what is neither a name, nor an objective, nor a loss that the hasher can use."""
    if prefixes is not None:
        check_prefixes(prefixes, n_bits)
        of_loss = objective.objective if isinstance(objective, BatchLoss) else objective
        if isinstance(of_loss, Prefixes):
            raise ValueError(
                f"the objective has prefixes of its own, {of_loss.prefixes!r}, beside those of "
                f"DeepHasher, {prefixes!r}. Pass one of them."
            )
    if isinstance(objective, BatchLoss) and not is_auto(objective.affinity):
        raise ValueError(
            "the affinity belongs to the hasher: pass DeepHasher(affinity=...) and leave that "
            f"of the loss at 'auto'. Got {objective.affinity!r}."
        )


def objective_of_rows(
    objective: Any, levels: np.ndarray, y: Any, prefixes: Any = None
) -> "LossOfRows | OwnLossOfRows":
    """Return what a network learns from; an objective or a loss that was given is copied.

    `levels` are those of the affinity, `y` is what a loss of the user's own is given, `prefixes`
    numbers of first bits.
    """
    if isinstance(objective, BatchLoss):
        objective = objective.objective
    if isinstance(objective, torch.nn.Module):
        return OwnLossOfRows(copy.deepcopy(objective), y, prefixes)
    objective = find_objective(objective, levels)
    return LossOfRows(objective if prefixes is None else Prefixes(objective, prefixes))


class LossOfRows(CheckedObjective):
    """Minus an objective as a function of scores that are a tensor."""

    def of(self, rows: np.ndarray) -> Loss:
        return partial(minus_objective, super().of(rows))


class OwnLossOfRows:
    """A loss of the user's own, called with the scores and the y of a batch, both tensors."""

    measure = None

    def __init__(self, module: torch.nn.Module, y: Any, prefixes: Any):
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
        self._module, self._y, self._prefixes = module, y, prefixes

    def anneal(self, progress: float) -> None:
        """Tell the loss how much of the training is done, if it wants to know."""
        if hasattr(self._module, "anneal"):
            self._module.anneal(progress)

    def at_end(self) -> "OwnLossOfRows":
        """Return the loss as it is at the end of the training, by which rows are validated."""
        if not hasattr(self._module, "anneal"):
            return self
        at_end = copy.copy(self)
        at_end._module = copy.deepcopy(self._module)
        at_end.anneal(1.0)
        return at_end

    def bind(self, relevance: Relevance) -> None:
        """Have no use for relevance."""

    def level_gain(self, levels: np.ndarray) -> None:
        """Say nothing of the levels."""

    def of(self, rows: np.ndarray) -> Loss:
        return lambda scores: self._evaluate(scores, rows)

    def value(self, scores: np.ndarray, rows: np.ndarray) -> float:
        return -float(self._evaluate(torch.from_numpy(scores), rows))

    def _evaluate(self, scores, rows):
        module, y = self._module.to(scores.device), torch.from_numpy(self._y[rows])
        y = y.to(scores.device)
        if self._prefixes is None:
            return self._checked(module(scores, y))
        losses = [self._checked(module(scores[:, :n_bits], y)) for n_bits in self._prefixes]
        return torch.stack(losses).mean()

    def _checked(self, loss):
        if not torch.is_tensor(loss) or loss.ndim:
            what = f"shape {tuple(loss.shape)}" if torch.is_tensor(loss) else type(loss).__name__
            raise ValueError(
                f"{type(self._module).__name__} must give a loss, a tensor of one number. "
                f"Got {what}."
            )
        return loss
