"""The experiments of the papers behind the hashers, as far as data at hand allow.

    python benchmarks/reproduction.py --data GIST.npz --features DEEP.npz --intents CLINC.npz
        --multilabel TMC.npz [--output docs/reproduction] [--only PART ...] [--seeds 2]
        [--scale 1] [--cifar100 FOLDER] [--nus-wide FOLDER] [--labelme FILE]
        [--fashion-mnist FOLDER]

Every table of the papers with its rows and columns, our figure first and the printed one in
brackets, and a row for each of our own methods. Runs are kept in --store: the same command again
does what is missing, such as methods that are new. With --output each part is a file that the page
of the experiments includes; without, all is printed.

A set of the papers stands in its own place where a folder of it is given, and otherwise the set
that is said. Databases have 10,000 rows, at most; --scale multiplies all numbers of queries,
training and database rows. Every table says how many rows it stands on. By --scale 0.2, a seed of
all parts but the last takes six minutes of one core. The last one, `deep`, needs torch, which the
environment of ``make test-deep`` has.
"""

import argparse
import contextlib
import sys
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import numpy as np
import papers
from protocols import FASHION_MNIST, deep_features, fashion_mnist, gist
from sheet import csv_table

from sklearn_hashrank import (
    DispersionHasher,
    EuclideanAffinity,
    HierarchicalAffinity,
    LabelAffinity,
    SharedLabelAffinity,
    TALRLinear,
)
from sklearn_hashrank.comparison import METHODS, compare
from sklearn_hashrank.datasets import load_cifar100, load_labelme, load_nus_wide
from sklearn_hashrank.model_selection import PerClassRetrievalSplit, RandomRetrievalSplit
from sklearn_hashrank.objectives import Dispersed

OURS = ["itq", "rsh", "lwh", "talr-ap", "talr-ndcg", "talr-kernel"]
FREQUENT_LABELS, DATABASE = 21, 10_000


@dataclass
class Task:
    """Data, what is relevant, and how rows are drawn."""

    title: str
    X: np.ndarray
    y: np.ndarray | None
    affinity: object
    protocol: object


@dataclass
class Table:
    """One table of a paper: a measure by code length.

    `printed` maps methods to the paper's figures by length.
    """

    measure: str
    title: str
    printed: dict = field(default_factory=dict)
    methods: list | None = None  # None: all of the experiment
    bits: list | None = None  # the same


def experiment(task, methods, bits, tables, options, extra=OURS):
    """Compare and print tables; `methods` are those of the paper, `extra` ours.

    A dictionary of `methods` holds estimators.
    """
    wanted = list(dict.fromkeys([*methods, *extra]))
    if isinstance(methods, dict):
        usable = wanted
    else:
        known = [name for name in wanted if name in METHODS]
        usable = [name for name in known if task.y is not None or not METHODS[name].needs_y]
    comparison = compare(
        task.X,
        task.y,
        methods=methods if isinstance(methods, dict) else usable,
        n_bits=bits,
        seeds=options.seeds,
        protocol=task.protocol,
        affinity=task.affinity,
        measures=list(dict.fromkeys(table.measure for table in tables)),
        name=task.title,
        store=options.store,
        n_jobs=options.n_jobs,
        progress=_progress,
    )
    seeds = f"{options.seeds} seed{'s' * (options.seeds > 1)}"
    print(f"\n*{task.title}*: {comparison.about['protocol']['sizes']}; {seeds}.")
    for table in tables:
        [found] = comparison.tables([table.measure])
        rows = []
        for name in table.methods or wanted:
            cells = [
                _cell(found.cells.get((name, n)), table.printed.get(name), n)
                for n in table.bits or bits
            ]
            if any(cells):
                rows.append([f"``{name}``", *cells])
        header = ["", *(f"{n} bits" for n in table.bits or bits)]
        print_table(f"{task.title}: {table.title}", header, rows)
    _print_gaps(wanted, usable, comparison.failures)
    return comparison


def _cell(ours, printed, n_bits):
    text = ""
    if ours is not None and np.isfinite(ours.mean):
        text = show(ours.mean)
        if np.isfinite(ours.deviation):
            text += f" ±{show(ours.deviation)}"
    if printed is not None and n_bits in printed:
        text += f" ({show(printed[n_bits])})"
    return text.strip()


def show(value):
    """Three decimals, without the zero before the point."""
    return f"{value:.3f}".removeprefix("0") or "0"


def _print_gaps(wanted, usable, failures):
    missing = [f"``{name}``" for name in wanted if name not in usable]
    if missing:
        print(f"\nWithout figures of ours: {', '.join(missing)}.")
    for method in dict.fromkeys(run.method for run in failures):
        errors = dict.fromkeys(run.error for run in failures if run.method == method)
        print(f"\n``{method}`` failed: {'; '.join(errors)}")


def _progress(result, n_done, n_runs):
    if result.error or not result.kept:
        seconds = "failed" if result.error else f"{result.scores['fit_seconds']:.1f} s"
        run = f"{result.method}, {result.n_bits} bits, seed {result.seed}"
        print(f"[{n_done}/{n_runs}] {run}: {seconds}", file=sys.stderr)


def print_table(title, header, rows):
    """Print a table in reStructuredText."""
    print(f"\n{csv_table([header, *rows], title)}", end="", flush=True)


def unit_rows(X):
    """Centred rows of unit length, as the authors of TALR prepare LabelMe."""
    X = X - X.mean(axis=0)
    return X / np.maximum(np.linalg.norm(X, axis=1, keepdims=True), 1e-12)


class Sets:
    """The sets of the papers, or what stands in for them, read when they are asked for."""

    def __init__(self, options):
        self.options = options

    def rows(self, number):
        """So many rows, scaled."""
        return max(1, round(number * self.options.scale))

    def cut(self, X, y, n_queries):
        """Random rows for queries and database, always the same."""
        chosen = np.random.RandomState(0).permutation(len(X))
        chosen = np.sort(chosen[: self.rows(n_queries + DATABASE)])
        return X[chosen], None if y is None else y[chosen]

    def per_class(self, n_queries, n_train):
        """The protocol, scaled."""
        n_train = None if n_train is None else self.rows(n_train)
        return PerClassRetrievalSplit(self.rows(n_queries), n_train)

    def random(self, n_queries, n_train):
        """The protocol without classes, scaled."""
        return RandomRetrievalSplit(self.rows(n_queries), self.rows(n_train))

    def cifar10(self, n_queries):
        """GIST features, for LWH."""
        X, y = self.cut(*gist(self.options.data), n_queries)
        return "CIFAR-10, GIST", X, y

    def cifar10_deep(self, n_queries):
        """Features of a network, for TALR."""
        X, y = self.cut(*deep_features(self.options.features), n_queries)
        return "CIFAR-10, features of a network", X, y

    def cifar100(self, n_queries):
        """Label paths of two levels."""
        if self.options.cifar100:
            X, y = load_cifar100(self.options.cifar100, return_X_y=True)
            X, y = self.cut(X.astype(np.float32), y, n_queries)
            return "CIFAR-100, pixels", X, y + 2  # 0 and 1 alone would be label sets
        X, y = self._clinc()
        return "CLINC150, for CIFAR-100", X, y + 2  # all of it, 150 rows of each class

    def imagenet100(self):
        """Many classes."""
        X, y = self._clinc()
        return "CLINC150, for ImageNet100", X, y[:, 1]

    def fashion_mnist(self, n_queries):
        """Pixels, for networks."""
        X, y = self.cut(*fashion_mnist(self.options.fashion_mnist), n_queries)
        return "Fashion-MNIST, pixels", X, y

    def _clinc(self):
        with np.load(self.options.intents) as file:
            parts = ("train", "val", "test")
            X = np.concatenate([file[f"X_{part}"] for part in parts]).astype(np.float32)
            paths = [[file[f"{level}_{part}"] for part in parts] for level in ("domain", "intent")]
        return X, np.column_stack([np.concatenate(level) for level in paths]).astype(int)

    def nus_wide(self, n_queries):
        """The 21 most frequent labels, and the training rows of each that there can be."""
        if self.options.nus_wide:
            X, Y = load_nus_wide(self.options.nus_wide, n_labels=FREQUENT_LABELS, return_X_y=True)
            return ("NUS-WIDE, bag of words", *self.cut(X, Y, n_queries), 500)
        with np.load(self.options.multilabel) as file:
            X, Y = file["X"].astype(np.float32), file["Y"].astype(int)
        Y = Y[:, np.argsort(-Y.sum(axis=0), kind="stable")[:FREQUENT_LABELS]]
        labelled = Y.any(axis=1)
        X, Y = X[labelled], Y[labelled]
        return "tmc2007-500, for NUS-WIDE", X, Y, 200

    def labelme(self, n_queries):
        """No labels, rows of unit length."""
        if self.options.labelme:
            X = load_labelme(self.options.labelme)
            return "LabelMe, GIST", self.cut(unit_rows(X), None, n_queries)[0]
        X, _ = self.cut(*gist(self.options.data), n_queries)
        return "CIFAR-10 GIST, for LabelMe", unit_rows(X)


def rsh(sets, options):
    """Ranking-based supervised hashing, 2013, figures 2 to 4: no figures are printed in numbers."""
    bits = [8, 16, 24, 32]
    tables = [Table("ndcg:gain=linear:discount=log2", "NDCG, equation 12"), Table("acg", "ACG")]
    protocol = sets.random(1000, 5000)
    name, X, y = sets.cifar100(1000)
    tasks = [Task(name, X, y, HierarchicalAffinity(), protocol)]
    name, X, y, _ = sets.nus_wide(1000)
    tasks.append(Task(name, *sets.cut(X, y, 1000), SharedLabelAffinity(), protocol))
    X, _ = sets.cut(*gist(options.data), 1000)
    affinity = EuclideanAffinity(percentiles=[5, 2], levels=[1, 2])
    name = "CIFAR-10 GIST, for One-Million"
    tasks.append(Task(name, unit_rows(X), None, affinity, protocol))
    for task in tasks:
        extra = ["lsh", "itq", "rsh", "talr-ndcg"]
        experiment(task, papers.OF_RSH, bits, tables, options, extra=extra)


def lwh(sets, options):
    """List-wise supervised hashing, 2014, figures 1 and 2: no figures are printed in numbers."""
    bits = [8, 16, 24, 32, 48]
    k = sets.rows(1000)
    tables = [
        Table("ap", "mean AP"),
        Table("ph2", "precision within radius 2"),
        Table(f"recall@{k}", f"recall at {k:,}"),
    ]
    protocol = sets.random(2000, 3000)
    name, X, y = sets.cifar10(2000)
    tasks = [Task(name, X, y, LabelAffinity(), protocol)]
    name, X, y, _ = sets.nus_wide(2000)
    tasks.append(Task(name, *sets.cut(X, y, 2000), SharedLabelAffinity(), protocol))
    for task in tasks:
        extra = ["itq", "rsh", "lwh", "talr-ap"]
        experiment(task, papers.OF_LWH, bits, tables, options, extra=extra)


def talr_cifar(sets, options):
    """Tie-aware learning to rank, 2017 and 2018: CIFAR-10 in two settings (table 1)."""
    name, X, y = sets.cifar10_deep(1000)
    bits = [12, 24, 32, 48]
    first = Task(f"{name}, setting 1", X, y, LabelAffinity(), sets.per_class(100, 500))
    extra = ["classifier", *OURS]
    changed = Table("ap", "AP (2017)", papers.CIFAR_S1_2017, list(papers.CIFAR_S1_2017))
    tables = [Table("ap", "AP (2018)", papers.CIFAR_S1), changed]
    comparison = experiment(first, papers.OF_TALR, bits, tables, options, extra)
    print_ties(comparison, papers.OF_TALR + extra, 32)
    second = Task(f"{name}, setting 2", X, y, LabelAffinity(), sets.per_class(100, None))
    changed = Table("ap", "AP (2017)", papers.CIFAR_S2_2017, list(papers.CIFAR_S2_2017))
    tables = [Table("ap", "AP (2018)", papers.CIFAR_S2), changed]
    bits, extra = [16, 24, 32, 48], ["talr-ap", "talr-kernel"]
    experiment(second, ["dpsh", "dtsh", "mihash"], bits, tables, options, extra)


def print_ties(comparison, methods, n_bits):
    """The range over tie orders (figure 2 of 2017, figure 3 of 2018)."""
    [found] = comparison.tables(["ap"])
    rows = []
    for name in dict.fromkeys(methods):
        cell = found.cells.get((name, n_bits))
        if cell is not None:
            ours = (cell.low, cell.mean, cell.high)
            printed = papers.TIES_32_BITS.get(name, ("",) * 3)
            values = [f"{show(a)} ({show(b)})" if b else show(a) for a, b in zip(ours, printed)]
            rows.append([f"``{name}``", *values])
    header = ["", "worst order", "AP_T", "best order"]
    print_table(f"Range of AP over tie orders, {n_bits} bits, setting 1", header, rows)


def talr_nus_wide(sets, options):
    """Tie-aware learning to rank: several labels (tables 1 and 3)."""
    name, X, y, n_train = sets.nus_wide(100 * FREQUENT_LABELS)
    task = Task(name, X, y, SharedLabelAffinity(), sets.per_class(100, n_train))
    at_5k = "ap@5000:normalize=retrieved"
    of_ap, of_ndcg = [12, 24, 32, 48], [16, 32, 48, 64]
    tables = [
        Table("ap", "AP", papers.NUS_AP, bits=of_ap),
        Table(at_5k, "AP@5K", papers.NUS_AP_5K, [*papers.NUS_AP_5K, "talr-kernel"], of_ap),
        Table("ndcg", "NDCG", papers.NUS_NDCG, bits=of_ndcg),
    ]
    experiment(task, papers.OF_TALR, sorted({*of_ap, *of_ndcg}), tables, options)


def talr_imagenet(sets, options):
    """Tie-aware learning to rank, 2018: many classes (table 2)."""
    name, X, y = sets.imagenet100()
    task = Task(name, X, y, LabelAffinity(), sets.per_class(10, 50))
    at_1000 = "ap@1000:normalize=retrieved"
    tables = [Table(at_1000, "AP@1000", papers.IMAGENET_AP_1000)]
    experiment(task, ["hashnet", "mihash", "talr-ap"], [16, 32, 48, 64], tables, options)


def talr_labelme(sets, options):
    """Tie-aware learning to rank: distances of unlabelled rows (table 3)."""
    name, X = sets.labelme(2000)
    affinity = EuclideanAffinity(percentiles=[5, 1, 0.2, 0.1], levels=[1, 2, 5, 10])
    task = Task(name, X, None, affinity, sets.random(2000, 5000))
    tables = [Table("ndcg", "NDCG", papers.LABELME_NDCG)]
    extra = ["lsh", "itq", "rsh", "talr-ndcg"]
    experiment(task, papers.OF_TALR, [16, 32, 48, 64], tables, options, extra)


def mlgap(sets, options):
    """Mean local group average precision, 2018 (table 1)."""
    bits = [12, 24]
    name, X, y = sets.cifar10_deep(1000)
    sizes = sets.per_class(100, 500)
    task = Task(name, X, y, LabelAffinity(), sizes)
    tables = _mlgap_tables(papers.MLGAP_CIFAR10)
    extra = ["dispersed", "itq", "talr-ap"]
    experiment(task, ["dsh", "dispersed-paper"], bits, tables, options, extra)
    name, X, y = sets.cifar100(1500)
    task = Task(name, X, y, HierarchicalAffinity(), sets.per_class(10, 50))
    extra = ["hierarchical", "itq", "talr-ap"]
    tables = _mlgap_tables(papers.MLGAP_CIFAR100)
    experiment(task, ["dsh", "hierarchical-paper"], bits, tables, options, extra)


def _mlgap_tables(printed):
    return [Table("mlgap", "mLGAP", printed["mlgap"]), Table("ap", "AP", printed["ap"])]


def deep(sets, options):
    """Networks, by the objectives of TALR (2018, table 1) and of mLGAP (2018, table 1)."""
    from sklearn_hashrank.deep import DeepHasher

    printed_zones = Dispersed(margin=2.0, zone=(1 / 6, 1 / 3))
    objectives = {"deep-talr-ap": "ap", "deep-dsh": "dsh", "deep-dispersed-paper": printed_zones}
    networks, printed = list(objectives), papers.MLGAP_CIFAR10
    of_ap = {"deep-talr-ap": papers.CIFAR_S1["talr-ap"]}
    of_ap |= {f"deep-{name}": printed["ap"][name] for name in ("dsh", "dispersed-paper")}
    of_mlgap = {f"deep-{name}": printed["mlgap"][name] for name in ("dsh", "dispersed-paper")}
    name, X, y = sets.cifar10_deep(1000)
    first = Task(f"{name}, setting 1", X, y, LabelAffinity(), sets.per_class(100, 500))
    tables = [Table("ap", "AP", of_ap), Table("mlgap", "mLGAP", of_mlgap)]
    experiment(first, networks, [12, 24], tables, options, ["talr-ap", "dsh", "dispersed"])

    curves = {
        f"{name}, {passes} passes": DeepHasher(objective=objective, max_iter=passes)
        for name, objective in objectives.items()
        for passes in (2, 5, 10, 20)
    }
    tables = [Table("ap", "AP by passes"), Table("mlgap", "mLGAP by passes")]
    experiment(first, curves, [24], tables, options, [])

    second = Task(f"{name}, setting 2", X, y, LabelAffinity(), sets.per_class(100, None))
    tables = [Table("ap", "AP", {"deep-talr-ap": papers.CIFAR_S2["talr-ap"]})]
    experiment(second, networks[:1], [24], tables, options, ["talr-ap"])

    pixels = {
        name: DeepHasher(objective=objective, image_shape=(28, 28))
        for name, objective in objectives.items()
    }
    pixels |= {"talr-ap": TALRLinear(), "dsh": DispersionHasher(objective="dsh")}
    name, X, y = sets.fashion_mnist(1000)
    task = Task(f"{name}, setting 1", X, y, LabelAffinity(), sets.per_class(100, 500))
    experiment(task, pixels, [24], [Table("ap", "AP"), Table("mlgap", "mLGAP")], options, [])


PARTS = {
    part.__name__: part
    for part in (rsh, lwh, talr_cifar, talr_nus_wide, talr_imagenet, talr_labelme, mlgap, deep)
}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", required=True, help="GIST of CIFAR-10, npz")
    parser.add_argument("--features", required=True, help="network features of CIFAR-10, npz")
    parser.add_argument("--intents", required=True, help="embeddings of CLINC150, npz")
    parser.add_argument("--multilabel", required=True, help="tmc2007-500, npz of X and Y")
    for name in ("cifar100", "nus-wide", "labelme"):
        parser.add_argument(f"--{name}", help="folder of the published files, in place of another")
    parser.add_argument("--fashion-mnist", default=FASHION_MNIST, help="folder of the idx files")
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--scale", type=float, default=1.0, help="of all numbers of rows")
    parser.add_argument("--n-jobs", type=int, default=2)
    parser.add_argument("--store", default="build/reproduction", help="folder of finished runs")
    parser.add_argument("--output", help="folder for a file of each part")
    parser.add_argument("--only", nargs="+", choices=PARTS, default=list(PARTS))
    options = parser.parse_args()
    sets = Sets(options)
    for part in options.only:
        run = partial(PARTS[part], sets, options)
        if options.output is None:
            print(f"\n{part}\n{'-' * len(part)}\n{PARTS[part].__doc__}")
            run()
            continue
        path = Path(options.output) / f"{part}.inc"
        path.parent.mkdir(parents=True, exist_ok=True)
        draft = path.with_suffix(".part")
        with open(draft, "w", encoding="utf-8") as file, contextlib.redirect_stdout(file):
            run()
        draft.replace(path)


if __name__ == "__main__":
    main()
