"""Tables of the papers' experiments, made from the files of results alone."""

import math
from collections import Counter
from pathlib import Path

import numpy as np

from benchmarks.papers.experiments import PARTS
from benchmarks.papers.paper_results import Results, completed, is_equal, parameters_of
from benchmarks.sheet import csv_table, number
from sklearn_hashrank.metrics import holm_correction, paired_test

LEVEL = 0.05
TIMES = ("fit_seconds", "encode_microseconds")
COUNTS = ("distinct_codes",)
DASH = "\N{EN DASH}"


def write_tables(results_folder, folder):
    """Write a file for each part that has results."""
    for part in PARTS:
        results = Results(results_folder, part)
        if results.runs:
            path = Path(folder) / f"{part}.inc"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text_of(part, results), encoding="utf-8")


def text_of(part, results):
    """All tables of a part, what they stand on, and how they were made."""
    texts = [stale_text(results)]
    for task in PARTS[part].tasks:
        if task.key in results.about["tasks"]:
            texts.append(_sizes_text(task, results))
            tables = [table for table in PARTS[part].tables if table.task == task.key]
            texts += [_table_text(table, task, results) for table in tables]
            texts.append(_failed_text(task, results))
    texts.append(_stamps_text(results))
    return "\n".join(text for text in texts if text)


def stale_text(results):
    """Name the methods that would run otherwise today; empty where there are none.

    Those are methods of other defaults, and methods of which a check found another figure.
    """
    changes = {}
    for task, methods in results.about["methods"].items():
        for method, made in methods.items():
            texts = changes.setdefault(method, {})
            for name, (was, now) in _changes(made).items():
                texts[f"``{name}``, then {was}, now {now}"] = None
            for check in made.get("checks", ()):
                if not is_equal(check):
                    texts[_check_text(task, check)] = None
    changes = {method: texts for method, texts in changes.items() if texts}
    if not changes:
        return ""
    lines = [".. warning::", "", "   These tables are stale. Since they were made has changed:", ""]
    for method, texts in sorted(changes.items()):
        lines.append(f"   * ``{method}``: {'; '.join(texts)}")
    return "\n".join(lines) + "\n"


def _check_text(task, check):
    run = f"{task.replace('-', ' ')}, {check['n_bits']} bits, seed {check['seed']}"
    was, now = (show(check[name]) for name in ("before", "now"))
    return f"``{check['measure']}`` ({run}), then {was}, at commit ``{check['commit']}`` {now}"


def _changes(made):
    """Parameters that a notation gives today and did not give then, or the other way round."""
    try:
        now = parameters_of(made["notation"])
    except ValueError as error:
        if isinstance(error.__cause__, ImportError):  # nobody can say without torch
            return {}
        now = {}
    then = completed(made["parameters"], now)
    return {
        name: (then.get(name, "nothing"), now.get(name, "nothing"))
        for name in sorted({*then, *now})
        if then.get(name) != now.get(name)
    }


def _title(task, results):
    title = results.about["tasks"][task.key]["title"]
    return f"{title}, {task.called}" if task.called else title


def _sizes_text(task, results):
    sizes = Counter(results.sizes(task.key).values())
    texts = []
    for (n_queries, n_database, n_train), _ in sizes.most_common():
        texts.append(
            f"{n_queries:,} queries, {n_database:,} database rows, {n_train:,} training rows"
        )
    values = results.values(task.key, task.measures[0])
    seeds = _seeds_text(usual_seeds(values))
    if len({len(by_seed) for by_seed in values.values()}) > 1:
        seeds += ", others where a cell says so"
    return f"*{_title(task, results)}*: {'; or '.join(texts)}; {seeds}.\n"


def usual_seeds(values):
    """How many seeds most cells with several seeds have, the larger number of two as frequent."""
    counts = Counter(len(by_seed) for by_seed in values.values())
    return max(counts, key=lambda number: (number > 1, counts[number], number), default=0)


def _seeds_text(number):
    return f"{number} seed{'s' * (number != 1)}"


def _table_text(table, task, results):
    methods = table.methods or list(task.methods)
    if table.kind == "curve":
        header, cells = _curve_cells(table, results)
    elif table.kind == "ties":
        header, cells = _tie_cells(table, task, results)
    else:
        header, cells = _mean_cells(table, task, methods, results)
    rows = [[f"``{m}``", *cells[m]] for m in methods if any(cells.get(m, ()))]
    if all(not cell or cell.startswith("(") for row in rows for cell in row[1:]):
        return ""  # of printed figures alone
    return csv_table([["", *header], *rows], f"{_title(task, results)}: {table.title}")


def _mean_cells(table, task, methods, results):
    lengths = table.n_bits or task.n_bits
    values = _values(table, results)
    usual = usual_seeds(values)
    cells = {method: [] for method in methods}
    for n_bits in lengths:
        at_length = {m: values[m, n_bits] for m in methods if (m, n_bits) in values}
        best = None if table.measure in (*TIMES, *COUNTS) else best_of(at_length)
        for method in methods:
            text = ""
            if method in at_length:
                text = _mean_text(at_length[method], table.measure, method == best, usual)
            printed = table.printed.get(method, {}).get(n_bits)
            if printed is not None:
                text = f"{text} ({show(printed, table.measure)})".strip()
            cells[method].append(text)
    return [f"{n_bits} bits" for n_bits in lengths], cells


def _values(table, results):
    if table.measure == "fit_seconds":
        return results.values(table.task, None, "fit_seconds")
    return results.values(table.task, table.measure)


def _mean_text(by_seed, measure, is_best, usual):
    values = list(by_seed.values())
    text = show(np.mean(values), measure)
    if is_best:
        text = f"**{text}**"
    if len(values) > 1 and measure not in TIMES:
        text += f" ±{show(np.std(values, ddof=1), measure)}"
    if len(values) != usual:
        text += f", {_seeds_text(len(values))}"
    return text


def _tie_cells(table, task, results):
    ends = [results.values(table.task, table.measure, end) for end in ("low", "value", "high")]
    lengths = table.n_bits or task.n_bits
    cells = {}
    for method in table.methods or task.methods:
        cells[method] = []
        for n_bits in lengths:
            text = ""
            if (method, n_bits) in ends[1]:
                means = [np.mean(list(end[method, n_bits].values())) for end in ends]
                text = f" {DASH} ".join(show(mean, table.measure) for mean in means)
            printed = table.printed.get(method) if n_bits == 32 else None
            if printed:
                text += f" ({f' {DASH} '.join(show(each, table.measure) for each in printed)})"
            cells[method].append(text.strip())
    return [f"{n_bits} bits" for n_bits in lengths], cells


def _curve_cells(table, results):
    [n_bits] = table.n_bits
    measures = {line["measure"] for line in results.lines if line["task"] == table.task}
    start = f"{table.measure}@"
    ranks = sorted(int(each.removeprefix(start)) for each in measures if each.startswith(start))
    by_rank = [results.values(table.task, f"{start}{rank}") for rank in ranks]
    cells = {}
    for values in by_rank:
        for (method, length), by_seed in values.items():
            if length == n_bits:
                cells.setdefault(method, []).append(show(np.mean(list(by_seed.values()))))
    return [f"first {rank:,}" for rank in ranks], cells


def best_of(values):
    """Name the method that is ahead of every other one by more than the seeds explain.

    `values` maps methods to values by seed. A paired t-test with each of the others, over the seeds
    of both, corrected by Holm's method for the number of others, must be below `LEVEL`. A method
    that shares fewer than two seeds is not tested, but may have the highest mean. None where no
    method is ahead.
    """
    leader = max(values, key=lambda method: np.mean(list(values[method].values())), default=None)
    p_values = []
    for rival in values:
        seeds = sorted(set(values[leader]) & set(values[rival]))
        if rival != leader and len(seeds) > 1:
            a, b = ([values[method][seed] for seed in seeds] for method in (leader, rival))
            p_values.append(paired_test(a, b, method="student").pvalue)
    return leader if p_values and (holm_correction(p_values) <= LEVEL).all() else None


def show(value, measure=""):
    """Three decimals without the zero before the point, times with three digits, whole counts."""
    if math.isnan(value):
        return DASH
    if measure in TIMES:
        return number(value)
    if measure in COUNTS:
        return f"{value:,.0f}"
    return f"{value:.3f}".removeprefix("0") or "0"


def _failed_text(task, results):
    failed = results.about.get("failed", {}).get(task.key, {})
    return "".join(f"``{method}`` failed: {error}\n" for method, error in sorted(failed.items()))


def _checks_texts(results):
    """How many methods gave the same figure again, for each code that was checked."""
    found = {}
    for methods in results.about["methods"].values():
        for made in methods.values():
            for check in made.get("checks", ()):
                found.setdefault((check["commit"], check["date"]), []).append(is_equal(check))
    return [
        f"At commit ``{commit}`` on {date} one run of each of {len(equal)} rows was made again: "
        f"{sum(equal)} gave the same figure."
        for (commit, date), equal in sorted(found.items())
    ]


def _stamps_text(results):
    texts, command = [], f"python -m benchmarks.papers.reproduction {results.part} --seeds"
    own = {task.key for task in PARTS[results.part].tasks if task.seeds}
    n_seeds = 1 + max((seed for task, _, _, seed in results.runs if task not in own), default=0)
    for stamp in results.about["stamps"]:
        packages = ", ".join(f"{name} {version}" for name, version in stamp["versions"].items())
        texts.append(
            f"Made by ``{command} {n_seeds}`` at commit ``{stamp['commit']}`` on {stamp['date']}, "
            f"with {packages}, on one core of {stamp['processor']}."
        )
    texts += _checks_texts(results)
    bold = (
        "Bold: the highest, and ahead of every other row of two seeds or more by paired t-tests "
        f"over the seeds, p at most {LEVEL:g} after Holm's correction. Brackets: the paper's "
        "figure, alone where nothing was "
        "measured."
    )
    return "\n".join([bold, *PARTS[results.part].notes, "", *texts]) + "\n"
