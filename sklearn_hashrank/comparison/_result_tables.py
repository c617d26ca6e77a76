"""Tables of a comparison: means over seeds, the best of them, as CSV, Markdown and LaTeX."""

import csv
import io
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from .._utils.text import plain
from ._chance import CHANCE
from ._columns import COLUMNS, Column
from ._method_table import in_groups
from ._runner import RunResult

_MANY = 8  # methods of a table that is read without headings
DASH = "\u2013"


class Cell(NamedTuple):
    """A method at one code length: mean and standard deviation over seeds, mean bounds."""

    mean: float
    deviation: float  # nan of a single seed
    low: float  # nan where there are no bounds
    high: float
    best: bool


@dataclass(frozen=True)
class Table:
    """One figure of all methods (rows) at all code lengths (columns)."""

    column: Column
    methods: list[str]
    n_bits: list[int]
    cells: dict[tuple[str, int], Cell]  # missing where no run succeeded
    groups: dict[str, list[str]] = field(default_factory=dict)  # empty where none is shown

    @property
    def has_chance(self) -> bool:
        """Whether there is a row of what constant codes score."""
        return any((CHANCE, n_bits) in self.cells for n_bits in self.n_bits)


def summarize(
    results: Sequence[RunResult],
    columns: Iterable[Column] = COLUMNS,
    group_of: Mapping[str, str] | None = None,
    chance: Sequence[RunResult] = (),
) -> list[Table]:
    """Make one table for each column that the results have.

    A cell is `best` where its mean is ahead of every other method's at this code length by more
    than the standard error of their difference, which is paired: the same seed means the same
    split. A single seed has no standard error, so that nothing is called best.
    """
    methods = list(dict.fromkeys(result.method for result in results))
    groups = in_groups(methods, group_of or {})
    if len(methods) <= _MANY or len(groups) < 2:
        groups = {}
    lengths = sorted({result.n_bits for result in results if result.n_bits})
    tables = []
    for column in columns:
        cells = {}
        for n_bits in lengths:
            values = {method: _by_seed(results, method, n_bits, column.name) for method in methods}
            best = best_of(values, column.best)
            for method in methods:
                if values[method]:
                    cells[method, n_bits] = _cell(results, method, n_bits, column, method == best)
            if cells and _by_seed(chance, CHANCE, n_bits, column.name):
                cells[CHANCE, n_bits] = _cell(chance, CHANCE, n_bits, column, False)
        if cells:
            tables.append(Table(column, methods, lengths, cells, groups))
    return tables


def _cell(
    results: Sequence[RunResult], method: str, n_bits: int, column: Column, best: bool
) -> Cell:
    values, lowest, highest = (
        list(_by_seed(results, method, n_bits, column.name + suffix).values())
        for suffix in ("", "_pessimistic", "_optimistic")
    )
    return Cell(_mean(values), _deviation(values), _mean(lowest), _mean(highest), best)


def best_of(values: dict[str, dict[int, float]], wanted: str = "highest") -> str | None:
    """Name the method that is ahead of every other one by more than a standard error.

    `values` has the value of each seed for each method. None where no method is ahead, and where
    there are fewer than two methods or two seeds.

    Examples
    --------
    >>> from sklearn_hashrank.comparison._result_tables import best_of
    >>> best_of({"a": {0: 0.5, 1: 0.6}, "b": {0: 0.4, 1: 0.49}})
    'a'
    >>> best_of({"a": {0: 0.5, 1: 0.6}, "b": {0: 0.3, 1: 0.7}}) is None
    True
    """
    sign = 1 if wanted == "highest" else -1
    tried = {method: found for method, found in values.items() if found}
    if len(tried) < 2:
        return None
    leader = max(tried, key=lambda method: sign * _mean(tried[method].values()))
    for method, found in tried.items():
        if method == leader:
            continue
        seeds = sorted(set(found) & set(tried[leader]))
        ahead = [sign * (tried[leader][seed] - found[seed]) for seed in seeds]
        if len(seeds) < 2 or not _mean(ahead) > _deviation(ahead) / math.sqrt(len(ahead)):
            return None
    return leader


def _by_seed(results: Sequence[RunResult], method: str, n_bits: int, name: str) -> dict[int, float]:
    return {
        result.seed: result.scores[name]
        for result in results
        if (result.method, result.n_bits) == (method, n_bits) and name in result.scores
    }


def _mean(values: Iterable[float]) -> float:
    values = list(values)
    return float(np.mean(values)) if values else math.nan


def _deviation(values: Iterable[float]) -> float:
    values = list(values)
    return float(np.std(values, ddof=1)) if len(values) > 1 else math.nan


def to_csv(results: Sequence[RunResult]) -> str:
    """One row for each run, every number in full."""
    names = list(dict.fromkeys(name for result in results for name in result.scores))
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["method", "n_bits", "seed", *map(csv_cell, names), "error"])
    for result in results:
        scores = [result.scores.get(name, "") for name in names]
        row = [result.method, result.n_bits, result.seed, *scores, result.error]
        writer.writerow(map(csv_cell, row))
    return text.getvalue()


def to_markdown(tables: Sequence[Table]) -> str:
    """One pipe table for each figure; the best are bold."""
    parts = []
    for table in tables:
        rows = [["method", *(f"{n_bits} bits" for n_bits in table.n_bits)]]
        for group, methods in by_group(table):
            if group:
                rows.append([f"*{escape_markdown(group)}*", *[""] * len(table.n_bits)])
            rows += [[escape_markdown(m), *_row(table, m, _markdown_cell)] for m in methods]
        heading = f"**{escape_markdown(table.column.title)}** ({what_cells_show(table)})"
        lines = [heading, "", *_pipe_table(rows)]
        parts.append("\n".join(lines))
    return "\n\n".join(parts) + "\n"


def to_latex(tables: Sequence[Table]) -> str:
    """One booktabs table for each figure; the best are bold."""
    parts = []
    for table in tables:
        heading = " & ".join(["method", *(f"{n_bits} bits" for n_bits in table.n_bits)])
        lines = [
            r"\begin{table}",
            r"  \centering",
            rf"  \caption{{{escape_latex(f'{table.column.title}: {what_cells_show(table)}')}}}",
            rf"  \begin{{tabular}}{{l{'r' * len(table.n_bits)}}}",
            r"    \toprule",
            rf"    {heading} \\",
            r"    \midrule",
        ]
        for group, methods in by_group(table):
            if methods == [CHANCE]:
                lines.append(r"    \midrule")
            if group:
                name = rf"\emph{{{escape_latex(group)}}}"
                heading = rf"\multicolumn{{{len(table.n_bits) + 1}}}{{l}}{{{name}}}"
                lines += [
                    *[r"    \midrule"] * (lines[-1] != r"    \midrule"),
                    f"    {heading} \\\\",
                ]
            lines += [
                "    "
                + " & ".join([escape_latex(method), *_row(table, method, _latex_cell)])
                + r" \\"
                for method in methods
            ]
        lines += [r"    \bottomrule", r"  \end{tabular}", r"\end{table}"]
        parts.append("\n".join(lines))
    return "% needs \\usepackage{booktabs}\n" + "\n\n".join(parts) + "\n"


def by_group(table: Table) -> list[tuple[str, list[str]]]:
    """Headings and methods of a table; a heading that is empty where it has none, and of chance."""
    groups = list(table.groups.items()) or [("", table.methods)]
    return [*groups, ("", [CHANCE])] if table.has_chance else groups


def format_cell(cell: Cell, column: Column) -> tuple[str, str, str]:
    """Mean, deviation and range as text; the last two are empty where there are none.

    A share has three decimals and no zero before the point, a time three significant digits.
    """
    decimals = 3
    if column.is_time and cell.mean > 0:
        decimals = max(0, 2 - math.floor(math.log10(cell.mean)))

    def show(value: float) -> str:
        text = f"{value:.{decimals}f}" if math.isfinite(value) else DASH
        return text.removeprefix("0") or "0"

    deviation = show(cell.deviation) if math.isfinite(cell.deviation) else ""
    ties = f"{show(cell.low)} {DASH} {show(cell.high)}" if math.isfinite(cell.low) else ""
    return show(cell.mean), deviation, ties


def csv_cell(value: Any) -> Any:
    """Return a cell of a CSV file; text that spreadsheets would compute gets a ``'`` before it."""
    if not isinstance(value, str):
        return value
    text = plain(value)
    return f"'{text}" if text.lstrip()[:1] in _STARTS_OF_FORMULAS else text


def escape_markdown(text: str) -> str:
    """Plain text as Markdown in which nothing is markup."""
    return _MARKDOWN.sub(lambda found: _ENTITIES.get(found[0], "\\" + found[0]), plain(text))


def escape_latex(text: str) -> str:
    """Plain text as LaTeX source."""
    text = plain(text)
    escaped = "".join(_LATEX.get(character, character) for character in text)
    return f"{{}}{escaped}" if text[:1] in ("[", "*") else escaped  # or it is an option of \\\\


_STARTS_OF_FORMULAS = tuple("=+-@\uff1d\uff0b\uff0d\uff20")  # the last four are wide forms
_MARKDOWN = re.compile(r"[\\`*\[\]<>&|~$!#]|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])")
_ENTITIES = {"<": "&lt;", ">": "&gt;", "&": "&amp;"}
_LATEX = {
    **{character: "\\" + character for character in "&%$#_{}"},
    **{"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"},
    **{"<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}"},
    **{"±": r"$\pm$", DASH: "--", "µ": r"$\mu$"},
}


def what_cells_show(table: Table) -> str:
    """Say what the numbers of a cell are."""
    shown = "mean"
    if any(math.isfinite(cell.deviation) for cell in table.cells.values()):
        shown += " ± standard deviation over seeds"
    return shown + (f", worst {DASH} best order of ties" if table.column.ranged else "")


def _row(table: Table, method: str, show: Callable[[Cell, Column], str]) -> list[str]:
    found = [table.cells.get((method, n_bits)) for n_bits in table.n_bits]
    return ["--" if cell is None else show(cell, table.column) for cell in found]


def _pipe_table(rows: Sequence[Sequence[str]]) -> list[str]:
    """Lines of a table whose first row is its header and whose first column is to the left."""
    widths = [max(map(len, column)) for column in zip(*rows)]
    lines = [
        " | ".join(text.rjust(width) if i else text.ljust(width) for i, (text, width) in cells)
        for cells in (enumerate(zip(row, widths)) for row in rows)
    ]
    rule = " | ".join("-" * (width - (i > 0)) + ":" * (i > 0) for i, width in enumerate(widths))
    return [f"| {line} |" for line in (lines[0], rule, *lines[1:])]


def _markdown_cell(cell: Cell, column: Column) -> str:
    mean, deviation, ties = format_cell(cell, column)
    return (f"**{mean}**" if cell.best else mean) + _spread(deviation, ties)


def _latex_cell(cell: Cell, column: Column) -> str:
    mean, deviation, ties = format_cell(cell, column)
    best = rf"\textbf{{{mean}}}" if cell.best else mean
    return best + escape_latex(_spread(deviation, ties))


def _spread(deviation: str, ties: str) -> str:
    return (f" ± {deviation}" if deviation else "") + (f" [{ties}]" if ties else "")
