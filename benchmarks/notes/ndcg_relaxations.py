"""Which relaxation of NDCG is the best default? Graded sets, and sets without labels.

    python -m benchmarks.notes.ndcg_relaxations --data GIST.npz --features DEEP.npz
        --intents CLINC.npz
        --multilabel TMC.npz --scene SCENE.npz [--seeds 5] [--minutes 20]
    python -m benchmarks.notes.ndcg_relaxations --tables

`TALRLinear` with its defaults but for `relaxation`; NDCG_T of the tie-aware ranking. Of sets with
test rows of their own only the others are taken. Finished runs are kept in --store, so that the
same command goes on where it stopped. What is finished is written to
docs/notes/ndcg_relaxations/runs.csv, with a line of JSON on what made it; --tables makes the table
and the sentences of the page from these files and needs no data.
"""

import sys
import time
from itertools import product
from pathlib import Path

import numpy as np
from scipy.stats import ttest_rel
from sklearn.datasets import load_digits, make_multilabel_classification

from benchmarks.notes.page_of_runs import make_page, mean_and_spread, signed, stamp
from benchmarks.papers.experiments import VEHICLES
from benchmarks.protocols import deep_features, gist
from benchmarks.sheet import csv_table
from sklearn_hashrank import TALRLinear
from sklearn_hashrank.comparison import compare
from sklearn_hashrank.metrics import holm_correction
from sklearn_hashrank.model_selection import PerClassRetrievalSplit, RandomRetrievalSplit
from sklearn_hashrank.objectives import NDCG

FOLDER = Path(__file__).parents[2] / "docs" / "notes" / "ndcg_relaxations"
LENGTHS = (16, 48)
DEFAULT, OTHERS = "exact", ("simplified", "cvpr", "arxiv")
COLUMNS = ("set", "relaxation", "n_bits", "seed", "ndcg")


def sets(options):
    """Name, rows, labels and protocol of each set."""
    for name, path in {"report labels": options.multilabel, "scene labels": options.scene}.items():
        with np.load(path) as file:
            X, Y = file["X"].astype(np.float32), file["Y"].astype(int)
        labelled = Y.any(axis=1)
        n_train = min(3000, labelled.sum() // 2)
        yield name, X[labelled], Y[labelled], RandomRetrievalSplit(500, n_train)
    for seed in (0, 1):
        X, Y = make_multilabel_classification(
            4000, 100, n_classes=20, n_labels=3, allow_unlabeled=False, random_state=seed
        )
        yield f"made-up labels {seed}", X, Y, RandomRetrievalSplit(500, 2000)
    with np.load(options.intents) as file:
        X = np.concatenate([file[f"X_{part}"] for part in ("train", "val")]).astype(np.float32)
        paths = np.column_stack(
            [
                np.concatenate([file[f"{level}_{part}"] for part in ("train", "val")])
                for level in ("domain", "intent")
            ]
        )
    yield "intents and domains", X, paths.astype(int) + 2, PerClassRetrievalSplit(5, 30)
    yield "intents, no labels", X, None, RandomRetrievalSplit(1000, 4000)
    X, y = load_digits(return_X_y=True)
    yield "odd and even digits", X, np.column_stack([y % 2, y]) + 2, PerClassRetrievalSplit(30, 100)
    yield "digits, no labels", X, None, RandomRetrievalSplit(300, 1400)
    rows = np.random.RandomState(0).permutation(50_000)[:10_000]
    for name, (X, y) in {
        "GIST": gist(options.data),
        "network features": deep_features(options.features),
    }.items():
        X, y = X[rows], y[rows]
        paths = np.column_stack([np.isin(y, VEHICLES), y]) + 2
        yield f"{name} by kind", X, paths, PerClassRetrievalSplit(50, 300)
        yield f"{name}, no labels", X, None, RandomRetrievalSplit(500, 3000)


def run(options):
    """Do what is missing, seeds outermost, until the time is over; return the rows of the file."""
    end = time.monotonic() + 60 * options.minutes
    rows = []
    for seed, (name, X, y, protocol) in product(range(options.seeds), list(sets(options))):
        if time.monotonic() > end:
            print(f"{options.minutes:g} minutes are over; the same command goes on")
            break
        compared = compare(
            X,
            y,
            methods={
                each: TALRLinear(objective=NDCG(relaxation=each)) for each in (DEFAULT, *OTHERS)
            },
            n_bits=LENGTHS,
            seeds=[seed],
            protocol=protocol,
            measures=["ndcg"],
            store=options.store,
            name=name,
        )
        for result in compared.results:
            if result.error:
                sys.exit(f"{name}, {result.method}: {result.error}")
            values = name, result.method, result.n_bits, seed, f"{result.scores['ndcg']:.6g}"
            rows.append(dict(zip(COLUMNS, values)))
            print(*values, flush=True)
    return rows


class Runs:
    """NDCG by set, relaxation and length, over the same seeds."""

    def __init__(self, rows):
        self._values = {}
        for row in rows:
            key = row["set"], row["relaxation"], int(row["n_bits"])
            self._values.setdefault(key, {})[int(row["seed"])] = row["ndcg"]
        self.sets = list(dict.fromkeys(row["set"] for row in rows))

    def of(self, name, relaxation, n_bits):
        """Values over the seeds, in their order."""
        found = self._values[name, relaxation, n_bits]
        return np.array([found[seed] for seed in sorted(found)])

    def over_lengths(self, name, relaxation):
        """Mean of the lengths, which share a split, for each seed."""
        return np.mean([self.of(name, relaxation, n_bits) for n_bits in LENGTHS], axis=0)

    def leads(self, other):
        """Mean lead of the default on each set, and p, corrected for the number of sets."""
        pairs = [
            (self.over_lengths(name, DEFAULT), self.over_lengths(name, other)) for name in self.sets
        ]
        p = holm_correction([ttest_rel(*pair).pvalue for pair in pairs])
        return [float((ours - theirs).mean()) for ours, theirs in pairs], p


def table(runs):
    """NDCG of the default, and its lead over each other relaxation."""
    header = ["data", *(f'``""{DEFAULT}""``, {n} bits' for n in LENGTHS)]
    leads = {other: runs.leads(other) for other in OTHERS}
    rows = [[*header, *(f'lead over ``""{other}""``' for other in OTHERS)]]
    for place, name in enumerate(runs.sets):
        cells = [mean_and_spread(runs.of(name, DEFAULT, n_bits)) for n_bits in LENGTHS]
        for means, p in leads.values():
            mark = "**" if p[place] < 0.05 else ""
            cells.append(f"{mark}{signed(means[place])}{mark}")
        rows.append([name, *cells])
    return csv_table(rows)


def findings(runs):
    """A sentence for each of the other relaxations."""
    for other in OTHERS:
        means, p = runs.leads(other)
        ahead = sum(mean > 0 and q < 0.05 for mean, q in zip(means, p))
        behind = sum(mean < 0 and q < 0.05 for mean, q in zip(means, p))
        yield (
            f'``"{DEFAULT}"`` less ``"{other}"``: {signed(np.mean(means))} over '
            f"{len(means)} sets, {signed(np.min(means))} to {signed(np.max(means))}; ahead on "
            f"{ahead}, behind on {behind}, not told apart on {len(means) - ahead - behind}."
        )


def write_tables(rows, folder):
    """Write the table and the sentences of the page."""
    runs = Runs(rows)
    text = "".join(f"* {sentence}\n" for sentence in findings(runs))
    (folder / "findings.inc").write_text(text, encoding="utf-8")
    text = f"{table(runs)}\n{stamp(folder, rows)}"
    (folder / "table.inc").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    make_page(sys.modules[__name__], FOLDER, COLUMNS, run, write_tables)
