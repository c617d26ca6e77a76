"""Times of figure 5 of RSH: its table and sentences, and the lines for verdicts."""

import json

from benchmarks.papers.paper_figures import fastest, in_order, read
from benchmarks.sheet import csv_table, number

PART, TRAIN, ENCODE = "rsh_times", "train_seconds", "encode_microseconds"
NOTHING = "There are no results yet.\n"


def of_most_rows(folder):
    """Times of each turn with the most rows, as lines of results; a turn is a seed."""
    lines, about = _read(folder)
    most = {}
    for line in lines:
        at = line["set"], line["work"]
        most[at] = max(int(line["n_rows"]), most.get(at, 0))
    for line in lines:
        n_rows = int(line["n_rows"])
        if n_rows == most[line["set"], line["work"]]:
            trains = line["work"] == "train"
            yield {
                "part": PART,
                "task": line["set"],
                "title": about["titles"][line["set"]],
                "method": line["method"],
                "n_bits": line["n_bits"],
                "seed": line["turn"],
                "measure": TRAIN if trains else ENCODE,
                "value": float(line["seconds"]) * (1 if trains else 1e6 / n_rows),
            }


def _read(folder):
    """Lines of the file of times and what is said about them; nothing where there is no file."""
    path = folder / "times" / "rsh_times.csv"
    lines = read(path)
    return lines, json.loads(path.with_suffix(".json").read_text(encoding="utf-8")) if lines else {}


def rsh_times(folder):
    """Microseconds to encode a row and seconds to train, and what training costs beside SSH."""
    lines, about = _read(folder)
    if not lines:
        return NOTHING
    texts = []
    for key, title in about["titles"].items():
        seconds = fastest(line for line in lines if line["set"] == key)
        texts += [_table(title, seconds), _beside_ssh(title, seconds)]
    texts.append(
        f"Processor seconds of one core, the fastest of {about['turns']} turns "
        f"(``{about['command']}``). Measured on {about['machine']}, at a "
        f"load of {about['load']} by other programs.\n"
    )
    return "\n".join(texts)


def _table(title, seconds):
    bits = sorted({n_bits for *_, n_bits in seconds})
    fewest, most = bits[0], bits[-1]
    rows = {work: sorted({n for of, _, n, _ in seconds if of == work}) for work in _WORKS}
    encoded, few, many = rows["encode"][-1], rows["train"][0], rows["train"][-1]
    columns = {
        f"µs to encode a row, {fewest} bits": ("encode", encoded, fewest, 1e6 / encoded),
        f"{most} bits": ("encode", encoded, most, 1e6 / encoded),
        f"s to train, {few:,} rows, {most} bits": ("train", few, most, 1),
        f"{many:,} rows, {fewest} bits": ("train", many, fewest, 1),
        f"{many:,} rows, {most} bits": ("train", many, most, 1),
    }
    cells = [
        [
            f"``{method}``",
            *(number(seconds[work, method, n, b] * unit) for work, n, b, unit in columns.values()),
        ]
        for method in in_order("rsh", {method for _, method, *_ in seconds})
    ]
    return csv_table([["", *columns], *cells], title)


_WORKS = ("encode", "train")


def _beside_ssh(title, seconds):
    ratios = [
        seconds["train", "rsh-paper", n_rows, n_bits] / seconds["train", "ssh", n_rows, n_bits]
        for work, method, n_rows, n_bits in seconds
        if (work, method) == ("train", "ssh")
    ]
    low, high = number(min(ratios)), number(max(ratios))
    return (
        f"*{title}*: over all numbers of rows and bits, RSH as printed trains {low} to {high} "
        "times as long as SSH; the paper says 2 to 5.\n"
    )
