"""Objectives of numpy arrays as functions that torch differentiates."""

import numpy as np
import torch
from torch.autograd.function import once_differentiable

from ..objectives import CheckedObjective


class _MinusObjective(torch.autograd.Function):
    """Minus an objective of scores; the gradient is computed together with the value."""

    @staticmethod
    def forward(ctx, scores, objective, level, levels):
        """Evaluate the objective, and keep its gradient."""
        on_host = scores.detach().cpu().contiguous().numpy()
        if np.isnan(on_host).any():
            raise ValueError(
                "scores contain NaN. A lower learning rate, or clipped gradients, keep a network "
                "from that; NaN in its input does not."
            )
        value, gradient = objective(on_host, level, levels)
        ctx.save_for_backward(torch.from_numpy(gradient).to(scores.device))
        return scores.new_tensor(-value)

    @staticmethod
    @once_differentiable
    def backward(ctx, by_loss):
        """Return the kept gradient."""
        (gradient,) = ctx.saved_tensors
        return -by_loss * gradient, None, None, None


def loss_by_kernels(
    objective: CheckedObjective, scores: torch.Tensor, level: np.ndarray, levels: np.ndarray
) -> torch.Tensor:
    """Return minus the objective of a batch, a scalar, evaluated on the CPU."""
    return _MinusObjective.apply(scores, objective, level, levels)
