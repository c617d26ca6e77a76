"""How many items each code holds."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..._utils.types import MatrixLike
from .._retrieval import encode
from .._usage import CodeUsage, code_usage
from ._drawing import (
    COLORS,
    by_name,
    check_names,
    estimators_by_name,
    legend,
    names_of,
    new_axes,
    pyplot,
    style,
)

_BITS_IN_CODE_ORDER = 16
_BARS = 64  # up to here codes are drawn as bars, beyond as hairlines


class CodeUsageDisplay:
    """How codes use the Hamming space: the number of items of each code.

    In the order of codes, one panel for each model, as in figures 1 and 8 of [1]_; or codes from
    the fullest to the emptiest, all models in one picture.

    Parameters
    ----------
    usages : CodeUsage or list of CodeUsage
        Usage of one model, or of each.
    names : list of str, default=None
        Names of the models.

    Attributes
    ----------
    figure_ : matplotlib Figure
    axes_ : ndarray of matplotlib Axes
        One for each model, or a single one with ``order="fullest"``.
    ax_ : matplotlib Axes
        The first of them.
    lines_ : list of matplotlib artists
        One for each model: bars, hairlines or a line.

    References
    ----------
    .. [1] P. L. K. Ding, Y. Li, B. Li, "Mean local group average precision (mLGAP): a new
       performance metric for hashing-based retrieval", 2018.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from sklearn_hashrank import LSHHasher
    >>> from sklearn_hashrank.metrics import CodeUsageDisplay
    >>> X, _ = load_digits(return_X_y=True)
    >>> hashers = {f"{n} bits": LSHHasher(n, random_state=0).fit(X) for n in (4, 6)}
    >>> display = CodeUsageDisplay.from_estimator(hashers, X)
    >>> [usage.n_distinct for usage in display.usages]
    [16, 64]
    """

    def __init__(self, usages: Any, *, names: Any = None):
        self.usages = [usages] if isinstance(usages, CodeUsage) else list(usages)
        if not all(isinstance(usage, CodeUsage) for usage in self.usages) or not self.usages:
            raise ValueError("usages must be what code_usage returns, one or a list of them.")
        self.names = check_names(names, len(self.usages))

    @classmethod
    def from_codes(
        cls, codes: ArrayLike | Mapping[str, ArrayLike], *, n_bits: int | None = None
    ) -> "CodeUsageDisplay":
        """Usage of codes.

        Parameters
        ----------
        codes : array-like of shape (n, n_columns) or mapping of str to such
            Codes of one model, or of several by name.
        n_bits : int, default=None
            Length of a code; needed for packed codes.

        Returns
        -------
        display : CodeUsageDisplay
        """
        models = by_name(codes, "codes")
        usages = [code_usage(of_model, n_bits=n_bits) for of_model in models.values()]
        return cls(usages, names=names_of(models))

    @classmethod
    def from_estimator(cls, estimator: Any, X: MatrixLike) -> "CodeUsageDisplay":
        """Usage of the codes of rows.

        Parameters
        ----------
        estimator : hasher or mapping of str to hasher
            Fitted, alone or within pipelines and searches; or other estimators whose
            ``transform``, or else ``predict``, gives codes.
        X : array-like of shape (n_samples, n_features)
            Rows to encode.

        Returns
        -------
        display : CodeUsageDisplay
        """
        models = estimators_by_name(estimator)
        encoded = [encode(model, X) for model in models.values()]
        usages = [code_usage(codes, n_bits=n_bits) for codes, n_bits, _ in encoded]
        return cls(usages, names=names_of(models))

    @classmethod
    def from_histograms(cls, histograms: Any) -> "CodeUsageDisplay":
        """Usage of the codes that histograms were made with ``keep_codes=True``.

        Parameters
        ----------
        histograms : RetrievalHistogram or mapping of str to RetrievalHistogram
            Of one model, or of several by name.

        Returns
        -------
        display : CodeUsageDisplay
        """
        models = by_name(histograms, "histograms")
        return cls([h.code_usage() for h in models.values()], names=names_of(models))

    def plot(self, ax: Any = None, *, order: str = "auto", **options: Any) -> "CodeUsageDisplay":
        """Draw the number of items of each code.

        Parameters
        ----------
        ax : matplotlib axes or array of such, default=None
            One for each model, or a single one, which is divided among the models. None: a new
            figure.
        order : {"auto", "code", "fullest"}, default="auto"
            ``"code"``: one panel for each model, codes read as numbers, for at most 16 bits;
            ``"fullest"``: one line for each model, the fullest code first, both axes
            logarithmic; ``"auto"``: in the order of codes where these are short enough.
        **options : dict
            Options of the bars, hairlines or lines.

        Returns
        -------
        display : CodeUsageDisplay
            With ``figure_``, ``axes_``, ``ax_`` and ``lines_``.
        """
        longest = max(usage.n_bits for usage in self.usages)
        if order not in ("auto", "code", "fullest"):
            raise ValueError(f"order must be 'auto', 'code' or 'fullest'. Got {order!r} instead.")
        if order == "code" and longest > _BITS_IN_CODE_ORDER:
            raise ValueError(
                f"order='code' draws codes of at most {_BITS_IN_CODE_ORDER} bits. Got codes of "
                f"{longest} bits; order='fullest' draws them."
            )
        if order == "fullest" or longest > _BITS_IN_CODE_ORDER:
            return self._draw_fullest_first(ax, options)
        return self._draw_in_code_order(ax, options)

    def _draw_in_code_order(self, ax: Any, options: dict) -> "CodeUsageDisplay":
        n = len(self.usages)
        self.axes_ = _panels(self, ax, n)
        self.ax_, self.figure_, self.lines_ = self.axes_[0], self.axes_[0].figure, []
        highest = max(int(usage.counts.max()) for usage in self.usages)
        for number, (panel, usage) in enumerate(zip(self.axes_, self.usages)):
            width = usage.codes.shape[1]
            weights = 256.0 ** np.arange(width)[::-1]
            codes = usage.codes @ weights / 2.0 ** (8 * width - usage.n_bits)
            n_codes = 2**usage.n_bits
            if n_codes <= _BARS:
                settings = {"color": COLORS[0], "width": 0.85} | options
                self.lines_.append(panel.bar(codes, usage.counts, **settings))
            else:
                settings = {"colors": COLORS[0], "linewidth": 0.8} | options
                self.lines_.append(panel.vlines(codes, 0, usage.counts, **settings))
            name = "" if self.names is None else f"{self.names[number]}\n"
            title = f"{name}{usage.n_distinct:,} of {n_codes:,} codes"
            panel.set_title(title, fontsize="small", parse_math=False)
            panel.set(xlim=(-0.5 - 0.01 * n_codes, n_codes * 1.01 - 0.5), ylim=(0, highest * 1.05))
            panel.set_xticks([0, n_codes - 1])
            panel.set_xlabel("code", labelpad=-8, fontsize="small")
            panel.tick_params(labelsize="small")
        self.ax_.set_ylabel("items", fontsize="small")
        return self

    def _draw_fullest_first(self, ax: Any, options: dict) -> "CodeUsageDisplay":
        self.ax_ = new_axes(self, ax if ax is None else np.ravel(ax)[0])
        self.figure_, self.axes_, self.lines_ = self.ax_.figure, np.array([self.ax_]), []
        for number, usage in enumerate(self.usages):
            counts = np.sort(usage.counts)[::-1]
            name = "" if self.names is None else f"{self.names[number]}: "
            label = f"{name}{usage.n_distinct:,} codes, entropy {usage.entropy:.1f}"
            settings = style(number) | {"label": label} | options
            self.lines_ += self.ax_.plot(np.arange(1, len(counts) + 1), counts, **settings)
        self.ax_.set(xscale="log", yscale="log", xlabel="code, the fullest first", ylabel="items")
        for axis in (self.ax_.xaxis, self.ax_.yaxis):
            axis.set_major_formatter("{x:,.0f}")
            axis.set_minor_formatter("")
        if max(usage.counts.max() for usage in self.usages) < 50:  # powers of ten are too few
            self.ax_.yaxis.get_major_locator().set_params(subs=(1, 2, 5))
        self.ax_.grid(alpha=0.3)
        legend(self.ax_, [str(line.get_label()) for line in self.lines_])
        return self


def _panels(display: Any, ax: Any, n: int) -> Any:
    """Return axes for n models: new ones, those given, or a given one that is divided."""
    plt = pyplot(display)
    if ax is None:
        n_rows = -(-n // 4)
        n_columns = -(-n // n_rows)
        figure, axes = plt.subplots(
            n_rows,
            n_columns,
            figsize=(1 + 2.4 * n_columns, 0.4 + 2.2 * n_rows),
            sharey=True,
            squeeze=False,
            layout="constrained",
        )
        for unused in axes.ravel()[n:]:
            figure.delaxes(unused)
        return axes.ravel()[:n]
    axes = np.ravel(ax)
    if len(axes) == n:
        return axes
    if len(axes) > 1:
        raise ValueError(f"ax must be one axes, or one for each of {n} models. Got {len(axes)}.")
    axes[0].set_axis_off()
    share, gap = 1 / n, 0.06 / n
    panels = [axes[0].inset_axes([i * share + gap, 0, share - 2 * gap, 0.9]) for i in range(n)]
    for panel in panels[1:]:
        panel.tick_params(labelleft=False)
    return np.array(panels)
