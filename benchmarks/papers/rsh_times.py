"""Seconds to encode and to train, by rows and by bits: figure 5 of RSH, and its claim on training.

    python -m benchmarks.papers.rsh_times --data GIST.npz --intents CLINC.npz --multilabel TMC.npz
        [--turns 5] [--output docs/notes/reproduction/times]

Seconds of one core, of the process alone, so that other programs on the machine count little. The
methods take turns. Each turn samples its rows and has its own seed; the table and the figure show
the fastest turn, the verdicts compare the methods turn by turn. Rows vary with 32 bits, and bits
with all rows: 20,000 to encode, 5,000 to train.
"""

import argparse
import os
import time
from pathlib import Path

import numpy as np

from benchmarks.papers import papers
from benchmarks.papers.experiments import CVPR_2010, PARTS, Sets
from benchmarks.papers.paper_results import write_lines
from benchmarks.sheet import machine
from sklearn_hashrank.comparison import method_from_name

METHODS = (*papers.OF_RSH[:2], CVPR_2010, *papers.OF_RSH[2:], "rsh")
LENGTHS, MOST_BITS = (8, 16, 24, 32), 32
ENCODED, TRAINED = (1000, 2500, 5000, 10_000, 20_000), (1250, 2500, 5000)
COLUMNS = ("set", "work", "method", "n_features", "n_rows", "n_bits", "turn", "seconds")


def seconds_of(function, *arguments):
    """Processor seconds of a call."""
    start = time.process_time()
    function(*arguments)
    return time.process_time() - start


def places(counts):
    """Numbers of rows with the most bits, and numbers of bits with the most rows."""
    return sorted({(n, MOST_BITS) for n in counts} | {(counts[-1], bits) for bits in LENGTHS})


def compile_all(data):
    """Run each method once, so that no turn compiles kernels."""
    X, y = data.X[:200], None if data.y is None else data.y[:200]
    for method in METHODS:
        method_from_name(method).set_params(n_bits=8).fit(X, y).predict(X)


def turn_of(data, affinity, seed):
    """Work, method, rows, bits and seconds of each measurement of a turn."""
    rows = np.random.RandomState(seed).permutation(len(data.X))
    X, y = data.X[rows], None if data.y is None else data.y[rows]
    fitted, found = {}, []
    for n_rows, n_bits in places(TRAINED):
        for method in METHODS:
            hasher = method_from_name(method).set_params(n_bits=n_bits)
            new = {"random_state": seed, "affinity": affinity}
            given = hasher.get_params()
            hasher.set_params(**{name: new[name] for name in new if name in given})
            seconds = seconds_of(hasher.fit, X[:n_rows], None if y is None else y[:n_rows])
            found.append(("train", method, n_rows, n_bits, seconds))
            if n_rows == TRAINED[-1]:
                fitted[method, n_bits] = hasher
    for n_rows, n_bits in places([n for n in ENCODED if n <= len(X)]):
        for method in METHODS:
            seconds = seconds_of(fitted[method, n_bits].predict, X[:n_rows])
            found.append(("encode", method, n_rows, n_bits, seconds))
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", required=True, help="GIST of CIFAR-10, npz")
    parser.add_argument("--intents", required=True, help="embeddings of CLINC150, npz")
    parser.add_argument("--multilabel", required=True, help="tmc2007-500, npz of X and Y")
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--output", default="docs/notes/reproduction/times")
    options = parser.parse_args()
    sets = Sets({name: getattr(options, name) for name in ("data", "intents", "multilabel")})
    tasks = {task.key: (sets.get(task.data), task.affinity) for task in PARTS["rsh"].tasks}
    lines, folder = [], Path(options.output)
    about = {"titles": {key: data.title for key, (data, _) in tasks.items()}}
    about |= {"machine": machine(), "turns": options.turns}
    about["command"] = (
        "python -m benchmarks.papers.rsh_times --data GIST.npz --intents CLINC.npz "
        "--multilabel TMC.npz"
    )
    for key, (data, affinity) in tasks.items():
        compile_all(data)
        for turn in range(options.turns):
            for work, method, n_rows, n_bits, seconds in turn_of(data, affinity, turn):
                at = key, work, method, data.X.shape[1], n_rows, n_bits, turn
                lines.append((*at, f"{seconds:.6g}"))
            about["load"] = round(os.getloadavg()[2], 1)
            write_lines(folder / "rsh_times.csv", sorted(lines), about, COLUMNS)
            print(f"{key}, turn {turn}", flush=True)


if __name__ == "__main__":
    main()
