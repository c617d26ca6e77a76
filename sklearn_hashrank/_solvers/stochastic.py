"""Stochastic gradient ascent: Adam, SGD with momentum, learning-rate schedules, weight decay."""

from collections.abc import Callable, Sequence

import numpy as np

from .. import _kernels
from .._files.storable import storable

__all__ = [
    "SCHEDULES",
    "SGD",
    "SOLVERS",
    "Adam",
    "AdamPerColumn",
    "Ascent",
    "constant",
    "cosine",
    "step",
]


def constant(progress: float) -> float:
    return 1.0


def step(progress: float) -> float:
    """Return 1, then 0.1 from half way on, then 0.01 in the last quarter."""
    return 1.0 if progress < 0.5 else 0.1 if progress < 0.75 else 0.01


def cosine(progress: float) -> float:
    """Return half a period of a cosine, from 1 down to 0."""
    return 0.5 * (1.0 + float(np.cos(np.pi * min(max(progress, 0.0), 1.0))))


SCHEDULES: dict[str, Callable[[float], float]] = {
    "constant": constant,
    "step": step,
    "cosine": cosine,
}
"""Factor of the learning rate as a function of progress, 0 at the start and 1 at the end."""


class Ascent:
    """Gradient ascent, in place, on a list of parameter arrays.

    `weight_decay` is the share of the parameters that each step takes away, apart from the gradient
    (Loshchilov and Hutter 2019), so that its strength depends on neither the scale of the objective
    nor the learning rate. A sequence has one value per array.
    """

    def __init__(self, learning_rate: float, weight_decay: float | Sequence[float] = 0.0):
        self.learning_rate = learning_rate
        self.weight_decay = weight_decay
        self.n_steps = 0

    def step(
        self,
        parameters: Sequence[np.ndarray],
        gradients: Sequence[np.ndarray],
        factor: float = 1.0,
    ) -> None:
        """Move each parameter array along its gradient; a schedule's `factor` scales all of it."""
        if self.n_steps == 0:
            self._start(parameters)
        self.n_steps += 1
        decays = np.broadcast_to(self.weight_decay, len(parameters))
        for k, (parameter, gradient) in enumerate(zip(parameters, gradients)):
            kept = 1 - factor * decays[k]
            self._move(k, parameter, gradient, kept, factor * self.learning_rate)

    def _start(self, parameters: Sequence[np.ndarray]) -> None:
        raise NotImplementedError

    def _move(
        self,
        k: int,
        parameter: np.ndarray,
        gradient: np.ndarray,
        kept: float,
        learning_rate: float,
    ) -> None:
        """Move array number k, of which decay leaves the share `kept`."""
        raise NotImplementedError


def _decay(parameter, kept):
    if kept != 1:
        parameter *= parameter.dtype.type(kept)


@storable
class SGD(Ascent):
    """Gradient ascent with momentum, the share of the last move that is kept."""

    def __init__(
        self,
        learning_rate: float = 1.0,
        weight_decay: float | Sequence[float] = 0.0,
        momentum: float = 0.9,
    ):
        super().__init__(learning_rate, weight_decay)
        self.momentum = momentum

    def _start(self, parameters):
        self._velocity = [np.zeros_like(parameter) for parameter in parameters]
        self._scratch = [np.empty_like(parameter) for parameter in parameters]

    def _move(self, k, parameter, gradient, kept, learning_rate):
        velocity = self._velocity[k]
        velocity *= self.momentum
        velocity += gradient
        _decay(parameter, kept)
        rate = velocity.dtype.type(learning_rate)
        parameter += np.multiply(velocity, rate, out=self._scratch[k])


@storable
class Adam(Ascent):
    """Adam with decoupled weight decay.

    `beta1` and `beta2` are the decays of the running means of the gradient and of its square;
    `epsilon` is added to the root of the mean square.
    """

    def __init__(
        self,
        learning_rate: float = 0.01,
        weight_decay: float | Sequence[float] = 0.0,
        beta1: float = 0.9,
        beta2: float = 0.999,
        epsilon: float = 1e-8,
    ):
        super().__init__(learning_rate, weight_decay)
        self.beta1 = beta1
        self.beta2 = beta2
        self.epsilon = epsilon

    def _start(self, parameters):
        self._mean = [np.zeros(parameter.size, parameter.dtype) for parameter in parameters]
        self._square = [np.zeros(parameter.size, parameter.dtype) for parameter in parameters]

    def _move(self, k, parameter, gradient, kept, learning_rate):
        debias, length = self._debiased(learning_rate)
        flat = parameter.reshape(-1)
        _kernels.adam.follow_by_adam(
            flat,
            np.ascontiguousarray(gradient, parameter.dtype).reshape(-1),
            self._mean[k],
            self._square[k],
            (1 - self.beta1, 1 - self.beta2),
            float(kept),
            self.epsilon * debias,
            length,
        )
        if not parameter.flags.c_contiguous:  # flat is a copy
            parameter[...] = flat.reshape(parameter.shape)

    def _debiased(self, learning_rate: float) -> tuple[float, float]:
        """Return the factor of epsilon, and the length of the step.

        Both running means start at zero; what that takes away is given back here.
        """
        debias = float(np.sqrt(1 - self.beta2**self.n_steps))
        return debias, learning_rate * debias / (1 - self.beta1**self.n_steps)


@storable
class AdamPerColumn(Adam):
    """Adam with one mean square for each column of a parameter array, here the weights of a bit.

    A rotation of the features then rotates the steps, and changes nothing else. Adam lets small
    principal components, which are mostly noise, move as far as the large ones.
    """

    def _start(self, parameters):
        self._mean = [np.zeros_like(parameter) for parameter in parameters]
        self._square = [np.zeros(parameter.shape[-1:]) for parameter in parameters]
        self._scratch = [np.empty_like(parameter) for parameter in parameters]

    def _move(self, k, parameter, gradient, kept, learning_rate):
        mean, square, scratch = self._mean[k], self._square[k], self._scratch[k]
        np.subtract(gradient, mean, out=scratch)
        scratch *= mean.dtype.type(1 - self.beta1)
        mean += scratch
        np.multiply(gradient, gradient, out=scratch)
        of_columns = scratch.reshape(-1, len(square)).mean(axis=0, dtype=float)
        square += (1 - self.beta2) * (of_columns - square)
        debias, length = self._debiased(learning_rate)
        factors = length / (np.sqrt(square) + self.epsilon * debias)
        _decay(parameter, kept)
        parameter += np.multiply(mean, factors.astype(mean.dtype), out=scratch)


SOLVERS: dict[str, type[Ascent]] = {"adam": Adam, "adam-per-bit": AdamPerColumn, "sgd": SGD}
