"""Tables of ``ablations.py``, for ``claims.py``."""

import json
from statistics import fmean, stdev

from benchmarks.sheet import csv_table, number

PARTS = {
    "slacks": {"iterations": "Iterations", "train_seconds": "Processor seconds to train"},
    "redundancy": {"bit_correlation": "Mean squared correlation of two bits"},
}
NOTHING = "There are no results yet.\n"


def texts(results, folder):
    """The files ``slacks.inc`` and ``redundancy.inc``."""
    return {f"{part}.inc": text_of(results, folder, part) for part in PARTS}


def text_of(results, folder, part):
    """Mean and standard deviation of each measure by set, method and length, and their stamp."""
    if not results.tasks(part):
        return NOTHING
    tables = []
    for measure, title in PARTS[part].items():
        runs = {task: results.runs[part, task, measure] for task in results.tasks(part)}
        lengths = sorted({n_bits for of in runs.values() for _, n_bits in of})
        rows = [
            [results.title(part, task), f"``{method}``"]
            + [_cell(measure, of[method, n_bits].values()) for n_bits in lengths]
            for task, of in runs.items()
            for method in sorted({name for name, _ in of})
        ]
        header = ["set", "method", *(f"{n_bits} bits" for n_bits in lengths)]
        tables.append(csv_table([header, *rows], title))
    about = json.loads((folder / "ablations" / f"{part}.json").read_text(encoding="utf-8"))
    stamp = about["stamp"]
    n_seeds = {len(by_seed) for of in runs.values() for by_seed in of.values()}
    packages = ", ".join(f"{name} {version}" for name, version in stamp["versions"].items())
    made = (
        f"{min(n_seeds)} seeds (``{about['command']}``), at commit "
        f"``{stamp['commit']}`` on {stamp['date']}, with {packages}, on one core of "
        f"{stamp['processor']}.\n"
    )
    return "\n".join([*tables, made])


def _cell(measure, figures):
    values = [value for value, _, _ in figures]
    show = "{:.4f}".format if measure == "bit_correlation" else number
    return f"{show(fmean(values))} ±{show(stdev(values))}"
