"""The range of a measure over all orders of tied items."""

from typing import Any

import numpy as np

from .._evaluation import mean_value
from .._measure import TIE_ORDERS
from .._registry import get_measure
from ._drawing import COLORS, HistogramDisplay, by_name, check_names, names_of, new_axes


class TieRangeDisplay(HistogramDisplay):
    """What a measure could have been, had ties been broken otherwise.

    A bar from the worst order of tied items to the best, for each model, and a dot at the
    expectation over all orders: figure 3 of [1]_.

    Parameters
    ----------
    pessimistic, expected, optimistic : array-like of shape (n_models,)
        The measure in the worst order, averaged over all orders, and in the best.
    names : list of str, default=None
        Names of the models.
    label : str, default=None
        Name of the measure.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    lines_ : list of matplotlib Line2D
        The ranges.
    points_ : matplotlib Line2D
        The expectations.

    References
    ----------
    .. [1] K. He, F. Cakir, S. A. Bargal, S. Sclaroff, "Hashing as tie-aware learning to rank",
       CVPR 2018.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from sklearn_hashrank import LSHHasher
    >>> from sklearn_hashrank.metrics import TieRangeDisplay
    >>> X, y = load_digits(return_X_y=True)
    >>> hashers = {n: LSHHasher(n, random_state=0).fit(X) for n in (8, 32)}
    >>> display = TieRangeDisplay.from_estimator(hashers, X, y)
    >>> (display.optimistic - display.pessimistic).round(2)
    array([0.18, 0.09])
    """

    def __init__(
        self,
        pessimistic: Any,
        expected: Any,
        optimistic: Any,
        *,
        names: Any = None,
        label: str | None = None,
    ):
        self.pessimistic, self.expected, self.optimistic = (
            np.atleast_1d(np.asarray(values, dtype=float))
            for values in (pessimistic, expected, optimistic)
        )
        shapes = self.pessimistic.shape, self.expected.shape, self.optimistic.shape
        if len(set(shapes)) > 1 or self.expected.ndim != 1:
            raise ValueError(
                "pessimistic, expected and optimistic must be 1-d and of one length. "
                f"Got shapes {shapes}."
            )
        self.names, self.label = check_names(names, len(self.expected)), label

    @classmethod
    def from_histograms(
        cls, histograms: Any, *, measure: Any = "ap", **options: Any
    ) -> "TieRangeDisplay":
        """Make the display for retrieval histograms.

        Parameters
        ----------
        histograms : RetrievalHistogram or mapping of str to RetrievalHistogram
            Of one model, or of several by name.
        measure : str or callable, default="ap"
            A function of ``sklearn_hashrank.metrics`` with a value for each query, or its short
            name.
        **options : dict
            Parameters of the measure, such as ``k``.

        Returns
        -------
        display : TieRangeDisplay
        """
        models, measure = by_name(histograms, "histograms"), get_measure(measure)
        expected, optimistic, pessimistic = (
            [mean_value(h.measure(measure, ties=ties, **options)) for h in models.values()]
            for ties in TIE_ORDERS
        )
        cut = measure.cut
        at = f" at {cut} = {options[cut]}" if options.get(cut) is not None else ""
        label = f"mean {measure.label}{at}"
        return cls(pessimistic, expected, optimistic, names=names_of(models), label=label)

    def plot(self, ax: Any = None, **line_options: Any) -> "TieRangeDisplay":
        """Draw one bar for each model, the first on top.

        Parameters
        ----------
        ax : matplotlib axes, default=None
            None: a new figure.
        **line_options : dict
            Options of the bars, for :meth:`matplotlib.axes.Axes.plot`.

        Returns
        -------
        display : TieRangeDisplay
            With ``ax_``, ``figure_``, ``lines_`` and ``points_``.
        """
        n = len(self.expected)
        self.ax_ = new_axes(self, ax, figsize=(5, 1 + 0.35 * n))
        self.figure_ = self.ax_.figure
        options = {"color": COLORS[5], "linewidth": 5, "solid_capstyle": "butt"} | line_options
        rows = np.arange(n)
        self.lines_ = [
            self.ax_.plot([low, high], [row, row], zorder=2, **options)[0]
            for row, low, high in zip(rows, self.pessimistic, self.optimistic)
        ]
        [self.points_] = self.ax_.plot(
            self.expected, rows, "o", color="black", markersize=5, zorder=3
        )
        names = self.names if self.names is not None else [""] * n
        self.ax_.set_yticks(rows, names, parse_math=False)
        self.ax_.set_ylim(n - 0.4, -0.6)
        self.ax_.grid(axis="x", alpha=0.3)
        lines = [] if self.label is None else [self.label]
        if np.any(self.pessimistic < self.optimistic):
            lines.append("dot: expectation, bar: all orders of ties")
        self.ax_.set_xlabel("\n".join(lines))
        return self
