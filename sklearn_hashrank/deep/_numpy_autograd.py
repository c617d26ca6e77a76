"""Objectives of numpy arrays as functions that torch differentiates."""

from collections.abc import Callable

import numpy as np
import torch
from torch.autograd.function import once_differentiable

from .._utils.threads import one_blas_thread

_HALF_PRECISION = (torch.bfloat16, torch.float16)  # numpy has no bfloat16, kernels no float16


class _MinusObjective(torch.autograd.Function):
    """Minus an objective of scores; the gradient is computed together with the value."""

    @staticmethod
    def forward(ctx, scores, evaluate):
        on_host = scores.detach().cpu().contiguous().numpy()
        if np.isnan(on_host).any():
            raise ValueError(
                "scores contain NaN. A lower learning rate, or clipped gradients, keep a network "
                "from that; NaN in its input does not."
            )
        with one_blas_thread():  # several wait for each other, and for cores that are busy
            value, gradient = evaluate(on_host)
        ctx.save_for_backward(torch.from_numpy(gradient).to(scores.device))
        return scores.new_tensor(-value)

    @staticmethod
    @once_differentiable
    def backward(ctx, by_loss):
        (gradient,) = ctx.saved_tensors
        return -by_loss * gradient, None


def minus_objective(
    evaluate: Callable[[np.ndarray], tuple[float, np.ndarray]], scores: torch.Tensor
) -> torch.Tensor:
    """Return minus an objective of scores, a scalar of their precision.

    The objective is evaluated on the CPU, in float32 for scores of half precision.
    """
    if scores.is_meta:
        raise ValueError("scores are a tensor on torch's device 'meta', which holds no values.")
    wide = scores.float() if scores.dtype in _HALF_PRECISION else scores
    return _MinusObjective.apply(wide, evaluate).to(scores.dtype)
