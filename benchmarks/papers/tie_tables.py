"""Tables of the page "What ties do to published numbers", for ``claims.py``."""

import math
from itertools import combinations
from statistics import fmean

from benchmarks.papers import papers
from benchmarks.sheet import csv_table

OF_FIGURE_3 = (*papers.OF_TALR, "talr-ap")
IN = ("talr_cifar", "setting-1", "ap")
NOTHING = "There are no results yet.\n"


def show(value):
    """Three decimals, without the zero before the point."""
    return f"{value:.3f}".removeprefix("0")


def mean_ranges(results, n_bits):
    """Worst and best order by method, means over the seeds."""
    found = {}
    for method in OF_FIGURE_3:
        ranges = results.ranges(*IN, method, n_bits)
        if ranges:
            found[method] = tuple(fmean(ends) for ends in zip(*ranges.values()))
    return found


def n_overlapping(ranges):
    """Number of pairs whose ranges overlap, and of all pairs."""
    pairs = list(combinations(ranges, 2))
    return sum(max(a[0], b[0]) <= min(a[1], b[1]) for a, b in pairs), len(pairs)


def printed_lead(table, n_bits):
    """Lead of the paper's method, the last row of its table, over the next one."""
    *others, ours = (figures[n_bits] for figures in table.values())
    return ours - max(others)


def against_leads(results):
    """Ranges of our runs by length, beside the lead that the paper prints."""
    header = ["bits", "mean range", "narrowest", "widest", "printed lead", "pairs that overlap"]
    rows = []
    for n_bits in papers.CIFAR_S1["talr-ap"]:
        ranges = mean_ranges(results, n_bits)
        if not ranges:
            continue
        widths = [high - low for low, high in ranges.values()]
        met, n_pairs = n_overlapping(ranges.values())
        lead = show(printed_lead(papers.CIFAR_S1, n_bits))
        widest = show(fmean(widths)), show(min(widths)), show(max(widths))
        rows.append([n_bits, *widest, lead, f"{met} of {n_pairs}"])
    met, n_pairs = n_overlapping([(low, high) for low, _, high in papers.TIES_32_BITS.values()])
    printed = (
        f"The paper of 2017 prints ranges of {len(papers.TIES_32_BITS)} methods at 32 bits: "
        f"{met} of {n_pairs} pairs overlap.\n"
    )
    if not rows:
        return f"{NOTHING}\n{printed}"
    title = f"Ranges over tie orders of {len(ranges)} methods, CIFAR-10, setting 1"
    return f"{csv_table([header, *rows], title)}\n{printed}"


def every_range(results):
    """Width of the range of each method and length, of each set and measure that has one."""
    tables = []
    for (part, task, measure), of in sorted(results.runs.items()):
        methods = {}
        for method, n_bits in of:
            ranges = results.ranges(part, task, measure, method, n_bits).values()
            if ranges:
                width = fmean(high - low for low, high in ranges)
                methods.setdefault(method, {})[n_bits] = width
        if not methods or part == "tie_orders" or measure in ("acg", "ph2", "mlgap"):
            continue
        lengths = sorted({n_bits for widths in methods.values() for n_bits in widths})
        rows = [
            [
                f"``{method}``",
                *(show(widths[n]) if n in widths else "" for n in lengths),
            ]
            for method, widths in methods.items()
        ]
        header = ["", *(f"{n} bits" for n in lengths)]
        title = f"{results.title(part, task)}, ``{measure}``: best order less worst order"
        tables.append(csv_table([header, *rows], title))
    return "\n".join(tables) or NOTHING


def random_orders(results):
    """How far one random order and the mean of ten are from the exact mean."""
    part, task = "tie_orders", "random-orders"
    rows, farthest = [], {}
    for measure, name in (("ap", "AP"), ("ndcg", "NDCG")):
        for method, n_bits in results.runs.get((part, task, measure), {}):
            exact = results.figures(part, task, measure, method, n_bits)
            low, high = zip(*results.ranges(part, task, measure, method, n_bits).values())
            row = [name, f"``{method}``", n_bits, show(fmean(exact.values()))]
            row.append(f"{show(fmean(low))} to {show(fmean(high))}")
            for kind in ("one random order", "ten random orders"):
                figures = results.figures(part, task, f"{measure}:{kind}", method, n_bits)
                off = max(abs(figures[seed] - exact[seed]) for seed in figures)
                farthest[kind] = max(farthest.get(kind, 0.0), off)
                row.append(f"{off:.4f}".removeprefix("0"))
            rows.append(row)
    if not rows:
        return NOTHING
    header = ["measure", "method", "bits", "exact mean", "worst to best order"]
    header += ["one order is off by", "mean of ten is off by"]
    one, ten = (_up(farthest[kind]) for kind in ("one random order", "ten random orders"))
    n_seeds = max(len(by_seed) for by_seed in results.runs[part, task, "ap"].values())
    text = (
        f"Over {n_seeds} seeds, one random order is at most {one} from the exact mean, "
        f"and the mean of ten at most {ten}.\n"
    )
    return f"{text}\n{csv_table([header, *rows], 'Largest distance over the seeds')}"


def unaware(results):
    """AP of one random order beside the exact mean and its range, as figure 2 of 2017."""
    part, task, n_bits = "tie_orders", "setting-1", 32
    rows = []
    for method, printed in papers.TIES_32_BITS.items():
        exact = results.figures(part, task, "ap", method, n_bits)
        one = results.figures(part, task, "ap:one random order", method, n_bits)
        row = [f"``{method}``", "", "", ""]
        if exact:
            low, high = zip(*results.ranges(part, task, "ap", method, n_bits).values())
            means = show(fmean(exact.values())), show(fmean(one.values()))
            row[1:] = [*means, f"{show(fmean(low))} to {show(fmean(high))}"]
        low, mean, high = (show(each) for each in printed)
        unaware = show(papers.UNAWARE_32_BITS[method])
        rows.append([*row, mean, unaware, f"{low} to {high}"])
    header = ["", "AP_T", "one random order", "worst to best order"]
    header += [f"printed: {name}" for name in ("AP_T", "tie-unaware AP", "worst to best")]
    n_seeds = max((len(of) for of in results.runs.get((part, task, "ap"), {}).values()), default=0)
    seeds = f"{n_seeds} seed{'s' * (n_seeds > 1)}" if n_seeds else "no results yet"
    return csv_table([header, *rows], f"CIFAR-10, setting 1, {n_bits} bits; {seeds}")


def _up(value):
    """Rounded up to four decimals, so that "at most" is true."""
    return f"{math.ceil(value * 1e4) / 1e4:.4f}".removeprefix("0")


def beside_mlgap(results):
    """AP and mLGAP of each method beside each other."""
    tables = []
    for task in results.tasks("mlgap"):
        of = results.runs.get(("mlgap", task, "mlgap"), {})
        lengths = sorted({n_bits for _, n_bits in of})
        rows = []
        for method in dict.fromkeys(method for method, _ in of):
            row = [f"``{method}``"]
            for n_bits in lengths:
                for measure in ("mlgap", "ap"):
                    values = results.figures("mlgap", task, measure, method, n_bits).values()
                    row.append(show(fmean(values)) if values else "")
            rows.append(row)
        header = ["", *(f"{name}, {n} bits" for n in lengths for name in ("mLGAP", "AP"))]
        tables.append(csv_table([header, *rows], results.title("mlgap", task)))
    return "\n".join(tables) or NOTHING


def texts(results):
    """Files of the page, by name."""
    return {
        "ties_leads.inc": against_leads(results),
        "ties_ranges.inc": every_range(results),
        "ties_orders.inc": random_orders(results),
        "ties_unaware.inc": unaware(results),
        "ties_mlgap.inc": beside_mlgap(results),
    }
