"""Does the objective matter? Every objective under one trainer, on seven sets.

    python -m benchmarks.notes.which_objective --data GIST.npz --features DEEP.npz
        --intents CLINC.npz
        --multilabel TMC.npz --scene SCENE.npz [--seeds 5] [--minutes 20]
    python -m benchmarks.notes.which_objective --tables

`TALRLinear` learns with each objective from the same rows, in the same batches, with the same
passes, dropout, weight decay and schedule; a learning rate is that which the objective declares.
Finished runs are kept in --store, so that the same command goes on where it stopped. What is
finished is written to docs/notes/which_objective/runs.csv, with a line of JSON on what made it;
--tables makes tables and sentences of the page from these files and needs no data.
"""

import sys
import time
from itertools import product
from pathlib import Path

import numpy as np
from scipy.stats import ttest_rel
from sklearn.datasets import load_digits

from benchmarks.notes.page_of_runs import make_page, mean_and_spread, signed, stamp
from benchmarks.protocols import deep_features, gist
from benchmarks.sheet import csv_table
from sklearn_hashrank import TALRLinear
from sklearn_hashrank.comparison import compare
from sklearn_hashrank.metrics import holm_correction
from sklearn_hashrank.model_selection import PerClassRetrievalSplit, RandomRetrievalSplit
from sklearn_hashrank.objectives import DSH, NDCG, AveragePrecision, Dispersed, Hierarchical

FOLDER = Path(__file__).parents[2] / "docs" / "notes" / "which_objective"
LENGTHS, PASSES, BATCH = (16, 32, 64), 60, 512
SEEDS_OF_CHANGES = 2  # of other passes, and of no dropout
MEASURES = ("ap", "ndcg")
COLUMNS = ("set", "method", "n_bits", "seed", "passes", "dropout", *MEASURES, "seconds")
CLASSES = ("digits", "GIST", "network features", "intents")
GRADED = ("intents and domains", "report labels", "scene labels")
MEASURE_OF = dict.fromkeys(CLASSES, "ap") | dict.fromkeys(GRADED, "ndcg")


def sets(options):
    """Name, rows, labels, protocol and most dropout of each set.

    Dropout is the number of features per training row, at most 0.3: the rule of
    ``TALRLinear(dropout="auto")`` for AP, here of all objectives.
    """
    X, y = load_digits(return_X_y=True)
    yield "digits", X, y, PerClassRetrievalSplit(30, 100)
    rows = np.random.RandomState(0).permutation(60_000)[:20_000]
    X, y = gist(options.data)
    yield "GIST", X[rows], y[rows], PerClassRetrievalSplit(100, 500)
    X, y = deep_features(options.features)
    yield "network features", X[rows], y[rows], PerClassRetrievalSplit(100, 500)
    with np.load(options.intents) as file:
        parts = ("train", "val", "test")
        X = np.concatenate([file[f"X_{part}"] for part in parts]).astype(np.float32)
        domain, intent = (
            np.concatenate([file[f"{level}_{part}"] for part in parts]).astype(int)
            for level in ("domain", "intent")
        )
    yield "intents", X, intent, PerClassRetrievalSplit(10, 30)
    # 0 and 1 alone would be label sets.
    paths = np.column_stack([domain, intent]) + 2
    yield "intents and domains", X, paths, PerClassRetrievalSplit(10, 30)
    for name, path, n_queries, n_train in (
        ("report labels", options.multilabel, 1000, 5000),
        ("scene labels", options.scene, 500, 1500),
    ):
        with np.load(path) as file:
            X, Y = file["X"].astype(np.float32), file["Y"].astype(int)
        labelled = Y.any(axis=1)
        yield name, X[labelled], Y[labelled], RandomRetrievalSplit(n_queries, n_train)


def methods(of_classes, passes, dropout, batch_size):
    """One trainer with each objective, by a name for tables."""
    trainer = {"max_iter": passes, "dropout": dropout, "batch_size": batch_size}
    found = {}
    for name, kind in (("ap", AveragePrecision), ("ndcg", NDCG)):
        for relaxation in ("simplified", "arxiv", "cvpr", "exact"):
            objective = kind(relaxation=relaxation)
            found[f"{name}, {relaxation}"] = TALRLinear(objective=objective, **trainer)
    found["mi"] = TALRLinear(objective="mi", **trainer)
    for objective in ("dpsh", "dtsh", "hashnet"):
        found[objective] = TALRLinear(objective=objective, **trainer)
    found["dsh"] = TALRLinear(objective=DSH(), **trainer)
    zones = Dispersed() if of_classes else Hierarchical()
    found["dispersed" if of_classes else "hierarchical"] = TALRLinear(objective=zones, **trainer)
    return found


def run(options):
    """Do what is missing, seeds outermost, until the time is over; return the rows of the file."""
    end = time.monotonic() + 60 * options.minutes
    rows, wanted = [], list(sets(options))
    for seed, (name, X, y, protocol) in product(range(options.seeds), wanted):
        n_train = _n_train(protocol, y)
        most = min(0.3, X.shape[1] / n_train)
        # Of many classes, groups of a class; "auto" alone makes them.
        batch_size = "auto" if name == "intents" else BATCH
        choices = [(LENGTHS, PASSES, most)]
        if seed < SEEDS_OF_CHANGES:
            choices += [((32,), PASSES, 0.0), ((32,), PASSES // 4, most)]
        for lengths, passes, dropout in choices:
            if time.monotonic() > end:
                print(f"{options.minutes:g} minutes are over; the same command goes on")
                return rows
            named = methods(name in CLASSES, passes, dropout, batch_size)
            if name in GRADED and name != "intents and domains":
                named.pop("hierarchical")  # levels of label sets are not nested
            compared = compare(
                X,
                y,
                methods=named,
                n_bits=lengths,
                seeds=[seed],
                protocol=protocol,
                measures=list(MEASURES),
                store=options.store,
                name=name,
                progress=_progress,
            )
            for result in compared.results:
                if result.error:
                    sys.exit(f"{name}, {result.method}: {result.error}")
                scores = result.scores
                rows.append(
                    {
                        "set": name,
                        "method": result.method,
                        "n_bits": result.n_bits,
                        "seed": seed,
                        "passes": passes,
                        "dropout": f"{dropout:.3g}",
                        **{measure: f"{scores[measure]:.6g}" for measure in MEASURES},
                        "seconds": f"{scores['fit_seconds']:.3g}",
                    }
                )
    return rows


def _n_train(protocol, y):
    [(train, _, _)] = protocol.split(y, y)
    return len(train)


def _progress(result, n_done, n_runs):
    if not result.from_store:
        print(f"{result.method}, {result.n_bits} bits: {result.scores}"[:150], file=sys.stderr)


class Runs:
    """Values of one measure on one set, by method and length, over the same seeds."""

    def __init__(self, rows):
        self._values = {}
        for row in rows:
            most = "0" if row["dropout"] == 0 else "auto"
            key = row["set"], row["method"], int(row["n_bits"]), int(row["passes"]), most
            value = row[MEASURE_OF[row["set"]]]
            self._values.setdefault(key, {})[int(row["seed"])] = value
        self.sets = list(dict.fromkeys(row["set"] for row in rows))

    def methods(self, name):
        """Methods that ran on a set."""
        return list(dict.fromkeys(key[1] for key in self._values if key[0] == name))

    def of(self, name, method, n_bits=32, passes=PASSES, dropout="auto"):
        """Values over the seeds, in their order."""
        found = self._values.get((name, method, n_bits, passes, dropout), {})
        return np.array([found[seed] for seed in sorted(found)])


def tables(runs, show):
    """Print all tables."""
    for names in (CLASSES, GRADED):
        names = [name for name in names if name in runs.sets]
        for n_bits in LENGTHS:
            _objectives_by_set(runs, names, n_bits, show)
    _shares(runs, show)
    _changes(runs, show)


def _objectives_by_set(runs, names, n_bits, show):
    methods = list(dict.fromkeys(method for name in names for method in runs.methods(name)))
    cells = {}
    for name in names:
        values = {method: runs.of(name, method, n_bits) for method in runs.methods(name)}
        for method, equal in _equal_to_best(values).items():
            mark = "**" if equal else ""
            cells[method, name] = f"{mark}{mean_and_spread(values[method])}{mark}"
    rows = [[method, *(cells.get((method, name), "") for name in names)] for method in methods]
    measure = MEASURE_OF[names[0]].upper()
    show(f"{measure}, {n_bits} bits", ["objective", *names], rows)


def _equal_to_best(values):
    """Whether each method cannot be told from the best: paired t over seeds, Holm, at .05."""
    best = max(values, key=lambda method: values[method].mean())
    rivals = [method for method in values if method != best]
    p = holm_correction([ttest_rel(values[best], values[each]).pvalue for each in rivals])
    return {best: True} | {rival: bool(value >= 0.05) for rival, value in zip(rivals, p)}


def _shares(runs, show):
    """How much of the variance of all runs each choice explains."""
    rows = []
    for name in runs.sets:
        methods = runs.methods(name)
        values = np.array([[runs.of(name, each, n) for n in LENGTHS] for each in methods])
        centered = values - values.mean()
        total = (centered**2).mean()
        by = {
            "objective": (centered.mean(axis=(1, 2)) ** 2).mean(),
            "length": (centered.mean(axis=(0, 2)) ** 2).mean(),
            "split and start": (centered.mean(axis=(0, 1)) ** 2).mean(),
        }
        by["both of the first"] = (centered.mean(axis=2) ** 2).mean() - (
            by["objective"] + by["length"]
        )
        by["the rest"] = total - sum(by.values())
        spread = values.mean(axis=2).std(axis=0).mean()
        rows.append(
            [name, *(f"{100 * part / total:.0f} %" for part in by.values()), f"{spread:.3f}"]
        )
    header = ["set", *by, "standard deviation over objectives"]
    show("Share of the variance that a choice explains", header, rows)


def _changes(runs, show):
    """What other choices change, for every objective: mean over the sets, and sets that gain."""
    rows = []
    for method in dict.fromkeys(each for name in runs.sets for each in runs.methods(name)):
        names = [name for name in runs.sets if method in runs.methods(name)]
        base = [runs.of(name, method) for name in names]
        cells = []
        for change in ({"passes": PASSES // 4}, {"dropout": "0"}):
            differences = [
                (changed - before[: len(changed)]).mean()
                for name, before in zip(names, base)
                for changed in [runs.of(name, method, **change)]
            ]
            cells.append(f"{np.mean(differences):+.3f} ({np.min(differences):+.3f}")
            cells[-1] += f" to {np.max(differences):+.3f})"
        rows.append([method, *cells])
    header = ["objective", f"{PASSES // 4} passes for {PASSES}", "no dropout"]
    show("Change of the measure at 32 bits, mean over the sets", header, rows)


RANKINGS = ("ap, simplified", "ap, cvpr", "ap, exact", "ndcg, exact", "ndcg, cvpr", "mi")
PAIRS = ("dpsh", "dtsh", "hashnet", "dsh", "dispersed", "hierarchical")


def findings(runs):
    """Sentences about the runs at 32 bits."""
    found = []

    def leads(left, right, names, n_bits=32):
        """Mean lead and its p-value on each set, corrected for their number."""
        pairs = [(runs.of(name, left, n_bits), runs.of(name, right, n_bits)) for name in names]
        p = holm_correction([ttest_rel(a, b).pvalue for a, b in pairs])
        return [float((a - b).mean()) for a, b in pairs], p

    def sentence(text, names, means, p):
        ahead = [name for name, mean, q in zip(names, means, p) if mean > 0 and q < 0.05]
        behind = [name for name, mean, q in zip(names, means, p) if mean < 0 and q < 0.05]
        equal = [name for name in names if name not in [*ahead, *behind]]
        parts = [
            f"{text}: {signed(np.min(means))} to {signed(np.max(means))} over {len(names)} sets"
        ]
        for verb, which in (
            ("ahead on", ahead),
            ("behind on", behind),
            ("not told apart on", equal),
        ):
            if which:
                parts.append(f"{verb} {', '.join(which)}")
        found.append("; ".join(parts) + ".")

    for left, right, what, names in (
        ("ap, simplified", "mi", "AP less mutual information, classes", CLASSES),
        ("ap, simplified", "ndcg, exact", "AP less NDCG, classes", CLASSES),
        ("ndcg, exact", "ap, simplified", "NDCG less AP, grades", GRADED),
        ("ap, simplified", "ap, exact", "Simplified less exact AP, classes", CLASSES),
        ("ndcg, simplified", "ndcg, exact", "Simplified less exact NDCG, grades", GRADED),
        ("ap, simplified", "ap, arxiv", "Simplified less arxiv AP, classes", CLASSES),
        ("ap, simplified", "hashnet", "AP less HashNet, classes", CLASSES),
        ("ap, simplified", "dtsh", "AP less triplets (DTSH), classes", CLASSES),
        ("ap, simplified", "dpsh", "AP less DPSH, classes", CLASSES),
        ("ap, simplified", "dsh", "AP less DSH, classes", CLASSES),
        ("ndcg, exact", "hashnet", "NDCG less HashNet, grades", GRADED),
    ):
        sentence(what, names, *leads(left, right, names))
    for names, what in ((CLASSES, "classes"), (GRADED, "grades")):
        spread = [np.ptp([runs.of(name, method).mean() for method in RANKINGS]) for name in names]
        pairs = [
            max(runs.of(name, method).mean() for method in RANKINGS)
            - max(runs.of(name, method).mean() for method in PAIRS if method in runs.methods(name))
            for name in names
        ]
        found.append(
            f"Of six objectives of rankings ({'; '.join(RANKINGS)}) the best is "
            f"{signed(np.min(spread))} to {signed(np.max(spread))} ahead of the worst on sets of "
            f"{what}, and {signed(np.min(pairs))} to {signed(np.max(pairs))} ahead of the best sum "
            "over pairs or triplets."
        )
    longer = [
        (runs.of(name, best, 64) - runs.of(name, best, 16)).mean()
        for name in CLASSES + GRADED
        for best in ["ap, simplified" if name in CLASSES else "ndcg, exact"]
    ]
    found.append(
        f"From 16 to 64 bits the objective that suits the labels gains {signed(np.min(longer))} to "
        f"{signed(np.max(longer))}."
    )
    return found


def write_tables(rows, folder):
    """Write the tables and the sentences of the page."""
    parts = []
    tables(Runs(rows), lambda title, header, body: parts.append(csv_table([header, *body], title)))
    text = "".join(f"* {sentence}\n" for sentence in findings(Runs(rows)))
    (folder / "findings.inc").write_text(text, encoding="utf-8")
    parts.append(stamp(folder, rows))
    (folder / "tables.inc").write_text("\n".join(parts), encoding="utf-8")


if __name__ == "__main__":
    make_page(sys.modules[__name__], FOLDER, COLUMNS, run, write_tables)
