"""Draw the pictures of a report as SVG, with the displays of the metrics."""

import io
import math
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from .._utils.text import plain
from ..measures import CodeUsage
from ..metrics import (
    BitsCurveDisplay,
    CodeUsageDisplay,
    PrecisionRecallDisplay,
    RecallAtKDisplay,
    TieRangeDisplay,
)
from ._columns import COLUMNS, Column
from ._runner import RunResult

_STYLE = {"font.size": 10, "svg.hashsalt": "hashrank"}
_SIZE, _SIZE_OF_MANY = (6.0, 4.0), (7.6, 5.0)  # inches; displays put long legends to the side
_MANY = 10  # methods that one pair of axes can show
_PANELS, _PANEL, _ROW = 2, (7.2, 4.2), 0.26  # in a row; inches of one; of a row of ties


class Figure(NamedTuple):
    """A picture, and what it is of: `n_bits` is None of one that shows all code lengths."""

    caption: str
    svg: bytes
    n_bits: int | None = None
    is_wide: bool = False


def draw_figures(
    results: Sequence[RunResult],
    columns: Sequence[Column] = COLUMNS,
    groups: Mapping[str, Sequence[str]] | None = None,
) -> list[Figure]:
    """Draw every picture of a report, of the runs that succeeded; none without matplotlib.

    Measures of a ranking are drawn against the code length. Where methods are many, each group
    of `groups` has a panel of its own.
    """
    results = [result for result in results if result.scores]
    try:
        import matplotlib.style
    except ImportError:
        return []
    lengths = sorted({result.n_bits for result in results})
    panels = _panels(_methods(results), groups or {})
    with matplotlib.style.context(["default", _STYLE]), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of layouts and of logarithms of nothing
        figures = _by_length(results, lengths, columns, panels) if len(lengths) > 1 else []
        for n_bits in lengths:
            figures += _of_length([r for r in results if r.n_bits == n_bits], n_bits, panels)
    return figures


def _panels(methods: Sequence[str], groups: Mapping[str, Sequence[str]]) -> dict[str, list[str]]:
    """Headings and methods of the panels of a picture: one for all, or one for each group."""
    shown = {group: [m for m in members if m in methods] for group, members in groups.items()}
    shown = {group: members for group, members in shown.items() if members}
    return shown if len(methods) > _MANY and len(shown) > 1 else {"": list(methods)}


def _by_length(
    results: Sequence[RunResult],
    lengths: list[int],
    columns: Sequence[Column],
    panels: Mapping[str, list[str]],
) -> list[Figure]:
    seeds = sorted({result.seed for result in results})
    found = {(r.method, r.n_bits, r.seed): r.scores for r in results}
    figures = []
    for column in columns:
        name, title = column.name, column.title
        if not column.ranged or not any(name in result.scores for result in results):
            continue

        def draw(ax: Any, methods: list[str], name: str = name, title: str = title) -> None:
            scores = [
                [
                    [found.get((m, n, seed), {}).get(name, math.nan) for seed in seeds]
                    for n in lengths
                ]
                for m in methods
            ]
            names = list(map(plain, methods))
            BitsCurveDisplay(lengths, scores, names=names, label=title).plot(ax, error="range")

        caption = f"{title} against code length: means; bars from the lowest seed to the highest"
        figures.append(_figure(caption, draw, panels))
    return figures


def _of_length(
    results: Sequence[RunResult], n_bits: int, panels: Mapping[str, list[str]]
) -> list[Figure]:
    groups = {m: [result for result in results if result.method == m] for m in _methods(results)}
    panels = {title: [m for m in members if m in groups] for title, members in panels.items()}
    panels = {title: members for title, members in panels.items() if members}
    seeds = sorted({group[0].seed for group in groups.values()})
    drawn = f"seed{'s' * (len(seeds) > 1)} {', '.join(map(str, seeds))}"

    def curves(name: str, methods: list[str]) -> list[Any]:
        return [_mean([r.curves[name] for r in groups[m]]) for m in methods]

    def precision_recall(ax: Any, methods: list[str]) -> None:
        PrecisionRecallDisplay(
            curves("precision", methods), curves("recall", methods), names=list(map(plain, methods))
        ).plot(ax)

    def recall_at_k(ax: Any, methods: list[str]) -> None:
        k = [groups[m][0].curves["k"] for m in methods]
        RecallAtKDisplay(curves("recall", methods), k, names=list(map(plain, methods))).plot(ax)

    def usage(ax: Any, methods: list[str]) -> None:
        usages = [_usage(groups[m][0]) for m in methods]
        CodeUsageDisplay(usages, names=list(map(plain, methods))).plot(ax, order="fullest")

    figures = []
    if all("ap_pessimistic" in result.scores for result in results):  # "ap" may be of one order
        figures.append(_tie_range(groups, panels))
    for caption, draw in {
        "precision against recall, tie-aware, means over seeds": precision_recall,
        "recall at k, tie-aware, means over seeds": recall_at_k,
        f"items on each code of the database, {drawn}": usage,
    }.items():
        figures.append(_figure(caption, draw, panels))
    return [
        figure._replace(caption=f"{n_bits} bits: {figure.caption}", n_bits=n_bits)
        for figure in figures
    ]


def _tie_range(groups: Mapping[str, list[RunResult]], panels: Mapping[str, list[str]]) -> Figure:
    """Draw one row for each method, those of a group together."""
    methods = [method for members in panels.values() for method in members]
    low, mean, high = (
        [_mean([r.scores["ap" + suffix] for r in groups[m]]) for m in methods]
        for suffix in ("_pessimistic", "", "_optimistic")
    )
    display = TieRangeDisplay(low, mean, high, names=list(map(plain, methods)), label="AP_T")
    caption = "AP_T and its range over all orders of tied items, means over seeds"
    width, height = _SIZE_OF_MANY if len(methods) > 6 else _SIZE
    size = width, max(height, _ROW * len(methods))
    return Figure(caption, _draw(lambda figure: display.plot(figure.subplots()), size))


def _figure(
    caption: str, draw: Callable[[Any, list[str]], None], panels: Mapping[str, list[str]]
) -> Figure:
    """Draw methods into one pair of axes, or each group into its own with common limits."""
    if len(panels) == 1:
        [methods] = panels.values()
        size = _SIZE_OF_MANY if len(methods) > 6 else _SIZE
        return Figure(caption, _draw(lambda figure: draw(figure.subplots(), methods), size))
    n_rows = -(-len(panels) // _PANELS)

    def draw_panels(figure: Any) -> None:
        grid = figure.subplots(n_rows, _PANELS, sharex=True, sharey=True).ravel()
        for ax, (group, methods) in zip(grid, panels.items()):
            draw(ax, methods)
            ax.set_title(group)
            ax.tick_params(labelbottom=True, labelleft=True)
        for ax in grid[len(panels) :]:
            ax.set_visible(False)

    size = _PANEL[0] * _PANELS, _PANEL[1] * n_rows
    return Figure(caption, _draw(draw_panels, size), is_wide=True)


def _methods(results: Sequence[RunResult]) -> list[str]:
    return list(dict.fromkeys(result.method for result in results))


def _mean(values: Sequence[Any]) -> Any:
    return np.mean(values, axis=0)


def _usage(result: RunResult) -> CodeUsage:
    """Usage whose distinct codes are not known, only how many items they have."""
    counts = np.repeat(result.curves["items_per_code"], result.curves["codes_with_so_many_items"])
    codes = np.zeros((len(counts), -(-result.n_bits // 8)), dtype=np.uint8)
    return CodeUsage(codes, counts, result.n_bits)


def _draw(plot: Callable[[Any], Any], size: tuple[float, float]) -> bytes:
    from matplotlib.figure import Figure as Canvas

    figure = Canvas(figsize=size, layout="constrained")
    plot(figure)
    file = io.BytesIO()
    no_metadata = dict.fromkeys(("Creator", "Date", "Format", "Type"))
    figure.savefig(file, format="svg", metadata=no_metadata)
    return file.getvalue()
