"""Stochastic gradient ascent: Adam, SGD with momentum, learning-rate schedules, weight decay."""

from collections.abc import Callable, Iterable, Sequence

import numpy as np


def constant(progress: float) -> float:
    """Return 1."""
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


class _Ascent:
    """Steps uphill, in place, on a list of parameter arrays.

    Parameters
    ----------
    weight_decay : float or sequence of float
        Each step also shrinks every array by ``1 - learning_rate * weight_decay``, apart from the
        gradient (Loshchilov and Hutter 2019), so that its strength does not depend on the scale of
        the objective. A sequence has one value per array.
    """

    def __init__(self, weight_decay: float | Sequence[float] = 0.0):
        self.weight_decay = weight_decay
        self._scratch: list[np.ndarray] = []

    def step(
        self,
        parameters: Sequence[np.ndarray],
        gradients: Sequence[np.ndarray],
        learning_rate: float,
    ) -> None:
        """Move each parameter array, in place, along its gradient."""
        if not self._scratch:
            self._scratch = [np.empty_like(parameter) for parameter in parameters]
            self._start(parameters)
        decays = np.broadcast_to(self.weight_decay, len(parameters))
        self._tick()
        for k, (parameter, gradient) in enumerate(zip(parameters, gradients)):
            if decays[k]:
                parameter *= parameter.dtype.type(1 - learning_rate * decays[k])
            parameter += self._move(k, gradient, learning_rate)

    def _start(self, parameters: Sequence[np.ndarray]) -> None:
        raise NotImplementedError

    def _tick(self) -> None:
        """Count a step, where that matters."""

    def _move(self, k: int, gradient: np.ndarray, learning_rate: float) -> np.ndarray:
        raise NotImplementedError


class SGD(_Ascent):
    """Gradient ascent with momentum.

    Parameters
    ----------
    momentum : float, default=0.9
        Share of the last move that is kept.
    weight_decay : float or sequence of float, default=0.0
        See Adam.
    """

    def __init__(self, momentum: float = 0.9, weight_decay: float | Sequence[float] = 0.0):
        super().__init__(weight_decay)
        self.momentum = momentum

    def _start(self, parameters):
        self._velocity = [np.zeros_like(parameter) for parameter in parameters]

    def _move(self, k, gradient, learning_rate):
        velocity = self._velocity[k]
        velocity *= self.momentum
        velocity += gradient
        return np.multiply(velocity, velocity.dtype.type(learning_rate), out=self._scratch[k])


class Adam(_Ascent):
    """Adam with decoupled weight decay.

    Parameters
    ----------
    beta1, beta2 : float
        Decay of the running means of the gradient and of its square.
    epsilon : float, default=1e-8
        Added to the root of the mean square.
    weight_decay : float or sequence of float, default=0.0
        Each step shrinks the parameters by ``1 - learning_rate * weight_decay``; a sequence has
        one value per array.
    """

    def __init__(
        self,
        beta1: float = 0.9,
        beta2: float = 0.999,
        epsilon: float = 1e-8,
        weight_decay: float | Sequence[float] = 0.0,
    ):
        super().__init__(weight_decay)
        self.beta1 = beta1
        self.beta2 = beta2
        self.epsilon = epsilon
        self.n_steps = 0

    def _start(self, parameters):
        self._mean = [np.zeros_like(parameter) for parameter in parameters]
        self._square = [np.zeros_like(parameter) for parameter in parameters]

    def _tick(self):
        self.n_steps += 1

    def _move(self, k, gradient, learning_rate):
        mean, square, scratch = self._mean[k], self._square[k], self._scratch[k]
        number = mean.dtype.type
        np.subtract(gradient, mean, out=scratch)
        scratch *= number(1 - self.beta1)
        mean += scratch
        np.multiply(gradient, gradient, out=scratch)
        scratch -= square
        scratch *= number(1 - self.beta2)
        square += scratch
        # Both running means start at zero; what that takes away is given back here.
        debias = np.sqrt(1 - self.beta2**self.n_steps)
        np.sqrt(square, out=scratch)
        scratch += number(self.epsilon * debias)
        np.divide(mean, scratch, out=scratch)
        scratch *= number(learning_rate * debias / (1 - self.beta1**self.n_steps))
        return scratch


SOLVERS = {"adam": Adam, "sgd": SGD}


class RunningAverage:
    """Exponential running mean of the parameters (Polyak and Juditsky 1992).

    With a constant learning rate the parameters never settle; their mean does, so that training can
    stop, or go on with more data, at any time.

    Parameters
    ----------
    parameters : sequence of ndarray
        The mean starts from these.
    decay : float, default=0.99
        Weight of the past. Until 1 / (1 - decay) updates have been seen it is the plain mean.
    """

    def __init__(self, parameters: Sequence[np.ndarray], decay: float = 0.99):
        self.decay = decay
        self.values = [parameter.copy() for parameter in parameters]
        self.n_updates = 0

    def update(self, parameters: Sequence[np.ndarray]) -> None:
        """Move the mean towards the parameters."""
        self.n_updates += 1
        share = max(1 - self.decay, 1 / self.n_updates)
        for value, parameter in zip(self.values, parameters):
            value += value.dtype.type(share) * (parameter - value)


def ascend(
    parameters: Sequence[np.ndarray],
    value_and_gradients: Callable[..., tuple[float, Sequence[np.ndarray]]],
    batches: Callable[[int], Iterable],
    solver: _Ascent,
    *,
    learning_rate: float,
    n_epochs: int,
    steps_per_epoch: int,
    schedule: Callable[[float], float] = constant,
    average: RunningAverage | None = None,
    after_epoch: Callable[[int, float, float], bool] | None = None,
) -> int:
    """Climb for some epochs; the parameters change in place.

    Parameters
    ----------
    parameters : sequence of ndarray
        What is learned.
    value_and_gradients : callable
        ``value_and_gradients(batch, progress)`` returns the objective and one gradient per
        parameter array; progress runs from 0 to 1.
    batches : callable
        ``batches(epoch)`` yields the batches of an epoch.
    solver : SGD or Adam
        Keeps its running means from call to call.
    learning_rate : float
        Length of a step before the schedule.
    n_epochs, steps_per_epoch : int
        How long to climb, and how many batches there are in an epoch.
    schedule : callable
        One of `SCHEDULES`, or another function of progress.
    average : RunningAverage or None
        Is updated after every step.
    after_epoch : callable or None
        ``after_epoch(epoch, mean_value, learning_rate)``; True stops.

    Returns
    -------
    n_epochs : int
        Number of epochs done.
    """
    n_steps = max(n_epochs * steps_per_epoch, 1)
    for epoch in range(n_epochs):
        total, n_batches, rate = 0.0, 0, learning_rate
        for batch in batches(epoch):
            progress = min((epoch * steps_per_epoch + n_batches) / n_steps, 1.0)
            rate = learning_rate * schedule(progress)
            value, gradients = value_and_gradients(batch, progress)
            solver.step(parameters, gradients, rate)
            if average is not None:
                average.update(parameters)
            total += value
            n_batches += 1
        if after_epoch is not None and after_epoch(epoch, total / max(n_batches, 1), rate):
            return epoch + 1
    return n_epochs
