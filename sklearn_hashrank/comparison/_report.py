"""Write the report of a comparison: one HTML page, which loads no other file."""

import base64
import html
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from .._utils.extras import how_to_install
from ..explore._html_page import escape, html_page, read_script, read_style
from ._figures import Figure
from ._method_table import GROUPS, OTHERS, in_groups
from ._result_tables import DASH, Cell, Table, by_group, format_cell, what_cells_show
from ._runner import CHANCE, RunResult

if TYPE_CHECKING:
    from ._comparison import Comparison

SHADES = 9
"""Shades of cells from worst to best. Each but the first has a rule in report.css."""

_SECTIONS = (
    ("Ranking", ("ap", "ndcg")),
    ("Lookup and code usage", ("ph2", "acg", "mlgap")),
    ("Time", ("fit_seconds", "encode_microseconds")),
)
_ABOUT_BEST = (
    "A value is marked only if it is above every other method's at the same code length by two "
    "paired t-tests, over the queries and over the seeds, at the level .05 after Holm's correction "
    "for the number of rivals. All methods have the same split for the same seed. Times are not "
    "marked."
)
_ABOUT_TABLES = (
    "Click a heading to sort by its column: best first, worst first, and as it was. The bluer a "
    "cell, the better its value is among those of the column."
)
_OWN_AND_OTHER_OBJECTIVE = {"ap": ("talr-ap", "talr-ndcg"), "ndcg": ("talr-ndcg", "talr-ap")}
_ONE_SEED = "There is a single seed, which says nothing of other splits, and nothing is marked."


def to_html(comparison: "Comparison", figures: Sequence[Figure]) -> str:
    """Return the text of the page."""
    about, tables = comparison.about, comparison.tables()
    groups = in_groups(about["methods"], about["groups"])
    title = f"Comparison of hashing methods on {about['data']['name']}"
    body = [
        f"<h1>{escape(title)}</h1>",
        f'<p class="quiet">{escape(_in_short(comparison))}</p>',
        *_failures(comparison),
        *_page_to_look_at(comparison),
        *(f"<p>{prose(text)}</p>" for text in _explanations(comparison)),
        *_legend(groups),
    ]
    known = {name for _, names in _SECTIONS for name in names}
    others = tuple(table.column.name for table in tables if table.column.name not in known)
    for heading, names in (*_SECTIONS[:-1], ("Other measures", others), _SECTIONS[-1]):
        shown = [table for table in tables if table.column.name in names]
        if shown:
            blocks = "".join(f"<div>{_table(table)}</div>" for table in shown)
            body += [f"<h2>{heading}</h2>", f'<div class="blocks">{blocks}</div>']
            body.append(_figures([figure for figure in figures if figure.column in names]))
    if any(result.scores for result in comparison.results):
        body += _figures_by_length(figures)
    body += ["<h2>How it was made</h2>", *_how(about)]
    if notes := [(note, result) for result in comparison.results for note in result.warnings]:
        body.append(f"<h3>Warnings</h3>{_said(notes)}")
    body += ["<h2>All runs</h2>", _all_runs(comparison)]
    return html_page(
        title=title,
        body="<main>\n" + "\n".join(body) + "\n</main>",
        style=read_style("explore/page.css", "comparison/report.css"),
        script=read_script("comparison/report.js"),
        images="data:",
    )


_NO_FIGURES = f'<p class="quiet">Figures need matplotlib: {html.escape(how_to_install("cli"))}</p>'


def _explanations(comparison: "Comparison") -> list[str]:
    """Say what the tables show, of the measures that they have."""
    columns = comparison.columns
    texts = []
    if ranged := [column.title for column in columns if column.ranged]:
        number = "are exact means" if len(ranged) > 1 else "is the exact mean"
        texts.append(
            f"Items at the same Hamming distance are tied. {_listed(ranged)} {number} over all "
            "orders of tied items. The range below is what the very same codes would score in the "
            "worst and in the best order."
        )
    if comparison.chance:
        lookup = {"ph2", "acg", "mlgap"} & {column.name for column in columns}
        texts.append(
            "The last row of a table, chance, is what constant codes score: all items are tied, "
            "and every order of them is as likely as any other."
            + (" Lookup within a radius returns all of them." if lookup else "")
        )
    texts.append(_ABOUT_BEST if len(comparison.about["seeds"]) > 1 else _ONE_SEED)
    return [*texts, _ABOUT_TABLES, *_other_objectives(comparison)]


def _other_objectives(comparison: "Comparison") -> list[str]:
    """Say at which code lengths the objective of another measure does better at a measure."""
    texts = []
    for name, (own, other) in _OWN_AND_OTHER_OBJECTIVE.items():
        for table in comparison.tables():
            lengths = [
                n_bits
                for n_bits in table.n_bits
                if table.column.name == name
                and (own, n_bits) in table.cells
                and (other, n_bits) in table.cells
                and table.cells[other, n_bits].mean > table.cells[own, n_bits].mean
            ]
            if lengths:
                texts.append(
                    f"`{other}` has a higher {table.column.title} than `{own}` at "
                    f"{', '.join(map(str, lengths))} bits, although `{own}` learns with this "
                    "measure. An objective is a smooth stand-in of its measure, on training rows. "
                    "On four sets of classes the objective AP scored -.000 to .009 above NDCG, and "
                    "the digits did not tell them apart; on three sets of graded relevance NDCG "
                    "scored .002 to .029 above AP."
                )
    return texts


def _listed(words: Sequence[str]) -> str:
    return " and ".join(filter(None, [", ".join(words[:-1]), words[-1]]))


def prose(text: object) -> str:
    """Text of our own as HTML: names between backticks as code, and the T of AP_T as an index."""
    escaped = re.sub(r"`([^`]+)`", r"<code>\1</code>", escape(text))
    return re.sub(r"_T\b", "<sub>T</sub>", escaped)


def _in_short(comparison: "Comparison") -> str:
    methods = len(comparison.about["methods"])
    lengths = sorted({result.n_bits for result in comparison.results})
    seeds = len(comparison.about["seeds"])
    return " · ".join(
        [
            f"{methods} method{'s' * (methods != 1)}",
            f"{', '.join(map(str, lengths))} bits",
            f"{seeds} seed{'s' * (seeds != 1)}",
            comparison.about["protocol"]["sizes"],
        ]
    )


def _legend(groups: Mapping[str, Sequence[str]]) -> list[str]:
    """Say what the methods of each group have in common."""
    if set(groups) <= {OTHERS}:
        return []
    items = "".join(
        f"<li><b>{group}</b>: {escape(GROUPS.get(group, 'not known by name'))} "
        f'<span class="quiet">({escape(", ".join(methods))})</span></li>'
        for group, methods in groups.items()
    )
    return [f'<ul class="groups">{items}</ul>']


def _table(table: Table) -> str:
    column = table.column
    head = "".join(f'<th scope="col">{n_bits} bits</th>' for n_bits in table.n_bits)
    shades = {n_bits: _shades(table, n_bits) for n_bits in table.n_bits}
    rows = []
    for group, methods in by_group(table):
        if group:
            place = f'colspan="{len(table.n_bits) + 1}"'
            rows.append(f'<tr class="group"><th scope="rowgroup" {place}>{escape(group)}</th></tr>')
        for method in methods:
            cells = "".join(
                _cell(table.cells.get((method, n)), table, shades[n].get(method, 0))
                for n in table.n_bits
            )
            mark = ' class="chance"' if method == CHANCE else ""
            rows.append(f'<tr{mark}><th scope="row">{escape(method)}</th>{cells}</tr>')
    return (
        f"<h3>{prose(column.title)}</h3>"
        f'<p class="quiet">{prose(f"{column.meaning} {what_cells_show(table).capitalize()}.")}</p>'
        f'<div class="wide">'
        f'<table data-name="{escape(column.name)}" data-best="{column.best}"><thead>'
        f"<tr><th>method</th>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table></div>"
    )


def _shades(table: Table, n_bits: int) -> dict[str, int]:
    """How dark the cells of a column are: from 0 of the worst value to the best one."""
    values = {m: table.cells[m, n_bits].mean for m in table.methods if (m, n_bits) in table.cells}
    values = {method: value for method, value in values.items() if math.isfinite(value)}
    if table.column.is_time:
        values = {method: math.log(max(value, 1e-9)) for method, value in values.items()}
    if table.column.best == "lowest":
        values = {method: -value for method, value in values.items()}
    low, high = min(values.values(), default=0.0), max(values.values(), default=0.0)
    if low == high:
        return {}
    return {m: round((v - low) / (high - low) * (SHADES - 1)) for m, v in values.items()}


def _cell(cell: Cell | None, table: Table, shade: int) -> str:
    if cell is None:
        return f"<td>{DASH}</td>"
    mean, deviation, ties = format_cell(cell, table.column)
    text = f"<b>{mean}</b>" if cell.best else mean
    text += f" ± {deviation}" if deviation else ""
    text += f"<small>{ties}</small>" if ties else ""
    exact = "".join(
        f' data-{name}="{value!r}"'
        for name, value in zip(cell._fields[:4], cell[:4])
        if math.isfinite(value)
    )
    names = [*["best"] * cell.best, *[f"s{shade}"] * (shade > 0)]
    return f'<td class="{" ".join(names)}"{exact}>{text}</td>'


def _figures(figures: Iterable[Figure]) -> str:
    shown = []
    for figure in figures:
        source = base64.b64encode(figure.saved_as("svg")).decode()
        picture = f'<img src="data:image/svg+xml;base64,{source}" alt="{escape(figure.caption)}">'
        shown.append(f"<figure>{picture}<figcaption>{prose(figure.caption)}</figcaption></figure>")
    return f'<div class="figures">{"".join(shown)}</div>'


def _figures_by_length(figures: Sequence[Figure]) -> list[str]:
    lengths = sorted({figure.n_bits for figure in figures if figure.n_bits is not None})
    if not lengths:
        return [_NO_FIGURES]
    parts = ["<h2>Figures of each code length</h2>"]
    for n_bits in lengths:
        drawn = _figures([figure for figure in figures if figure.n_bits == n_bits])
        is_open = " open" if n_bits == lengths[0] else ""
        parts.append(f"<details{is_open}><summary>{n_bits} bits</summary>{drawn}</details>")
    return parts


def _how(about: Mapping[str, Any]) -> list[str]:
    parts = {
        "Data": about["data"],
        "Protocol": about["protocol"],
        "Methods": about["methods"],
        "Versions": {**about["versions"], "times were measured on": about["times"]},
    }
    text = []
    for heading, facts in parts.items():
        lines = "".join(f"<dt>{escape(k)}</dt><dd>{escape(v)}</dd>" for k, v in facts.items())
        text += [f"<h3>{heading}</h3>", f"<dl>{lines}</dl>"]
    if about["skipped"]:
        lines = "".join(f"<li>{escape(line)}</li>" for line in about["skipped"])
        text += ["<h3>Methods that do not support these data</h3>", f"<ul>{lines}</ul>"]
    if about["command"]:
        text += ["<h3>Command</h3>", f"<pre>{escape(about['command'])}</pre>"]
    return text


def _failures(comparison: "Comparison") -> list[str]:
    failures = comparison.failures
    if not failures:
        return []
    counted = f"{len(failures)} of {len(comparison.results)} runs failed"
    said = _said((result.error, result) for result in failures)
    return [f'<div class="warn"><p>{counted}:</p>{said}</div>']


def _page_to_look_at(comparison: "Comparison") -> list[str]:
    """Link to the page of the best methods, which is written beside the report."""
    page = comparison.explore_page
    if page is None:
        return []
    names, note = escape(_listed(list(page.models))), prose(page.options["note"])
    return [f'<p><a href="explore.html">Look at what {names} retrieve</a>: {note}</p>']


def _said(messages: Iterable[tuple[str, RunResult]]) -> str:
    """List each message once, with the runs that raised it."""
    runs: dict[str, list[str]] = {}
    for message, result in messages:
        length = f"{result.n_bits} bits, " if result.n_bits else ""
        run = f"{result.method}, {length}seed {result.seed}"
        runs.setdefault(message, []).append(run)
    lines = "".join(
        f'<li>{escape(message)} <span class="quiet">({escape("; ".join(where))})</span></li>'
        for message, where in runs.items()
    )
    return f"<ul>{lines}</ul>"


def _all_runs(comparison: "Comparison") -> str:
    names = list(dict.fromkeys(name for r in comparison.results for name in r.scores))
    head = "".join(f'<th scope="col">{escape(n)}</th>' for n in ("n_bits", "seed", *names))
    rows = []
    for result in comparison.results:
        values = [result.n_bits, result.seed, *(result.scores.get(name, "") for name in names)]
        cells = "".join(f"<td>{escape(value)}</td>" for value in values)
        rows.append(f'<tr><th scope="row">{escape(result.method)}</th>{cells}</tr>')
    return (
        f"<details><summary>{len(rows)} runs, every number in full, as in runs.csv</summary>"
        f'<div class="wide"><table class="raw" data-name="runs"><thead><tr><th>method</th>{head}'
        f"</tr></thead><tbody>{''.join(rows)}</tbody></table></div></details>"
    )
