"""Tables of a comparison: means over seeds, the best of them, as CSV, Markdown and LaTeX."""

import csv
import io
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from .._utils.parameters import is_int
from .._utils.text import plain
from ._best import marked_method
from ._columns import Column
from ._method_table import in_groups
from ._runner import CHANCE, RunResult

_FEWEST_DECIMALS, _MOST_DECIMALS = 3, 5
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
    """One score of all methods (rows) at all code lengths (columns)."""

    column: Column
    methods: list[str]
    n_bits: list[int]
    cells: dict[tuple[str, int], Cell]  # missing where no run succeeded
    groups: dict[str, list[str]] = field(default_factory=dict)  # empty where none is shown


def summarize(
    results: Sequence[RunResult],
    columns: Iterable[Column],
    group_of: Mapping[str, str] | None = None,
    chance: Sequence[RunResult] = (),
) -> list[Table]:
    """Make one table for each column that the results have.

    A cell is `best` if its method is the :func:`marked_method` at this code length. No time and no
    size is.
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
            best = None if column.is_time else marked_method(results, column.name, n_bits)
            for method in methods:
                if _of_seeds(results, method, n_bits, column.name):
                    cells[method, n_bits] = _cell(results, method, n_bits, column, method == best)
            if cells and _of_seeds(chance, CHANCE, n_bits, column.name):
                cells[CHANCE, n_bits] = _cell(chance, CHANCE, n_bits, column, False)
        if cells:
            tables.append(Table(column, methods, lengths, cells, groups))
    return tables


def _cell(
    results: Sequence[RunResult], method: str, n_bits: int, column: Column, best: bool
) -> Cell:
    values, lowest, highest = (
        _of_seeds(results, method, n_bits, column.name + suffix)
        for suffix in ("", "_pessimistic", "_optimistic")
    )
    deviation = float(np.std(values, ddof=1)) if len(values) > 1 else math.nan
    return Cell(_mean(values), deviation, _mean(lowest), _mean(highest), best)


def _of_seeds(results: Sequence[RunResult], method: str, n_bits: int, name: str) -> list[float]:
    return [
        result.scores[name]
        for result in results
        if (result.method, result.n_bits) == (method, n_bits) and name in result.scores
    ]


def _mean(values: list[float]) -> float:
    return float(np.mean(values)) if values else math.nan


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


@dataclass(frozen=True)
class Notation:
    """How tables write a cell.

    Parameters
    ----------
    decimals : int, default=None
        Decimal places of shares. None: as many as show the spread.
    ranges : bool, default=True
        Whether cells show the worst and the best order of ties.
    """

    decimals: int | None = None
    ranges: bool = True

    def __post_init__(self) -> None:
        if self.decimals is not None and not is_int(self.decimals, 0):
            raise ValueError(f"decimals must be an int >= 0 or None. Got {self.decimals!r}.")
        if not isinstance(self.ranges, bool):
            raise ValueError(f"ranges must be True or False. Got {self.ranges!r} instead.")

    def parts(self, cell: Cell, column: Column) -> tuple[str, str]:
        """Mean, and what follows it: deviation and range."""
        mean, deviation, ties = format_cell(cell, column, self.decimals)
        spread = f" ± {deviation}" if deviation else ""
        return mean, spread + (f" [{ties}]" if ties and self.ranges else "")


def to_markdown(tables: Sequence[Table], notation: Notation = Notation()) -> str:
    """One pipe table for each column; the best are bold."""

    def show(cell: Cell, column: Column) -> str:
        mean, spread = notation.parts(cell, column)
        return (f"**{mean}**" if cell.best else mean) + spread

    parts = []
    for table in tables:
        rows = [["method", *(f"{n_bits} bits" for n_bits in table.n_bits)]]
        for group, methods in by_group(table):
            if group:
                rows.append([f"*{escape_markdown(group)}*", *[""] * len(table.n_bits)])
            rows += [[escape_markdown(m), *_row(table, m, show)] for m in methods]
        shown = what_cells_show(table, notation.ranges)
        heading = f"**{escape_markdown(table.column.title)}** ({shown})"
        lines = [heading, "", *_pipe_table(rows)]
        parts.append("\n".join(lines))
    return "\n\n".join(parts) + "\n"


def to_latex(
    tables: Sequence[Table],
    notation: Notation = Notation(),
    note: str = "",
    is_combined: bool = False,
    caption: str = "",
) -> str:
    """Write booktabs tables, one for each column or one for all; the best are bold.

    `note` ends each caption, unless another `caption` is given. Labels are ``tab:`` and the name of
    the column, or ``tab:comparison`` of one table for all.
    """
    sets = [list(tables)] if is_combined and tables else [[table] for table in tables]
    found = []
    for each in sets:
        label = "comparison" if is_combined else re.sub(r"[^\w-]+", "-", each[0].column.name)
        titles = ", ".join(table.column.title for table in each)
        shown = what_cells_show(max(each, key=lambda table: table.column.ranged), notation.ranges)
        own = f"{titles}: {shown}." + (f" {note}" if note else "")
        found.append(_latex_table(each, notation, caption or own, label))
    return "% needs \\usepackage{booktabs}\n" + "\n\n".join(found) + "\n"


def _latex_table(tables: list[Table], notation: Notation, caption: str, label: str) -> str:
    """One table whose columns are the code lengths of one measure after the other."""

    def show(cell: Cell, column: Column) -> str:
        mean, spread = notation.parts(cell, column)
        return (rf"\textbf{{{mean}}}" if cell.best else mean) + escape_latex(spread)

    first = tables[0]
    n_columns = sum(len(table.n_bits) for table in tables)
    lines = [
        r"\begin{table}",
        r"  \centering",
        rf"  \caption{{{_in_latex(caption)}}}",
        rf"  \label{{tab:{label}}}",
        rf"  \begin{{tabular}}{{l{'r' * n_columns}}}",
        r"    \toprule",
    ]
    if len(tables) > 1:
        lines += _latex_titles(tables)
    lengths = [f"{n_bits} bits" for table in tables for n_bits in table.n_bits]
    lines += [rf"    {' & '.join(['method', *lengths])} \\", r"    \midrule"]
    for group, methods in by_group(first):
        if (group or methods == [CHANCE]) and lines[-1] != r"    \midrule":
            lines.append(r"    \midrule")
        if group:
            name = rf"\emph{{{escape_latex(group)}}}"
            lines.append(rf"    \multicolumn{{{n_columns + 1}}}{{l}}{{{name}}} \\")
        for method in methods:
            cells = [cell for table in tables for cell in _row(table, method, show)]
            lines.append("    " + " & ".join([escape_latex(method), *cells]) + r" \\")
    return "\n".join([*lines, r"    \bottomrule", r"  \end{tabular}", r"\end{table}"])


def _latex_titles(tables: Sequence[Table]) -> list[str]:
    """Headings over the columns of each measure, with a rule below each."""
    titles, rules, column = [""], [], 2
    for table in tables:
        width = len(table.n_bits)
        titles.append(rf"\multicolumn{{{width}}}{{c}}{{{_in_latex(table.column.title)}}}")
        rules.append(rf"\cmidrule(lr){{{column}-{column + width - 1}}}")
        column += width
    return [rf"    {' & '.join(titles)} \\", "    " + " ".join(rules)]


def _in_latex(text: str) -> str:
    """Text of our own, in which the T of AP_T is an index."""
    return re.sub(r"\\_T\b", "$_T$", escape_latex(text))


def by_group(table: Table) -> list[tuple[str, list[str]]]:
    """Headings and methods of a table; a heading that is empty where it has none, and of chance."""
    groups = list(table.groups.items()) or [("", table.methods)]
    has_chance = any(method == CHANCE for method, _ in table.cells)
    return [*groups, ("", [CHANCE])] if has_chance else groups


def format_cell(cell: Cell, column: Column, decimals: int | None = None) -> tuple[str, str, str]:
    """Mean, deviation and range as text; the last two are empty where there are none.

    A share has no zero before the point, and as many decimals as show its deviation: three to
    five, unless `decimals` says how many. A time has three significant digits.
    """
    if decimals is None or column.is_time:
        decimals = _decimals(cell, column)

    def show(value: float) -> str:
        text = f"{value:.{decimals}f}" if math.isfinite(value) else DASH
        return text.removeprefix("0") or "0"

    deviation = show(cell.deviation) if math.isfinite(cell.deviation) else ""
    ties = f"{show(cell.low)} {DASH} {show(cell.high)}" if math.isfinite(cell.low) else ""
    return show(cell.mean), deviation, ties


def _decimals(cell: Cell, column: Column) -> int:
    mean = abs(cell.mean) if math.isfinite(cell.mean) else 0.0
    by_mean = 2 - math.floor(math.log10(mean)) if mean > 0 else _FEWEST_DECIMALS
    if column.is_time:
        return max(0, by_mean)
    if cell.deviation >= 0.5 * 10.0**-_MOST_DECIMALS:  # not of nan, nor of rounding errors
        by_mean = -math.floor(math.log10(cell.deviation))
    return min(max(by_mean, _FEWEST_DECIMALS), _MOST_DECIMALS)


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


def what_cells_show(table: Table, with_ranges: bool = True) -> str:
    """Say what the numbers of a cell are."""
    shown = "mean"
    if any(math.isfinite(cell.deviation) for cell in table.cells.values()):
        shown += " ± standard deviation over seeds"
    is_ranged = table.column.ranged and with_ranges
    return shown + (f", worst {DASH} best order of ties" if is_ranged else "")


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
