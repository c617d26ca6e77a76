"""Precision against recall, and recall against rank."""

from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from .._evaluation import mean_over_queries
from .._measure import TieOrder
from ._drawing import (
    HistogramDisplay,
    as_curves,
    by_name,
    check_names,
    legend,
    names_of,
    new_axes,
    style,
)


def _paired(first: Any, first_name: str, second: Any, second_name: str) -> tuple[list, list]:
    """Return two curves of each model; a single second curve belongs to all."""
    ours, theirs = as_curves(first, first_name), as_curves(second, second_name)
    if len(theirs) == 1:
        theirs = theirs * len(ours)
    lengths = [len(curve) for curve in ours], [len(curve) for curve in theirs]
    if lengths[0] != lengths[1]:
        raise ValueError(
            f"{first_name} and {second_name} must be of the same lengths. "
            f"Got {lengths[0]} and {lengths[1]}."
        )
    return ours, theirs


class _CurveDisplay(HistogramDisplay):
    """Curves of precision and recall at many ranks."""

    _kinds: ClassVar[tuple[str, str]]  # the curves that the constructor accepts
    names: list[str] | None

    @classmethod
    def from_histograms(
        cls, histograms: Any, *, k: ArrayLike | None = None, ties: TieOrder = "expected"
    ) -> Any:
        """Make the display for retrieval histograms, averaged over the queries.

        Parameters
        ----------
        histograms : RetrievalHistogram or mapping of str to RetrievalHistogram
            Of one model, or of several by name.
        k : array-like of int, default=None
            Ranks. None: about 100, evenly spaced on a logarithmic scale.
        ties : {"expected", "optimistic", "pessimistic"}, default="expected"
            Mean, maximum or minimum over all orders of tied items.

        Returns
        -------
        display : object of this class
        """
        models = by_name(histograms, "histograms")
        curves: dict[str, list] = {"precision": [], "recall": [], "k": []}
        for histogram in models.values():
            precision, recall, ranks = histogram.precision_recall_curve(k=k, ties=ties)
            both = mean_over_queries(np.stack([precision, recall], axis=1))
            for of_kind, curve in zip(curves.values(), (*both, ranks)):
                of_kind.append(curve)
        make: Any = cls
        return make(*(curves[kind] for kind in cls._kinds), names=names_of(models))

    def _draw(self, ax: Any, x: list, y: list, labels: tuple[str, str], options: dict) -> Any:
        self.ax_ = new_axes(self, ax)
        self.figure_ = self.ax_.figure
        self.lines_ = []
        for number, (of_x, of_y) in enumerate(zip(x, y)):
            name = None if self.names is None else self.names[number]
            self.lines_ += self.ax_.plot(of_x, of_y, **style(number) | {"label": name} | options)
        self.ax_.set(xlabel=labels[0], ylabel=labels[1], ylim=(-0.02, 1.02))
        self.ax_.grid(alpha=0.3)
        legend(self.ax_, self.names)
        return self


class PrecisionRecallDisplay(_CurveDisplay):
    """Precision at k against recall at k, tie-aware, averaged over the queries.

    Parameters
    ----------
    precision, recall : array-like of shape (n_ranks,), or list of such
        Of one model, or of each model.
    names : list of str, default=None
        Names of the models.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    lines_ : list of matplotlib Line2D

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from sklearn_hashrank import LSHHasher
    >>> from sklearn_hashrank.metrics import PrecisionRecallDisplay
    >>> X, y = load_digits(return_X_y=True)
    >>> hasher = LSHHasher(16, random_state=0).fit(X[:900])
    >>> display = PrecisionRecallDisplay.from_estimator(
    ...     hasher, X[900:], y[900:], database=(X[:900], y[:900])
    ... )
    >>> display.recall[0][-1]
    np.float64(1.0)
    """

    _kinds = ("precision", "recall")

    def __init__(self, precision: Any, recall: Any, *, names: Any = None):
        self.precision, self.recall = _paired(precision, "precision", recall, "recall")
        self.names = check_names(names, len(self.precision))

    def plot(self, ax: Any = None, **line_options: Any) -> "PrecisionRecallDisplay":
        """Draw one line for each model.

        Parameters
        ----------
        ax : matplotlib axes, default=None
            None: a new figure.
        **line_options : dict
            Options of the lines, for :meth:`matplotlib.axes.Axes.plot`.

        Returns
        -------
        display : PrecisionRecallDisplay
            With ``ax_``, ``figure_`` and ``lines_``.
        """
        return self._draw(
            ax, self.recall, self.precision, ("recall at k", "precision at k"), line_options
        )


class RecallAtKDisplay(_CurveDisplay):
    """Recall against the number of items retrieved, tie-aware, averaged over the queries.

    Parameters
    ----------
    recall : array-like of shape (n_ranks,), or list of such
        Of one model, or of each model.
    k : array-like of shape (n_ranks,), or list of such
        The ranks.
    names : list of str, default=None
        Names of the models.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    lines_ : list of matplotlib Line2D

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from sklearn_hashrank import LSHHasher
    >>> from sklearn_hashrank.metrics import RecallAtKDisplay
    >>> X, y = load_digits(return_X_y=True)
    >>> codes = {n: LSHHasher(n, random_state=0).fit_transform(X) for n in (8, 32)}
    >>> display = RecallAtKDisplay.from_codes(y, codes)
    >>> display.names
    ['8', '32']
    """

    _kinds = ("recall", "k")

    def __init__(self, recall: Any, k: Any, *, names: Any = None):
        self.recall, self.k = _paired(recall, "recall", k, "k")
        self.names = check_names(names, len(self.recall))

    def plot(self, ax: Any = None, **line_options: Any) -> "RecallAtKDisplay":
        """Draw one line for each model, on a logarithmic scale of ranks.

        Parameters
        ----------
        ax : matplotlib axes, default=None
            None: a new figure.
        **line_options : dict
            Options of the lines, for :meth:`matplotlib.axes.Axes.plot`.

        Returns
        -------
        display : RecallAtKDisplay
            With ``ax_``, ``figure_`` and ``lines_``.
        """
        ax = new_axes(self, ax)
        ax.set_xscale("log")  # first, as curves that are undefined set no limits that it could take
        return self._draw(
            ax, self.k, self.recall, ("k, items retrieved", "recall at k"), line_options
        )
