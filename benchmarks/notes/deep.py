"""Quality of the networks of DeepHasher beside linear TALR in the same run, and the time of a fit.

    python -m benchmarks.notes.deep [--features DEEP.npz] [--fashion-mnist FOLDER] [--seeds 3]
        [--bits 12,24,32,48] [--only digits pixels features]

Protocol: 100 queries per class; the database is all other rows; 500 training rows per class, a
subset of the database. Of the digits 20 queries and 100 training rows. A figure is the mean
tie-aware AP. Images go through the small convolutional network, rows of features through the
perceptron, all with default parameters and one thread. Data sets that are not there are left out.
Needs torch, which the environment of ``make test-all`` has.
"""

import argparse
import time
from pathlib import Path
from typing import NamedTuple

import numpy as np
from sklearn.datasets import load_digits

from benchmarks.protocols import (
    FASHION_MNIST,
    average_precision,
    by_class,
    deep_features,
    fashion_mnist,
)
from benchmarks.sheet import Sheet
from sklearn_hashrank import TALRLinear

SECONDS = 360  # of a fit at 32 bits, at most


class Task(NamedTuple):
    """Rows, how many of a class are queries and training rows, and aims by the number of bits."""

    title: str
    X: np.ndarray
    y: np.ndarray
    sizes: tuple
    options: dict
    gains: dict
    levels: dict


def digits(options):
    """64 pixels, as rows of numbers."""
    X, y = load_digits(return_X_y=True)
    return Task("digits, perceptron", X, y, (20, 100), {}, {}, {24: 0.88})


def pixels(options):
    """Fashion-MNIST."""
    if not Path(options.fashion_mnist).is_dir():
        return None
    X, y = fashion_mnist(options.fashion_mnist)
    gains = {12: 0.03, 24: 0.03, 32: 0.02, 48: 0.02}
    image = {"image_shape": (28, 28)}
    return Task("Fashion-MNIST, convolutional network", X, y, (100, 500), image, gains, {})


def features(options):
    """CIFAR-10 as a network of ImageNet sees it."""
    if not options.features:
        return None
    X, y = deep_features(options.features)
    gains = dict.fromkeys((12, 24, 32, 48), 0.03)
    return Task("CIFAR-10 network features, perceptron", X, y, (100, 500), {}, gains, {})


TASKS = {make.__name__: make for make in (digits, pixels, features)}


def measure(sheet, names, options, bits=(12, 24, 32, 48)):
    """Measure the tasks of these names whose data are there."""
    for name in names:
        task = TASKS[name](options)
        if task is not None:
            compare(sheet, task, options.seeds, bits)


def compare(sheet, task, seeds, bits):
    """AP of the network and of linear TALR, and what the network is ahead."""
    from sklearn_hashrank.deep import DeepHasher

    sheet.section(f"{task.title}: mean tie-aware AP over {seeds} seeds")
    for n_bits in bits:
        found = {"network": [], "linear": []}
        cpu, wall = [], []
        for seed in range(seeds):
            query, database, train = by_class(task.y, np.random.RandomState(seed), *task.sizes)
            network = DeepHasher(n_bits=n_bits, random_state=seed, **task.options)
            linear = TALRLinear(n_bits=n_bits, random_state=seed)
            start, start_cpu = time.perf_counter(), time.process_time()
            network.fit(task.X[train], task.y[train])
            wall.append(time.perf_counter() - start)
            cpu.append(time.process_time() - start_cpu)
            linear.fit(task.X[train], task.y[train])
            for name, hasher in (("network", network), ("linear", linear)):
                ap = average_precision(hasher, task.X, task.y, query, database)
                found[name].append(ap)
        gain = np.subtract(found["network"], found["linear"])
        level, aimed_gain = task.levels.get(n_bits), task.gains.get(n_bits)
        for name, values in found.items():
            aim = level if name == "network" else None
            sheet.row(
                f"{n_bits} bits, {name}, {spread(values)}", np.mean(values), "AP", at_least=aim
            )
        sheet.row(f"{n_bits} bits, gain, {spread(gain)}", np.mean(gain), "AP", at_least=aimed_gain)
        aim = SECONDS if n_bits == 32 else None
        sheet.row(f"{n_bits} bits, CPU time of a fit", np.mean(cpu), "s", at_most=aim)
        sheet.row(f"{n_bits} bits, wall time of a fit", np.mean(wall), "s")


def spread(values):
    """Standard deviation, for a label."""
    return f"±{np.std(values, ddof=min(1, len(values) - 1)):.4f}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--features", help="npz file of network features with X, y and scale")
    parser.add_argument("--fashion-mnist", default=FASHION_MNIST, help="folder of the idx files")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--bits", default="12,24,32,48", help="separated by commas")
    parser.add_argument("--only", nargs="+", choices=TASKS, default=list(TASKS))
    options = parser.parse_args()
    measure(Sheet(), options.only, options, [int(n) for n in options.bits.split(",")])


if __name__ == "__main__":
    main()
