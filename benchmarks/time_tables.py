"""The table and the sentences beside figure 5 of RSH, for ``claims.py``."""

import json

from paper_figures import in_order, read
from sheet import csv_table, number

NOTHING = "There are no results yet.\n"


def rsh_times(folder):
    """Microseconds to encode a row and seconds to train, and what training costs beside SSH."""
    path = folder / "times" / "rsh_times.csv"
    lines = read(path)
    if not lines:
        return NOTHING
    about = json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))
    texts = []
    for key, title in about["titles"].items():
        seconds = {
            (line["work"], line["method"], int(line["n_rows"]), int(line["n_bits"])): float(
                line["seconds"]
            )
            for line in lines
            if line["set"] == key
        }
        texts += [_table(title, seconds), _beside_ssh(title, seconds)]
    texts.append(f"Measured on {about['machine']}.\n")
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
