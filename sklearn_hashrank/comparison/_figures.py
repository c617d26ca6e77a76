"""Draw the figures of a comparison with the displays of the metrics, for pages and for papers."""

import io
import math
import re
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .._utils.text import plain
from ..metrics._displays._curves import PrecisionRecallDisplay, RecallAtKDisplay
from ..metrics._displays._drawing import style
from ..metrics._displays._tie_range import TieRangeDisplay
from ..metrics._displays._usage import CodeUsageDisplay
from ..metrics._usage import CodeUsage
from ._columns import Column
from ._runner import CHANCE, RunResult

_STYLE = {"font.size": 10, "svg.hashsalt": "hashrank", "svg.fonttype": "none", "pdf.fonttype": 42}
_WIDTH, _HEIGHT = 5.0, 3.4  # inches: text has 10 px where the page is as narrow as a telephone
_LEGEND_ROW, _TIE_ROW = 0.19, 0.26  # inches
_MANY = 10  # methods that one pair of axes can show
_MARGIN = 0.04  # of the range of the values, on either side
_MARKERS = ("o", "s", "^", "D", "v", "P", "X")
_CHANCE_LINE = {"color": "#7f7f7f", "linestyle": (0, (1, 1.5)), "linewidth": 1.2, "zorder": 1}


Draw = Callable[[Any, list[str]], None]
"""Draws methods into axes."""


@dataclass(frozen=True)
class Figure:
    """A figure, and what it is of.

    Parameters
    ----------
    name : str
        Name of its files.
    caption : str
        One sentence.
    canvas : matplotlib Figure
        The drawing.
    n_bits : int, default=None
        The code length. None: all of them.
    column : str, default=""
        Name of the column whose table it belongs to, if it shows all code lengths.
    """

    name: str
    caption: str
    canvas: Any
    n_bits: int | None = None
    column: str = ""

    def saved_as(self, kind: str) -> bytes:
        """Return the bytes of a file of this kind, ``"svg"`` or ``"pdf"``, the same every time."""
        import matplotlib.style

        file = io.BytesIO()
        left_out = {
            "svg": ("Creator", "Date", "Format", "Type"),
            "pdf": ("Creator", "CreationDate"),
        }
        with matplotlib.style.context(["default", _STYLE]), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of layouts and of logarithms of nothing
            self.canvas.savefig(file, format=kind, metadata=dict.fromkeys(left_out[kind]))
        return file.getvalue()


def draw_figures(
    results: Sequence[RunResult],
    columns: Sequence[Column],
    groups: Mapping[str, Sequence[str]],
    chance: Sequence[RunResult],
) -> list[Figure]:
    """Draw every figure of a report, of the runs that succeeded; none without matplotlib.

    Measures of a ranking are drawn against the code length. Where methods are many, each group
    of `groups` has figures of its own, with the same limits.
    """
    results = [result for result in results if result.scores]
    try:
        import matplotlib.style
    except ImportError:
        return []
    lengths = sorted({result.n_bits for result in results})
    panels = _panels(_methods(results), groups)
    chance = [result for result in chance if result.scores]
    figures = []
    with matplotlib.style.context(["default", _STYLE]), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if len(lengths) > 1:
            figures += _by_length(results, lengths, columns, panels, chance)
        for n_bits in lengths:
            of_length, by_chance = (
                [r for r in found if r.n_bits == n_bits] for found in (results, chance)
            )
            figures += _of_length(of_length, by_chance, n_bits, panels)
    return figures


def _panels(methods: Sequence[str], groups: Mapping[str, Sequence[str]]) -> dict[str, list[str]]:
    """Headings and methods of the figures of a kind: one for all, or one for each group."""
    shown = {group: [m for m in members if m in methods] for group, members in groups.items()}
    shown = {group: members for group, members in shown.items() if members}
    return shown if len(methods) > _MANY and len(shown) > 1 else {"": list(methods)}


def _by_length(
    results: Sequence[RunResult],
    lengths: list[int],
    columns: Sequence[Column],
    panels: Mapping[str, list[str]],
    chance: Sequence[RunResult],
) -> list[Figure]:
    seeds = sorted({result.seed for result in results})
    figures = []
    for column in columns:
        if not column.ranged or not any(column.name in result.scores for result in results):
            continue
        scores = _scores_of([*results, *chance], column.name, lengths, seeds)

        def draw(
            ax: Any, methods: list[str], column: Column = column, scores: dict = scores
        ) -> None:
            draw_against_lengths(ax, lengths, {method: scores[method] for method in methods})
            ax.set_ylabel(_in_math(column.title))
            if CHANCE in scores:
                ax.plot(lengths, np.mean(scores[CHANCE], axis=1), label=CHANCE, **_CHANCE_LINE)

        caption = (
            f"{column.title} against code length: means; bars from the lowest seed to the highest"
        )
        name = f"{column.name}_by_bits"
        drawn = _in_panels(name, caption, draw, panels, _limits(scores.values()))
        figures += [replace(figure, column=column.name) for figure in drawn]
    return figures


def draw_against_lengths(
    ax: Any, lengths: Sequence[int], scores: Mapping[str, list[list[float]]]
) -> None:
    """Draw means over seeds, with bars from the lowest seed to the highest; nan is left out."""
    n = len(scores)
    for number, (method, of_method) in enumerate(scores.items()):
        known = np.ma.masked_invalid(of_method)
        mean = known.mean(axis=1)
        spread = np.abs(np.ma.stack([known.min(axis=1), known.max(axis=1)]) - mean)
        # Error bars must not hide one another, nor stray from their length where they are many.
        aside = 2 ** (min(0.02, 0.12 / n) * (number - (n - 1) / 2))
        ax.errorbar(
            np.asarray(lengths) * aside,
            mean.filled(np.nan),
            spread.filled(np.nan),
            **style(number),
            label=plain(method),
            marker=_MARKERS[number % len(_MARKERS)],
            markersize=5,
            capsize=3,
        )
    ax.set_xscale("log", base=2)
    ax.set_xticks(lengths, [str(length) for length in lengths])
    ax.minorticks_off()
    ax.set_xlabel("bits")
    ax.grid(alpha=0.3)


def _scores_of(
    results: Sequence[RunResult], name: str, lengths: Sequence[int], seeds: Sequence[int]
) -> dict[str, list[list[float]]]:
    """Scores of each method, a row for each length and a column for each seed; nan for none."""
    found = {(r.method, r.n_bits, r.seed): r.scores for r in results}
    return {
        m: [[found.get((m, n, seed), {}).get(name, math.nan) for seed in seeds] for n in lengths]
        for m in _methods(results)
    }


def _of_length(
    results: Sequence[RunResult],
    chance: Sequence[RunResult],
    n_bits: int,
    panels: Mapping[str, list[str]],
) -> list[Figure]:
    groups = {m: [result for result in results if result.method == m] for m in _methods(results)}
    panels = {title: [m for m in members if m in groups] for title, members in panels.items()}
    panels = {title: members for title, members in panels.items() if members}
    if chance:
        groups[CHANCE] = list(chance)
    seeds = sorted({group[0].seed for group in groups.values()})
    drawn = f"seed{'s' * (len(seeds) > 1)} {', '.join(map(str, seeds))}"

    def curves(name: str) -> dict[str, Any]:
        return {m: np.mean([r.curves[name] for r in group], axis=0) for m, group in groups.items()}

    precision, recall = curves("precision"), curves("recall")
    k = {m: group[0].curves["k"] for m, group in groups.items()}

    def drawing(display: Any, upward: Mapping[str, Any], along: Mapping[str, Any]) -> Draw:
        def draw(ax: Any, methods: list[str]) -> None:
            upwards, alongs = ([of[m] for m in methods] for of in (upward, along))
            display(upwards, alongs, names=list(map(plain, methods))).plot(ax)
            if CHANCE in groups:
                ax.plot(along[CHANCE], upward[CHANCE], label=CHANCE, **_CHANCE_LINE)

        return draw

    encoded = {m for m, group in groups.items() if group[0].curves["items_per_code"]}

    def usage(ax: Any, methods: list[str]) -> None:
        shown = [m for m in methods if m in encoded]
        usages = [_usage(groups[m][0]) for m in shown]
        CodeUsageDisplay(usages, names=list(map(plain, shown))).plot(ax, order="fullest")

    figures = []
    if all("ap_pessimistic" in result.scores for result in results):  # "ap" may be of one order
        figures.append(_tie_range(groups, panels))
    with_codes = {title: members for title, members in panels.items() if encoded & set(members)}
    figures += _in_panels(
        "precision_recall",
        "precision against recall, tie-aware, means over seeds",
        drawing(PrecisionRecallDisplay, precision, recall),
        panels,
        _limits(precision.values()),
    )
    figures += _in_panels(
        "recall_at_k",
        "recall at k, tie-aware, means over seeds",
        drawing(RecallAtKDisplay, recall, k),
        panels,
    )
    figures += _in_panels(
        "code_usage", f"items on each code of the database, {drawn}", usage, with_codes
    )
    return [
        replace(
            figure,
            name=f"{figure.name}_{n_bits}_bits",
            caption=f"{n_bits} bits: {figure.caption}",
            n_bits=n_bits,
        )
        for figure in figures
    ]


def _tie_range(groups: Mapping[str, list[RunResult]], panels: Mapping[str, list[str]]) -> Figure:
    """Draw one row for each method, those of a group together, and one for chance."""
    methods = [method for members in panels.values() for method in members]
    methods += [CHANCE] * (CHANCE in groups)
    low, mean, high = (
        [np.mean([r.scores["ap" + suffix] for r in groups[m]]) for m in methods]
        for suffix in ("_pessimistic", "", "_optimistic")
    )
    label = _in_math("AP_T")
    display = TieRangeDisplay(low, mean, high, names=list(map(plain, methods)), label=label)
    caption = "AP_T and its range over all orders of tied items, means over seeds"
    canvas = _canvas(1.2 + _TIE_ROW * len(methods))
    display.plot(canvas.subplots())
    return Figure("ties", caption, canvas)


def _in_panels(
    name: str,
    caption: str,
    draw: Draw,
    panels: Mapping[str, list[str]],
    limits: tuple[float, float] | None = None,
) -> list[Figure]:
    """Draw methods into one figure, or each group into its own with common limits."""
    # A measure may have a name that no file can have everywhere.
    name = re.sub(r"[^\w.-]+", "_", name)
    figures = []
    for group, methods in panels.items():
        canvas = _canvas(_HEIGHT)
        ax = canvas.subplots()
        draw(ax, methods)
        if limits is not None:
            ax.set_ylim(limits)
        _legend_below(canvas, ax)
        of_group = f"{group}: {caption}" if group else caption
        figures.append(Figure(f"{name}{'_' * bool(group)}{group}", of_group, canvas))
    return figures


def _canvas(height: float) -> Any:
    from matplotlib.figure import Figure as Canvas

    return Canvas(figsize=(_WIDTH, height), layout="constrained")


def _legend_below(canvas: Any, ax: Any) -> None:
    """Put the legend below the axes, where it takes nothing of their size."""
    if ax.get_legend() is not None:
        ax.get_legend().remove()
    named = sorted(zip(*ax.get_legend_handles_labels()), key=lambda each: each[1] == CHANCE)
    longest = max((len(label) for _, label in named), default=0)
    n_columns = 1 if longest > 26 else 2 if longest > 14 else 3
    canvas.set_figheight(_HEIGHT + _LEGEND_ROW * -(-len(named) // n_columns))
    legend = canvas.legend(
        [handle for handle, _ in named],
        [label for _, label in named],
        loc="outside lower center",
        ncols=n_columns,
        fontsize=9,
        frameon=False,
        handlelength=2.4,
        labelspacing=0.3,
    )
    for text in legend.get_texts():
        text.set_parse_math(False)  # the name of a method may hold dollars


def _limits(values: Iterable[Any]) -> tuple[float, float] | None:
    """Limits of an axis of shares that leave little room beyond the values."""
    known = np.concatenate([np.ravel(each) for each in values] or [np.empty(0)])
    known = known[np.isfinite(known)]
    if not known.size:
        return None
    low, high = float(known.min()), float(known.max())
    margin = _MARGIN * max(high - low, 0.02)
    return low - margin, high + margin


def _in_math(title: str) -> str:
    """Set the T of "AP_T" as an index."""
    return title if "$" in title else re.sub(r"_T\b", "$_T$", title)


def _methods(results: Sequence[RunResult]) -> list[str]:
    return list(dict.fromkeys(result.method for result in results))


def _usage(result: RunResult) -> CodeUsage:
    """Usage whose distinct codes are not known, only how many items they have."""
    counts = np.repeat(result.curves["items_per_code"], result.curves["codes_with_so_many_items"])
    codes = np.zeros((len(counts), -(-result.n_bits // 8)), dtype=np.uint8)
    return CodeUsage(codes, counts, result.n_bits)
