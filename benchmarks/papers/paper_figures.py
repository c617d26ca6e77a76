"""The papers' figures that are no curves of one measure by length, drawn from results alone.

``docs/conf.py`` calls `write_pictures` when the documentation is built. A figure without results is
not drawn.
"""

import csv
import json
from collections import defaultdict
from math import inf
from pathlib import Path
from statistics import fmean

from benchmarks.papers.experiments import PARTS
from benchmarks.papers.tie_tables import OF_FIGURE_3

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#555555", "#000000")
MARKERS = "osD^vPX*"
LEGEND = {"fontsize": 8, "frameon": False}
CHANNELS = {"low": "worst order", "value": "mean of all orders", "high": "best order"}


def read(path):
    """Lines of a CSV file as dictionaries; none where there is no file."""
    if not path.exists():
        return []
    with open(path, encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def panels(n_columns, n_rows=1, height=3.0):
    """A figure and its axes, in one list."""
    from matplotlib.figure import Figure

    size = 3.6 * n_columns, height * n_rows
    figure = Figure(figsize=size, layout="constrained")
    axes = figure.subplots(n_rows, n_columns, squeeze=False).ravel()
    for each in axes:
        each.spines[["top", "right"]].set_visible(False)
        each.tick_params(labelsize=8)
    return figure, list(axes)


def style(place):
    """Colour and marker of a method; after eight the lines are dashed."""
    dashes = "-" if place < len(COLOURS) else "--"
    return {
        "color": COLOURS[place % len(COLOURS)],
        "marker": MARKERS[place % len(MARKERS)],
        "linestyle": dashes,
        "markersize": 4,
        "linewidth": 1.2,
    }


def shared_legend(figure, axes):
    """One legend below all panels, of whatever any of them shows."""
    found = {}
    for each in axes:
        for line, label in zip(*each.get_legend_handles_labels()):
            found.setdefault(label, line)
    columns = min(len(found), 6)
    figure.legend(found.values(), found, loc="outside lower center", ncols=columns, **LEGEND)


def fastest(lines):
    """Seconds of the fastest turn by work, method, rows and bits, of the lines of one set."""
    found = {}
    for line in lines:
        at = line["work"], line["method"], int(line["n_rows"]), int(line["n_bits"])
        found[at] = min(float(line["seconds"]), found.get(at, inf))
    return found


def seconds_by(seconds, work, by):
    """Points of rows or bits and seconds by method, with the most of the other."""
    at = 2 if by == "n_rows" else 3
    mine = {place: value for place, value in seconds.items() if place[0] == work}
    most = max(place[5 - at] for place in mine)
    found = defaultdict(list)
    for place, value in mine.items():
        if place[5 - at] == most:
            found[place[1]].append((place[at], value))
    return most, {method: sorted(points) for method, points in found.items()}


def in_order(part, methods):
    """Methods in the order of the tables of a part."""
    order = list(dict.fromkeys(row for task in PARTS[part].tasks for row in task.methods))
    return sorted(methods, key=order.index)


def times(folder):
    """Figure 5 of RSH: seconds to encode, and seconds to train, by rows and by bits."""
    path = folder / "times" / "rsh_times.csv"
    lines = read(path)
    if not lines:
        return None
    titles = json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))["titles"]
    methods = in_order("rsh", {line["method"] for line in lines})
    figure, axes = panels(2, 2 * len(titles), 2.6)
    left = iter(axes)
    for key, title in titles.items():
        seconds = fastest(line for line in lines if line["set"] == key)
        for work in ("encode", "train"):
            for by, name, rest in (("n_rows", "rows", "bits"), ("n_bits", "bits", "rows")):
                ax = next(left)
                most, found = seconds_by(seconds, work, by)
                for method, points in found.items():
                    ax.plot(*zip(*points), label=method, **style(methods.index(method)))
                ax.set_yscale("log")
                ax.set_xscale("log" if by == "n_rows" else "linear")
                ticks = [place for place, _ in points]
                ax.set_xticks(ticks, [f"{tick:,}" for tick in ticks])
                ax.set_xticks([], minor=True)
                ax.set_xlabel(f"{name}, with {most:,} {rest}", fontsize=8)
                ax.set_ylabel(f"seconds to {work}", fontsize=8)
                ax.set_title(title, fontsize=8)
    shared_legend(figure, axes)
    return figure


def values_of(folder, part, task, column="value"):
    """Values by measure, method and length: a list over the seeds."""
    found = defaultdict(list)
    for line in read(folder / "results" / f"{part}.csv"):
        if line["task"] == task and line[column]:
            at = line["measure"], line["method"], int(line["n_bits"])
            found[at].append(float(line[column]))
    return found


def curves(folder):
    """Curves of figures 1 and 2 of LWH: precision by recall, and recall by rank, at 32 bits."""
    tasks = {"classes": "CIFAR-10, GIST", "label-sets": "tmc2007-500, for NUS-WIDE"}
    figure, axes = panels(2, len(tasks))
    left = iter(axes)
    for task, title in tasks.items():
        points = curve_points(values_of(folder, "lwh", task))
        by_recall, by_rank = next(left), next(left)
        for place, (method, of) in enumerate(points.items()):
            ranks, precision, recall = zip(*of)
            by_recall.plot(recall, precision, label=method, **style(place))
            by_rank.plot(ranks, recall, label=method, **style(place))
        by_recall.set_ylabel("precision", fontsize=8)
        by_recall.set_xlabel("recall", fontsize=8)
        by_rank.set_xscale("log")
        by_rank.set_ylabel("recall", fontsize=8)
        by_rank.set_xlabel("items returned", fontsize=8)
        for ax in (by_recall, by_rank):
            ax.set_title(title, fontsize=8)
    if not by_rank.lines:
        return None
    shared_legend(figure, axes)
    return figure


def curve_points(values):
    """Ranks with precision and recall, means over the seeds, by method."""
    found = defaultdict(list)
    for (measure, method, _), recall in values.items():
        name, _, rank = measure.partition("@")
        precision = values.get((f"precision@{rank}", method, 32))
        if name == "recall" and precision:
            found[method].append((int(rank), fmean(precision), fmean(recall)))
    return {method: sorted(set(found[method])) for method in in_order("lwh", found)}


def tie_ranges(folder):
    """Figure 3 of TALR 2018: the range of AP over all orders of ties, at each length."""
    ends = {end: values_of(folder, "talr_cifar", "setting-1", end) for end in CHANNELS}
    lengths = sorted({n_bits for _, _, n_bits in ends["value"]})
    if not lengths:
        return None
    names = [
        name
        for name in (*OF_FIGURE_3[:-1], "hashnet", "talr-ap")
        if ("ap", name, lengths[0]) in ends["value"]
    ]
    figure, axes = panels(len(lengths), 1, 0.9 + 0.26 * len(names))
    for ax, n_bits in zip(axes, lengths):
        for row, name in enumerate(names):
            low, mean, high = (fmean(ends[end]["ap", name, n_bits]) for end in CHANNELS)
            ax.hlines(row, low, high, COLOURS[0], linewidth=5, alpha=0.5)
            ax.plot(mean, row, "o", color="black", markersize=4)
        ax.set_title(f"{n_bits} bits", fontsize=8)
        ax.set_yticks(range(len(names)), names if ax is axes[0] else [""] * len(names), fontsize=8)
        ax.set_ylim(len(names) - 0.5, -0.5)
        ax.set_xlabel("AP", fontsize=8)
    bounds = [edge for ax in axes for edge in ax.get_xlim()]
    for ax in axes:
        ax.set_xlim(min(bounds), max(bounds))
    return figure


def trials(folder):
    """Figure 1 of TALR 2017, right: box plots of AP of LSH over trials, by the order of ties."""
    ends = {end: values_of(folder, "talr_cifar", "trials", end) for end in CHANNELS}
    lengths = sorted({n_bits for _, _, n_bits in ends["value"]})
    if not lengths:
        return None
    figure, [ax] = panels(1, 1, 3.2)
    for place, (end, title) in enumerate(CHANNELS.items()):
        boxes = ax.boxplot(
            [ends[end]["ap", "lsh", n_bits] for n_bits in lengths],
            positions=[column + 0.25 * (place - 1) for column in range(len(lengths))],
            widths=0.2,
            patch_artist=True,
            medianprops={"color": "black"},
            flierprops={"markersize": 3},
        )
        for box in boxes["boxes"]:
            box.set_facecolor(COLOURS[place])
        ax.plot([], [], "s", color=COLOURS[place], label=title)
    ax.set_xticks(range(len(lengths)), [f"{n_bits} bits" for n_bits in lengths])
    ax.set_ylabel("AP", fontsize=8)
    n_trials = len(ends["value"]["ap", "lsh", lengths[0]])
    ax.set_title(f"LSH, {n_trials} trials", fontsize=8)
    ax.legend(**LEGEND)
    return figure


def code_usage(folder):
    """Figures 1 and 8 of mLGAP: how many rows each code holds, the codes in descending order."""
    lines = read(folder / "usage" / "code_usage.csv")
    if not lines:
        return None
    held = defaultdict(list)
    for line in lines:
        held[line["method"]] += [int(line["n_rows"])] * int(line["n_codes"])
    figure, axes = panels(2)
    groups = ("figure 1, and TALR-AP", [name for name in held if not name.startswith("dispersed")])
    objectives = "figure 8, and ours", ["dsh", "dispersed-paper", "dispersed"]
    for ax, (title, methods) in zip(axes, (groups, objectives)):
        for place, method in enumerate(methods):
            shown = style(place) | {"marker": ""}
            rows = sorted(held[method], reverse=True)
            ax.plot(range(1, len(rows) + 1), rows, label=method, **shown)
        ax.set_xscale("log")
        ax.set_yscale("log")
        ax.set_xlabel("codes, the fullest first", fontsize=8)
        ax.set_ylabel("rows of a code", fontsize=8)
        ax.set_title(title, fontsize=8)
        ax.legend(loc="lower left", **LEGEND)
    return figure


FIGURES = {
    "rsh-times": times,
    "lwh-curves": curves,
    "tie-ranges": tie_ranges,
    "tie-trials": trials,
    "code-usage": code_usage,
}


def write_pictures(folder):
    """Draw each figure that has results into the folder ``pictures``."""
    from matplotlib import rc_context

    (Path(folder) / "pictures").mkdir(exist_ok=True)
    with rc_context({"svg.fonttype": "none"}):
        for name, draw in FIGURES.items():
            figure = draw(Path(folder))
            if figure is not None:
                figure.savefig(Path(folder) / "pictures" / f"{name}.svg")
