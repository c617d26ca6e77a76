"""Precision against recall, and recall against rank."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..._utils.types import MatrixLike, Target
from .._evaluation import mean_over_queries
from .._measure import TieOrder
from ._drawing import (
    by_name,
    check_names,
    histograms_of_codes,
    histograms_of_estimators,
    legend,
    names_of,
    new_axes,
    style,
)


def _curves(curves: Any, what: str) -> list[np.ndarray]:
    """Return one 1-d array for each model; a single curve becomes a list of one."""
    curves = [curves] if np.ndim(curves[0]) == 0 else list(curves)
    curves = [np.asarray(curve, dtype=float) for curve in curves]
    if any(curve.ndim != 1 for curve in curves):
        raise ValueError(f"{what} must be one 1-d array for each model.")
    return curves


def _check_lengths(first: list[np.ndarray], second: list[np.ndarray], what: str) -> None:
    lengths = [len(curve) for curve in first], [len(curve) for curve in second]
    if lengths[0] != lengths[1]:
        raise ValueError(f"{what} must be of the same lengths. Got {lengths[0]} and {lengths[1]}.")


class _CurveDisplay:
    """Curves of one model or of several, from histograms, estimators or codes."""

    names: list[str] | None

    @classmethod
    def from_histograms(
        cls, histograms: Any, *, k: ArrayLike | None = None, ties: TieOrder = "expected"
    ) -> Any:
        """Curves from retrieval histograms, averaged over the queries.

        Parameters
        ----------
        histograms : RetrievalHistogram or mapping of str to RetrievalHistogram
            Of one model, or of several by name.
        k : array-like of int, default=None
            The ranks; None: about 100, evenly spaced on a logarithmic scale.
        ties : {"expected", "optimistic", "pessimistic"}, default="expected"
            The mean over all orders of tied items, the best order, or the worst.

        Returns
        -------
        display : object of this class
        """
        models = by_name(histograms, "histograms")
        curves = []
        for histogram in models.values():
            precision, recall, ranks = histogram.precision_recall_curve(k=k, ties=ties)
            both = mean_over_queries(np.stack([precision, recall], axis=1))
            curves.append((both[0], both[1], ranks))
        return cls._of_curves(curves, names_of(models))

    @classmethod
    def _of_curves(cls, curves: list, names: list[str] | None) -> Any:
        raise NotImplementedError

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: MatrixLike,
        y: Target | None = None,
        *,
        database: Any = "self",
        affinity: Any = "auto",
        n_jobs: int | None = None,
        k: ArrayLike | None = None,
        ties: TieOrder = "expected",
    ) -> Any:
        """Curves of fitted hashers, averaged over the queries.

        Parameters
        ----------
        estimator : hasher or mapping of str to hasher
            Fitted, alone or within pipelines and searches; or other estimators whose
            ``transform``, or else ``predict``, gives codes.
        X : array-like of shape (n_queries, n_features)
            Rows to encode as queries.
        y : array-like with n_queries rows, default=None
            What the affinity compares. None: the rows as the hasher sees them.
        database : "self", "fit" or tuple (X, y), default="self"
            What to retrieve: all other rows of `X`, the rows the hasher was fitted on with their
            `y`, or others.
        affinity : "auto" or affinity object, default="auto"
            As for :func:`~sklearn_hashrank.metrics.make_retrieval_scorer`: "auto" is what the
            hasher was fitted with.
        n_jobs : int, default=None
            Threads.
        k : array-like of int, default=None
            The ranks; None: about 100, evenly spaced on a logarithmic scale.
        ties : {"expected", "optimistic", "pessimistic"}, default="expected"
            The mean over all orders of tied items, the best order, or the worst.

        Returns
        -------
        display : object of this class
        """
        histograms = histograms_of_estimators(estimator, X, y, database, affinity, n_jobs)
        return cls.from_histograms(histograms, k=k, ties=ties)

    @classmethod
    def from_codes(
        cls,
        y_true: Target,
        codes: ArrayLike | Mapping[str, ArrayLike],
        *,
        database: Any = None,
        n_bits: int | None = None,
        affinity: Any = "auto",
        n_jobs: int | None = None,
        k: ArrayLike | None = None,
        ties: TieOrder = "expected",
    ) -> Any:
        """Curves of codes, averaged over the queries.

        Parameters
        ----------
        y_true : array-like with n_queries rows
            What `affinity` compares: class labels, label sets, label paths or vectors.
        codes : array-like of shape (n_queries, n_columns) or mapping of str to such
            Codes of the queries, of one model or of several by name.
        database : tuple (y_database, database_codes), default=None
            The items to retrieve; with several models, their codes by the same names. None: every
            row is a query against all other rows.
        n_bits : int, default=None
            Length of a code; needed for packed codes.
        affinity : "auto" or affinity object, default="auto"
            As for the metric functions.
        n_jobs : int, default=None
            Threads.
        k : array-like of int, default=None
            The ranks; None: about 100, evenly spaced on a logarithmic scale.
        ties : {"expected", "optimistic", "pessimistic"}, default="expected"
            The mean over all orders of tied items, the best order, or the worst.

        Returns
        -------
        display : object of this class
        """
        histograms = histograms_of_codes(y_true, codes, database, n_bits, affinity, n_jobs)
        return cls.from_histograms(histograms, k=k, ties=ties)

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

    def __init__(self, precision: Any, recall: Any, *, names: Any = None):
        self.precision = _curves(precision, "precision")
        self.recall = _curves(recall, "recall")
        _check_lengths(self.precision, self.recall, "precision and recall")
        self.names = check_names(names, len(self.precision))

    @classmethod
    def _of_curves(cls, curves: list, names: list[str] | None) -> "PrecisionRecallDisplay":
        precision, recall, _ = zip(*curves)
        return cls(precision, recall, names=names)

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

    def __init__(self, recall: Any, k: Any, *, names: Any = None):
        self.recall, self.k = _curves(recall, "recall"), _curves(k, "k")
        if len(self.k) == 1:
            self.k *= len(self.recall)
        _check_lengths(self.recall, self.k, "recall and k")
        self.names = check_names(names, len(self.recall))

    @classmethod
    def _of_curves(cls, curves: list, names: list[str] | None) -> "RecallAtKDisplay":
        _, recall, k = zip(*curves)
        return cls(recall, k, names=names)

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
