"""Objectives of numpy arrays as functions that torch differentiates."""

from typing import Any

import numpy as np
import torch
from torch.autograd.function import once_differentiable

from ..objectives import CheckedObjective


class _MinusObjective(torch.autograd.Function):
    """Minus an objective of scores; the gradient is computed together with the value."""

    @staticmethod
    def forward(ctx, scores, objective, level):
        """Evaluate the objective, and keep its gradient."""
        on_host = scores.detach().cpu().contiguous().numpy()
        if np.isnan(on_host).any():
            raise ValueError(
                "scores contain NaN. A lower learning rate, or clipped gradients, keep a network "
                "from that; NaN in its input does not."
            )
        value, gradient = objective(on_host, level)
        ctx.save_for_backward(torch.from_numpy(gradient).to(scores.device))
        return scores.new_tensor(-value)

    @staticmethod
    @once_differentiable
    def backward(ctx, by_loss):
        """Return the kept gradient."""
        (gradient,) = ctx.saved_tensors
        return -by_loss * gradient, None, None


class ByKernels:
    """Evaluates one objective on the CPU, by the package's own kernels.

    Parameters
    ----------
    objective : object with ``value_and_gradient(scores, level, levels)``
        Of the package or of a user.
    """

    def __init__(self, objective: Any):
        self.objective = objective
        self._levels = np.empty(0)
        self._checked: CheckedObjective | None = None

    def loss(self, scores: torch.Tensor, level: np.ndarray, levels: np.ndarray) -> torch.Tensor:
        """Return minus the objective of a batch, a scalar."""
        if self._checked is None or not np.array_equal(levels, self._levels):
            self._levels, self._checked = levels, CheckedObjective(self.objective, levels)
        return _MinusObjective.apply(scores, self._checked, level)
