"""Seconds to encode and to train, by rows and by bits: figure 5 of RSH, and its claim on training.

    python benchmarks/rsh_times.py --intents CLINC.npz --multilabel TMC.npz
        [--output docs/reproduction/times]

Seconds of one core, of the process alone, so that other programs on the machine count little. The
methods take turns, and the fastest of several turns counts. Rows vary with 32 bits, and bits with
all rows: 20,000 to encode, 5,000 to train.
"""

import argparse
import csv
import json
import time
from pathlib import Path

import numpy as np
import papers
from experiments import CVPR_2010, PARTS, Sets
from sheet import machine

from sklearn_hashrank.comparison import method_from_name

SETS = ("label-paths", "label-sets")
METHODS = (*papers.OF_RSH[:2], CVPR_2010, *papers.OF_RSH[2:], "rsh")
LENGTHS, MOST_BITS = (8, 16, 24, 32), 32
ENCODED, TRAINED = (1000, 2500, 5000, 10_000, 20_000), (1250, 2500, 5000)
COLUMNS = ("set", "work", "method", "n_features", "n_rows", "n_bits", "seconds")


def seconds_of(function, *arguments):
    """Processor seconds of a call."""
    start = time.process_time()
    function(*arguments)
    return time.process_time() - start


def places(counts):
    """Numbers of rows with the most bits, and numbers of bits with the most rows."""
    return sorted({(n, MOST_BITS) for n in counts} | {(counts[-1], bits) for bits in LENGTHS})


def measure(data, affinity, n_turns):
    """Yield work, method, rows, bits and the fewest seconds of several turns."""
    rows = np.random.RandomState(0).permutation(len(data.X))
    X, y = data.X[rows], data.y[rows]
    encoded = [n for n in ENCODED if n <= len(X)]
    best, fitted = {}, {}
    for method in METHODS:  # compiles what is compiled
        method_from_name(method).set_params(n_bits=8).fit(X[:200], y[:200]).predict(X[:200])
    for _ in range(n_turns):
        for n_rows, n_bits in places(TRAINED):
            for method in METHODS:
                hasher = method_from_name(method).set_params(n_bits=n_bits)
                given = hasher.get_params()
                new = {"random_state": 0, "affinity": affinity}
                hasher.set_params(**{name: new[name] for name in new if name in given})
                at = "train", method, n_rows, n_bits
                seconds = seconds_of(hasher.fit, X[:n_rows], y[:n_rows])
                best[at] = min(seconds, best.get(at, np.inf))
                if n_rows == TRAINED[-1]:
                    fitted[method, n_bits] = hasher
        for n_rows, n_bits in places(encoded):
            for method in METHODS:
                at = "encode", method, n_rows, n_bits
                seconds = seconds_of(fitted[method, n_bits].predict, X[:n_rows])
                best[at] = min(seconds, best.get(at, np.inf))
        yield dict(best)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--intents", required=True, help="embeddings of CLINC150, npz")
    parser.add_argument("--multilabel", required=True, help="tmc2007-500, npz of X and Y")
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--output", default="docs/reproduction/times")
    options = parser.parse_args()
    sets = Sets({"intents": options.intents, "multilabel": options.multilabel})
    tasks = {task.key: task for task in PARTS["rsh"].tasks}
    lines, titles = [], {}
    for key in SETS:
        data = sets.get(tasks[key].data)
        titles[key] = data.title
        for best in measure(data, tasks[key].affinity, options.turns):
            print(f"{key}: a turn of {len(best)} measurements", flush=True)
        lines += [
            [key, work, method, data.X.shape[1], n_rows, n_bits, f"{seconds:.6g}"]
            for (work, method, n_rows, n_bits), seconds in best.items()
        ]
    folder = Path(options.output)
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / "rsh_times.csv", "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerows([COLUMNS, *sorted(lines)])
    about = {"titles": titles, "machine": machine(), "turns": options.turns}
    about["command"] = "python benchmarks/rsh_times.py --intents CLINC.npz --multilabel TMC.npz"
    (folder / "rsh_times.json").write_text(json.dumps(about, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
