"""scikit-learn's callback protocol, where the installed version has it.

``sklearn.callback`` is experimental there; nothing else in the package knows of it.
"""

from collections.abc import Callable, Iterator
from typing import Any

try:
    from sklearn.callback import CallbackSupportMixin
except ImportError:  # scikit-learn < 1.9

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """Stands in where scikit-learn has no callbacks."""


class Progress:
    """Tells callbacks of the iterations of a fit.

    Parameters
    ----------
    estimator : estimator
        The estimator being fitted, a `CallbackSupportMixin`.
    X, y : array-like
        Its training data.
    max_iter : int
        Most iterations there can be.
    attributes : callable
        Returns the fitted attributes that a copy of the estimator needs to be used as it stands.
    """

    def __init__(
        self, estimator: Any, X: Any, y: Any, max_iter: int, attributes: Callable[[], dict]
    ):
        self._told = {"estimator": estimator, "X": X, "y": y}
        self._attributes, self.max_iter, self._stop = attributes, max_iter, False
        self._context = None
        if hasattr(estimator, "_init_callback_context"):
            self._context = estimator._init_callback_context(max_subtasks=max_iter)

    def iterations(self) -> Iterator[int]:
        """Count from 0 until `max_iter`, or until a callback asks to stop."""
        if self._context is None:
            for iteration in range(self.max_iter):
                yield iteration
                if self._stop:
                    break
            return
        self._context.call_on_fit_task_begin(**self._told)
        for iteration in range(self.max_iter):
            task = self._context.subcontext(task_name="iteration")
            task.call_on_fit_task_begin(**self._told, reconstruction_attributes=self._attributes)
            yield iteration
            told_to_stop = task.call_on_fit_task_end(
                **self._told, reconstruction_attributes=self._attributes
            )
            if told_to_stop or self._stop:
                break
        self._context.call_on_fit_task_end(**self._told, reconstruction_attributes=self._attributes)

    def stop(self) -> None:
        """End after the iteration at hand; callbacks are still told of its end."""
        self._stop = True
