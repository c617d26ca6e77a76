"""A measure against the length of the codes, over seeds."""

from typing import Any

import numpy as np

from ._drawing import MARKERS, check_names, legend, new_axes, style


class BitsCurveDisplay:
    """A measure against the length of the codes, with error bars over seeds.

    Parameters
    ----------
    n_bits : array-like of shape (n_lengths,)
        Lengths of the codes.
    scores : array-like of shape (n_lengths, n_seeds), or list of such
        Of one model, or of each model. A seed whose score is nan is left out.
    names : list of str, default=None
        Names of the models.
    label : str, default=None
        Name of the measure.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    lines_ : list of matplotlib ErrorbarContainer

    Examples
    --------
    >>> from sklearn_hashrank.metrics._displays._bits_curve import BitsCurveDisplay
    >>> display = BitsCurveDisplay([8, 32], [[0.24, 0.23], [0.49, 0.48]], label="mean AP")
    >>> len(display.scores)
    1
    """

    def __init__(self, n_bits: Any, scores: Any, *, names: Any = None, label: str | None = None):
        self.n_bits = np.asarray(n_bits)
        scores = list(scores)
        scores = [scores] if np.ndim(scores[0]) == 1 else scores
        self.scores = [np.asarray(of_model, dtype=float) for of_model in scores]
        for of_model in self.scores:
            if of_model.ndim != 2 or len(of_model) != len(self.n_bits):
                raise ValueError(
                    f"scores must have one row for each of {len(self.n_bits)} lengths of codes and "
                    f"one column for each seed. Got shape {of_model.shape}."
                )
        self.names, self.label = check_names(names, len(self.scores)), label

    def plot(self, ax: Any = None, *, error: str = "std", **options: Any) -> "BitsCurveDisplay":
        """Draw one line for each model, at the means over seeds.

        Parameters
        ----------
        ax : matplotlib axes, default=None
            None: a new figure.
        error : {"std", "range"}, default="std"
            What the bars span: a standard deviation either way, or all seeds.
        **options : dict
            Options of the lines, for :meth:`matplotlib.axes.Axes.errorbar`.

        Returns
        -------
        display : BitsCurveDisplay
            With ``ax_``, ``figure_`` and ``lines_``.
        """
        if error not in ("std", "range"):
            raise ValueError(f"error must be 'std' or 'range'. Got {error!r} instead.")
        self.ax_ = new_axes(self, ax)
        self.figure_ = self.ax_.figure
        self.lines_ = []
        n = len(self.scores)
        for number, scores in enumerate(self.scores):
            known = np.ma.masked_invalid(scores)
            mean, spread = known.mean(axis=1), known.std(axis=1)
            if error == "range":
                spread = np.abs(np.ma.stack([known.min(axis=1), known.max(axis=1)]) - mean)
            settings = style(number) | {
                "label": None if self.names is None else self.names[number],
                "marker": MARKERS[number % len(MARKERS)],
                "markersize": 5,
                "capsize": 3,
            }
            # Error bars must not hide one another, nor stray from their length where they are many.
            aside = 2 ** (min(0.02, 0.12 / n) * (number - (n - 1) / 2))
            mean, spread = mean.filled(np.nan), spread.filled(np.nan)
            line = self.ax_.errorbar(self.n_bits * aside, mean, spread, **settings | options)
            self.lines_.append(line)
        self.ax_.set_xscale("log", base=2)
        self.ax_.set_xticks(self.n_bits, [str(length) for length in self.n_bits])
        self.ax_.minorticks_off()
        self.ax_.set_xlabel("bits")
        if self.label is not None:
            self.ax_.set_ylabel(self.label)
        self.ax_.grid(alpha=0.3)
        legend(self.ax_, self.names)
        return self
