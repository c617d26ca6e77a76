"""A network, and how it learns from batches and gives scores."""

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import nn

from .._features.space import FeatureSpace
from .._files.storable import storable
from .._learning.minibatch_learning import BaseModel
from ._images import ImageLayout, dense_rows
from ._modules import Parts, input_dtype

# That are encoded at a time. Convolutions make some hundred numbers of every pixel.
_NUMBERS_OF_IMAGES, _FEWEST_IMAGES, _NUMBERS_OF_ROWS = 1 << 18, 16, 1 << 21

Optimizers = dict[str, Callable[..., torch.optim.Optimizer]]


def _sgd(params, lr, weight_decay):
    return torch.optim.SGD(params, lr=lr, momentum=0.9, nesterov=True, weight_decay=weight_decay)


OPTIMIZERS: Optimizers = {"adam": torch.optim.AdamW, "sgd": _sgd}
"""What `optimizer` of `DeepHasher` may name."""


@storable
class Inputs:
    """How rows of X go into a network: as images with a layout, centered and scaled by a space."""

    def __init__(self, layout: ImageLayout | None, space: FeatureSpace | None):
        self.layout, self.space = layout, space

    def tensor(self, X: Any, rows: Any, dtype: torch.dtype = torch.float32) -> torch.Tensor:
        block = dense_rows(X, rows)
        if self.space is None:
            block = block.astype(block.dtype.newbyteorder("="))  # a copy, which may be written to
        else:
            block = self.space.transform(block, np.float32)
        if self.layout is not None:
            block = self.layout.images(block)
        return torch.from_numpy(np.ascontiguousarray(block)).to(dtype)

    def n_rows_at_a_time(self, n_features: int) -> int:
        if self.layout is None:
            return max(1, _NUMBERS_OF_ROWS // n_features)
        return max(_FEWEST_IMAGES, _NUMBERS_OF_IMAGES // n_features)


def encode(
    network: nn.Module, inputs: Inputs, X: Any, device: torch.device, rows: Any = None
) -> np.ndarray:
    """Return the scores of rows of X, or of some of them, float32; block by block."""
    rows = np.arange(X.shape[0]) if rows is None else rows
    size, dtype = inputs.n_rows_at_a_time(X.shape[1]), input_dtype(network)
    with torch.no_grad():
        scores = [
            network(inputs.tensor(X, _cut(rows, start, size), dtype).to(device)).float().cpu()
            for start in range(0, len(rows), size)
        ]
    return torch.cat(scores).numpy()


class NetworkModel(BaseModel):
    """Moves the parameters of a network downhill on a loss.

    The learning rates of the optimizer are those of factor 1; `learning_rate` is that of what is
    learned from scratch, for the history. With `leaves_trunk` the given part of the network
    encodes, and learns nothing. `known` are attributes of the estimator that encoding needs.
    """

    def __init__(
        self,
        parts: Parts,
        inputs: Inputs,
        optimizer: torch.optim.Optimizer,
        augment: Callable[[torch.Tensor], torch.Tensor] | None,
        device: torch.device,
        leaves_trunk: bool = False,
        learning_rate: float = 0.0,
        known: dict[str, Any] | None = None,
    ):
        self.network, self._inputs = parts.network, inputs
        self._known = known or {}
        self._optimizer, self._augment, self._device = optimizer, augment, device
        self._frozen = parts.trunk if leaves_trunk else None
        self._learned = [each for group in optimizer.param_groups for each in group["params"]]
        self._rates = [group["lr"] for group in optimizer.param_groups]
        self.learning_rate = learning_rate
        self._n_steps = 0
        self._resume()

    def step(
        self, X: Any, batch: np.ndarray, evaluate: Callable[[Any], Any], factor: float
    ) -> float:
        """Move on some rows of X, given their loss; return minus the loss before the move."""
        self._n_steps += 1
        rows = self._inputs.tensor(X, batch, input_dtype(self.network)).to(self._device)
        if self._augment is not None:
            rows = _augmented(self._augment, rows)
        for group, rate in zip(self._optimizer.param_groups, self._rates):
            group["lr"] = factor * rate
        scores = self.network(rows)
        self._check_finite(scores)
        loss = evaluate(scores)
        self._check_finite(loss)
        loss.backward(inputs=self._learned)
        self._optimizer.step()
        self._optimizer.zero_grad()
        return -float(loss.detach())

    def projections(self, X: Any, rows: np.ndarray) -> np.ndarray:
        self.network.eval()
        try:
            return encode(self.network, self._inputs, X, self._device, rows)
        finally:
            self._resume()

    def get_state(self) -> dict[str, torch.Tensor]:
        return copy.deepcopy(self.network.state_dict())

    def set_state(self, state: dict[str, torch.Tensor]) -> None:
        self.network.load_state_dict(state)

    def check_weights(self) -> None:
        """Refuse what the last step may have made of the network."""
        for weights in filter(torch.is_tensor, self.network.state_dict().values()):
            if weights.is_floating_point() and not bool(torch.isfinite(weights).all()):
                raise ValueError(
                    "learning diverged: weights of the network are NaN or infinite after the last "
                    f"step. Lower learning_rate, which is {self._rates[0]:g}{self._of_trunk()}."
                )

    def attributes(self) -> dict[str, Any]:
        """Return a copy of the network, ready to encode, and what it needs for that."""
        return {"network_": copy.deepcopy(self.network).eval(), **self._known}

    def _resume(self) -> None:
        """Let the network be as it is when it learns."""
        self.network.train()
        if self._frozen is not None:
            self._frozen.eval()

    def _check_finite(self, numbers: torch.Tensor) -> None:
        if bool(torch.isfinite(numbers).all()):
            return
        what = "the loss" if numbers.ndim == 0 else "the scores of the network"
        where = f"{what} held NaN or infinity in step {self._n_steps}"
        if self._n_steps == 1:
            raise ValueError(
                f"{where}, before anything was learned. Look at the network, at augment and at the "
                "scale of X."
            )
        raise ValueError(
            f"learning diverged: {where}. Lower learning_rate, which is {self._rates[0]:g}"
            f"{self._of_trunk()}."
        )

    def _of_trunk(self) -> str:
        return f", or trunk_learning_rate, {self._rates[1]:g}" if len(self._rates) > 1 else ""


def find_device(device: Any) -> torch.device:
    """Return the device of this name, or raise an error where there is none; "auto" finds one."""
    if isinstance(device, str) and device == "auto":
        if torch.cuda.is_available():
            return torch.device("cuda")
        return torch.device("mps" if torch.backends.mps.is_available() else "cpu")
    try:
        found = torch.device(device)
        torch.zeros(1, device=found).item()
    except (RuntimeError, AssertionError, NotImplementedError) as error:
        reason = str(error).strip().split("\n")[0]
        raise ValueError(
            f"device must be 'auto', 'cpu' or another device that torch finds here. Got "
            f"{str(device)!r}: {reason}"
        ) from error
    return found


def _augmented(augment: Callable[[torch.Tensor], torch.Tensor], rows: torch.Tensor) -> torch.Tensor:
    changed = augment(rows)
    if not torch.is_tensor(changed) or changed.shape != rows.shape:
        shape = tuple(changed.shape) if torch.is_tensor(changed) else type(changed).__name__
        raise ValueError(
            f"augment must return a tensor like the one it is given, of shape {tuple(rows.shape)}. "
            f"Got {shape} instead."
        )
    return changed.to(rows)


def _cut(rows: np.ndarray, start: int, size: int) -> Any:
    """Numbers of some rows; a slice where they follow one another, which copies nothing."""
    some = rows[start : start + size]
    first, last = int(some[0]), int(some[-1])
    follow = last - first == len(some) - 1 and bool((np.diff(some) == 1).all())
    return slice(first, last + 1) if follow else some
