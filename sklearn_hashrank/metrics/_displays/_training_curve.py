"""How the objective of a hasher moved while it was fitted."""

from typing import Any

import numpy as np

from .._retrieval import unwrap
from ._drawing import as_curves, check_names, estimators_by_name, legend, names_of, new_axes, style


class TrainingCurveDisplay:
    """Values of an objective, or of anything else in `history_`, after each pass of training.

    Parameters
    ----------
    values : array-like of shape (n_passes,), or list of such
        Of one model, or of each model, which may have taken different numbers of passes.
    names : list of str, default=None
        Names of the models.
    label : str, default=None
        Name of the values.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    lines_ : list of matplotlib Line2D

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from sklearn_hashrank import TALRLinear
    >>> from sklearn_hashrank.metrics import TrainingCurveDisplay
    >>> X, y = load_digits(return_X_y=True)
    >>> hasher = TALRLinear(8, max_iter=5, random_state=0).fit(X[:500], y[:500])
    >>> display = TrainingCurveDisplay.from_estimator(hasher)
    >>> len(display.values[0]), display.label
    (5, 'objective')
    """

    def __init__(self, values: Any, *, names: Any = None, label: str | None = None):
        self.values = as_curves(values, "values")
        self.names, self.label = check_names(names, len(self.values)), label

    @classmethod
    def from_estimator(cls, estimator: Any, *, key: str = "objective") -> "TrainingCurveDisplay":
        """Curves of fitted hashers.

        Parameters
        ----------
        estimator : hasher or mapping of str to hasher
            Fitted, alone or within pipelines and searches, with an attribute `history_`.
        key : str, default="objective"
            Which entry of `history_` is drawn.

        Returns
        -------
        display : TrainingCurveDisplay
        """
        models = estimators_by_name(estimator)
        values = []
        for name, model in models.items():
            history = getattr(unwrap(model)[1], "history_", None)
            if history is None or key not in history:
                known = "no history_" if history is None else f"history_ with {', '.join(history)}"
                raise ValueError(f"{name} has {known}; history_[{key!r}] is needed.")
            values.append(history[key])
        names = None if len(models) == 1 else names_of(models)
        return cls(values, names=names, label=key.replace("_", " "))

    def plot(
        self, ax: Any = None, *, scaled: bool = False, **line_options: Any
    ) -> "TrainingCurveDisplay":
        """Draw one line for each model.

        Parameters
        ----------
        ax : matplotlib axes, default=None
            None: a new figure.
        scaled : bool, default=False
            Whether each line runs from 0, its lowest value, to 1, its highest, for objectives that
            cannot be compared.
        **line_options : dict
            Options of the lines, for :meth:`matplotlib.axes.Axes.plot`.

        Returns
        -------
        display : TrainingCurveDisplay
            With ``ax_``, ``figure_`` and ``lines_``.
        """
        self.ax_ = new_axes(self, ax)
        self.figure_ = self.ax_.figure
        self.lines_ = []
        for number, values in enumerate(self.values):
            name = None if self.names is None else self.names[number]
            shown = _scaled(values) if scaled else values
            passes = np.arange(1, len(values) + 1)
            options = style(number) | {"label": name} | line_options
            self.lines_ += self.ax_.plot(passes, shown, **options)
        self.ax_.set_xlabel("passes")
        if self.label is not None:
            self.ax_.set_ylabel(f"{self.label}, lowest 0, highest 1" if scaled else self.label)
        self.ax_.grid(alpha=0.3)
        legend(self.ax_, self.names)
        return self


def _scaled(values: np.ndarray) -> np.ndarray:
    low, high = np.nanmin(values), np.nanmax(values)
    scaled: np.ndarray = (values - low) / (high - low) if high > low else np.zeros_like(values)
    return scaled
