"""From what a user gives as `objective` to the loss of some rows of a fit."""

import copy
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import torch

from .._learning.objective_of_rows import ObjectiveOfRows
from .._learning.relevance import Relevance
from ..affinity._auto import is_auto
from ..affinity._protocol import BaseAffinity
from ..objectives._objective_checks import CheckedObjective
from ..objectives._objective_names import ObjectiveParameter
from ..objectives._prefixes import Prefixes, check_prefixes
from ._losses import BatchLoss
from ._numpy_autograd import minus_objective

_OBJECTIVE = ObjectiveParameter(
    "DeepHasher",
    takes_ranking=True,
    takes_zones=True,
    takes_likelihoods=True,
    also=", or a loss, a torch.nn.Module",
)

Loss = Callable[[torch.Tensor], torch.Tensor]
"""From the scores of a batch to a scalar that is minimised."""


def check_given(objective: Any, prefixes: Any, n_bits: int) -> None:
    """Refuse what is neither a name, nor an objective, nor a loss that the hasher can use.

    Parameters
    ----------
    objective : str, object or Module
        The parameter of `DeepHasher`.
    prefixes : tuple of int or None
        The parameter of `DeepHasher`.
    n_bits : int
        Length of a code.
    """
    if prefixes is not None:
        check_prefixes(prefixes, n_bits)
        of_loss = objective.objective if isinstance(objective, BatchLoss) else objective
        if isinstance(of_loss, Prefixes):
            raise ValueError(
                f"the objective has prefixes of its own, {of_loss.prefixes!r}, beside those of "
                f"DeepHasher, {prefixes!r}. Pass one of them."
            )
    if not isinstance(objective, torch.nn.Module):
        _OBJECTIVE.check(objective)
    elif isinstance(objective, BatchLoss) and not is_auto(objective.affinity):
        raise ValueError(
            "the affinity belongs to the hasher: pass DeepHasher(affinity=...) and leave that "
            f"of the loss at 'auto'. Got {objective.affinity!r}."
        )


def check_learns_from(objective: Any, affinity: BaseAffinity, y: Any, guessed: bool) -> bool:
    """Refuse an affinity, or a y, that an objective cannot learn from.

    Parameters
    ----------
    objective : str, object or Module
        The parameter of `DeepHasher`.
    affinity : affinity object
        What is learned from, fitted.
    y : array-like with n_samples rows or None
        What a loss of the user's own is given.
    guessed : bool
        Whether the affinity was chosen by the form of y.

    Returns
    -------
    by_relevance : bool
        Whether it learns from the affinity, and not from y itself.
    """
    loss = _loss_of(objective, "auto", None)
    if not isinstance(loss, BatchLoss):
        OwnLossOfRows(loss, y, None)
        return False
    loss.checked_objective.check_affinity(affinity, guessed)
    return True


def _loss_of(objective, n_bins, prefixes):
    """The loss that the parameter stands for; one that was given is not copied."""
    if isinstance(objective, torch.nn.Module):
        return objective
    return BatchLoss(_OBJECTIVE.resolve(objective, n_bins=n_bins), "auto", prefixes)


def objective_of_rows(
    objective: Any, n_bits: int, relevance: Relevance, y: Any, prefixes: Any = None
) -> "LossOfRows | OwnLossOfRows":
    """Return what a network learns from.

    Parameters
    ----------
    objective : str, object or Module
        The parameter of `DeepHasher`. A loss is copied.
    n_bits : int
        Length of a code.
    relevance : Relevance
        Of the training rows.
    y : array-like with n_samples rows or None
        What a loss of the user's own is given.
    prefixes : tuple of int, default=None
        Numbers of first bits, over which the mean is taken. None: all bits only.

    Returns
    -------
    objective : LossOfRows or OwnLossOfRows
    """
    loss = copy.deepcopy(_loss_of(objective, relevance.n_bins(n_bits), prefixes))
    if not isinstance(loss, BatchLoss):
        return OwnLossOfRows(loss, y, prefixes)
    if prefixes is not None and isinstance(objective, BatchLoss):
        loss.checked_objective = CheckedObjective(Prefixes(loss.objective, prefixes))
    return LossOfRows(loss, relevance)


class LossOfRows(ObjectiveOfRows):
    """A loss of the package on the rows of a fit, where relevance is known.

    Parameters
    ----------
    loss : BatchLoss
        Minus an objective.
    relevance : Relevance
        Of the training rows.
    """

    def __init__(self, loss: BatchLoss, relevance: Relevance):
        super().__init__(loss.checked_objective, relevance)

    def of(self, rows: np.ndarray) -> Loss:
        """Return the loss of some rows as a function of their scores, a tensor."""
        return partial(minus_objective, super().of(rows))


class OwnLossOfRows:
    """A loss of the user's own on the rows of a fit, which is given the y of a batch itself.

    Parameters
    ----------
    module : Module
        Called with scores and y, both tensors.
    y : array-like with n_samples rows
        Numbers.
    prefixes : tuple of int or None
        Numbers of first bits, over which the mean is taken.
    """

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

    def level_gain(self, levels: np.ndarray) -> None:
        """Say nothing of the levels."""

    def of(self, rows: np.ndarray) -> Loss:
        """Return the loss of some rows as a function of their scores, a tensor."""
        return lambda scores: self._evaluate(scores, rows)

    def value(self, scores: np.ndarray, rows: np.ndarray) -> float:
        """Return minus the loss for scores of some rows."""
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
