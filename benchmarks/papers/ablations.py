"""What the papers say of parts of their methods, with one thing changed at a time.

    python -m benchmarks.papers.ablations slacks --data GIST.npz --multilabel TMC.npz
    python -m benchmarks.papers.ablations redundancy --data GIST.npz --intents CLINC.npz
        --multilabel TMC.npz [--seeds 5] [--output docs/notes/reproduction/ablations]

slacks: algorithm 1 of LWH, whose constraints are batches of one ranking for each query, with one
slack for all of them, beside the same solver with a slack for each query, which keeps rankings
query by query. Both keep all they found, and stop at the paper's tolerance of .01. Iterations until
then, 100 at most, and processor seconds.

redundancy: RSH as printed, whose directions are orthogonal, beside RSH as printed on whitened
features. There directions are orthogonal where projections of the training rows are uncorrelated,
so that nothing but the constraint has changed. Mean squared correlation of two bits, over all pairs
of bits, in the codes of the database.

Seeds that the output has are kept.
"""

import argparse
import time
import warnings
from functools import partial
from pathlib import Path

import numpy as np
from sklearn.decomposition import PCA
from sklearn.exceptions import ConvergenceWarning
from sklearn.pipeline import make_pipeline

from benchmarks.papers.experiments import PARTS, Sets
from benchmarks.papers.paper_results import COLUMNS, read_lines, write_lines
from benchmarks.papers.reproduction import stamp_of
from sklearn_hashrank._solvers.cutting_plane import MASTERS, PegasosMaster
from sklearn_hashrank.comparison import method_from_name

ITERATIONS, SECONDS, CORRELATION = "iterations", "train_seconds", "bit_correlation"
ONE_SLACK, SLACK_EACH = "lwh-paper, one slack", "lwh-paper, a slack each"
ORTHOGONAL, UNCORRELATED = "rsh-paper", "rsh-paper, uncorrelated"
MOST_ITERATIONS = 100
FILES = {"data": "GIST.npz", "intents": "CLINC.npz", "multilabel": "TMC.npz"}
USED = {"slacks": ("data", "multilabel"), "redundancy": tuple(FILES)}
TASK, SEED = (COLUMNS.index(name) for name in ("task", "seed"))


class OneSlack(PegasosMaster):
    """The working set as batches: the ranking of every query in a slot is one constraint."""

    def _violations(self, rows, weights):
        violations, *projections = super()._violations(rows, weights)
        return np.broadcast_to(violations.mean(axis=0), violations.shape), *projections


SOLVERS = {ONE_SLACK: OneSlack, SLACK_EACH: PegasosMaster}


def slacks(X, y, affinity, train, database, n_bits, seed):
    """Method, measure and value of each solver of the structural SVM."""
    before = MASTERS["pegasos"]
    for name, master in SOLVERS.items():
        MASTERS["pegasos"] = partial(master, patience=np.inf)
        hasher = method_from_name("lwh-paper").set_params(n_bits=n_bits, affinity=affinity)
        hasher.set_params(random_state=seed, max_iter=MOST_ITERATIONS)
        start = time.process_time()
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ConvergenceWarning)
                hasher.fit(X[train], y[train])
        finally:
            MASTERS["pegasos"] = before
        yield name, SECONDS, time.process_time() - start
        yield name, ITERATIONS, hasher.n_iter_


def redundancy(X, y, affinity, train, database, n_bits, seed):
    """Method, measure and value of each constraint on the directions."""
    rank = np.linalg.matrix_rank(X[train] - X[train].mean(axis=0))
    for name, steps in ((ORTHOGONAL, ()), (UNCORRELATED, (PCA(rank, whiten=True),))):
        hasher = method_from_name("rsh-paper").set_params(n_bits=n_bits, affinity=affinity)
        hasher.set_params(random_state=seed)
        model = make_pipeline(*steps, hasher).fit(X[train], X[train] if y is None else y[train])
        yield name, CORRELATION, squared_correlation(model.predict(X[database]))


def squared_correlation(codes):
    """Mean squared correlation of two different bits; a bit that never changes counts for none."""
    bits = codes[:, codes.any(axis=0) & ~codes.all(axis=0)].astype(float)
    found = np.corrcoef(bits, rowvar=False) ** 2
    return float(found[~np.eye(len(found), dtype=bool)].mean())


EXPERIMENTS = {"slacks": ("lwh", slacks, (8, 32)), "redundancy": ("rsh", redundancy, (8, 16, 32))}


def run(name, task, data, seed):
    """Lines of one seed of a set."""
    _, measure, lengths = EXPERIMENTS[name]
    protocol = task.protocol
    protocol.random_state = seed
    [(train, query, database)] = protocol.split(data.X, data.X if data.y is None else data.y)
    for n_bits in lengths:
        sizes = len(query), len(database), len(train)
        for method, what, value in measure(
            data.X, data.y, task.affinity, train, database, n_bits, seed
        ):
            print(f"{task.key}, {n_bits} bits, seed {seed}, {method}: {what} {value:.4g}")
            at = name, task.key, *sizes, method, n_bits, seed, what
            yield [*map(str, at), f"{value:.6g}", "", "", ""]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("experiments", nargs="+", choices=EXPERIMENTS)
    for option, file in FILES.items():
        parser.add_argument(f"--{option}", metavar=file)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--output", default="docs/notes/reproduction/ablations")
    options = parser.parse_args()
    sets = Sets({option: getattr(options, option) for option in FILES})
    for name in options.experiments:
        part, path = EXPERIMENTS[name][0], Path(options.output) / f"{name}.csv"
        lines = read_lines(path)
        about = {"part": name, "tasks": {}, "stamp": stamp_of()}
        files = " ".join(f"--{option} {FILES[option]}" for option in USED[name])
        about["command"] = f"python -m benchmarks.papers.ablations {name} {files}"
        for task in PARTS[part].tasks:
            data = sets.get(task.data)
            about["tasks"][task.key] = {"title": data.title}
            for seed in range(options.seeds):
                if [task.key, str(seed)] not in [[line[TASK], line[SEED]] for line in lines]:
                    lines += run(name, task, data, seed)
                    write_lines(path, sorted(lines), about)


if __name__ == "__main__":
    main()
