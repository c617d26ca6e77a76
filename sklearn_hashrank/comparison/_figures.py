"""The pictures of a report, as SVG, drawn by the displays of the metrics."""

import io
import math
import warnings
from collections.abc import Callable, Sequence
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
from ._runner import RunResult

_STYLE = {"font.size": 10, "svg.hashsalt": "hashrank"}
_SIZE, _SIZE_OF_MANY = (6.0, 4.0), (7.6, 5.0)  # inches; displays put long legends to the side


class Figure(NamedTuple):
    """A picture, and what it is of: `n_bits` is None of one that shows all code lengths."""

    caption: str
    svg: bytes
    n_bits: int | None = None


def draw_figures(results: Sequence[RunResult]) -> list[Figure]:
    """Every picture of a report; none without matplotlib.

    Parameters
    ----------
    results : sequence of RunResult
        Those that failed are left out.

    Returns
    -------
    figures : list of Figure
    """
    results = [result for result in results if result.scores]
    try:
        import matplotlib.style
    except ImportError:
        return []
    lengths = sorted({result.n_bits for result in results})
    with matplotlib.style.context(["default", _STYLE]), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of layouts and of logarithms of nothing
        figures = _by_length(results, lengths) if len(lengths) > 1 else []
        for n_bits in lengths:
            figures += _of_length([r for r in results if r.n_bits == n_bits], n_bits)
    return figures


def _by_length(results: Sequence[RunResult], lengths: list[int]) -> list[Figure]:
    methods, seeds = _methods(results), sorted({result.seed for result in results})
    names = [plain(method) for method in methods]
    found = {(r.method, r.n_bits, r.seed): r.scores for r in results}
    figures = []
    for name, title in {"ap": "AP_T", "ndcg": "NDCG_T"}.items():
        if not any(name in result.scores for result in results):
            continue
        scores = [
            [[found.get((m, n, seed), {}).get(name, math.nan) for seed in seeds] for n in lengths]
            for m in methods
        ]
        display = BitsCurveDisplay(lengths, scores, names=names, label=title)
        caption = f"{title} against code length: means; bars from the lowest seed to the highest"
        figures.append(Figure(caption, _draw(display.plot, len(names) > 6, error="range")))
    return figures


def _of_length(results: Sequence[RunResult], n_bits: int) -> list[Figure]:
    methods = _methods(results)
    names = [plain(method) for method in methods]
    groups = [[result for result in results if result.method == m] for m in methods]
    precision, recall = (
        [_mean([r.curves[name] for r in group]) for group in groups]
        for name in ("precision", "recall")
    )
    k = [group[0].curves["k"] for group in groups]
    usages = [_usage(group[0]) for group in groups]
    seeds = sorted({group[0].seed for group in groups})
    drawn = f"seed{'s' * (len(seeds) > 1)} {', '.join(map(str, seeds))}"
    displays: dict[str, Callable[..., Any]] = {}
    if all("ap_pessimistic" in result.scores for result in results):  # "ap" may be of one order
        low, mean, high = (
            [_mean([r.scores["ap" + suffix] for r in group]) for group in groups]
            for suffix in ("_pessimistic", "", "_optimistic")
        )
        caption = "AP_T and its range over all orders of tied items, means over seeds"
        displays[caption] = TieRangeDisplay(low, mean, high, names=names, label="AP_T").plot
    displays |= {
        "precision against recall, tie-aware, means over seeds": PrecisionRecallDisplay(
            precision, recall, names=names
        ).plot,
        "recall at k, tie-aware, means over seeds": RecallAtKDisplay(recall, k, names=names).plot,
        f"items on each code of the database, {drawn}": CodeUsageDisplay(usages, names=names).plot,
    }
    figures = []
    for caption, plot in displays.items():
        options = {"order": "fullest"} if caption.startswith("items") else {}
        svg = _draw(plot, len(names) > 6, **options)
        figures.append(Figure(f"{n_bits} bits: {caption}", svg, n_bits))
    return figures


def _methods(results: Sequence[RunResult]) -> list[str]:
    return list(dict.fromkeys(result.method for result in results))


def _mean(values: Sequence[Any]) -> Any:
    return np.mean(values, axis=0)


def _usage(result: RunResult) -> CodeUsage:
    """Usage whose distinct codes are not known, only how many items they have."""
    counts = np.repeat(result.curves["items_per_code"], result.curves["codes_with_so_many_items"])
    codes = np.zeros((len(counts), -(-result.n_bits // 8)), dtype=np.uint8)
    return CodeUsage(codes, counts, result.n_bits)


def _draw(plot: Callable[..., Any], many: bool, **options: Any) -> bytes:
    from matplotlib.figure import Figure as Canvas

    figure = Canvas(figsize=_SIZE_OF_MANY if many else _SIZE, layout="constrained")
    plot(figure.subplots(), **options)
    file = io.BytesIO()
    no_metadata = dict.fromkeys(("Creator", "Date", "Format", "Type"))
    figure.savefig(file, format="svg", metadata=no_metadata)
    return file.getvalue()
