"""Whether a file of a hasher gives the same codes with the kernels of other processors.

    python -m benchmarks.speed.processors [--settings native,Haswell] [--bits 32] [--folder FOLDER]

Every method learns from random rows of ten classes, once from doubles and once from floats, and is
written to files. A process for each setting reads the files and encodes the same rows. Half of the
rows of a linear hasher lie on a hyperplane up to rounding. Each line says how many bits of a method
differ from those of the first setting, and how far scores move, relative to the largest score of
the bit. A setting is the name of a kind of processor that OpenBLAS has kernels for, or ``native``;
with ``Nehalem`` numba compiles for a generic processor, and numpy takes none of its faster loops,
either.
"""

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from numpy._core._multiarray_umath import __cpu_dispatch__

from benchmarks.speed.encoding import SHALLOW
from sklearn_hashrank import load_hasher, save_hasher
from sklearn_hashrank.base import LinearHasher
from sklearn_hashrank.comparison import method_from_name

SETTINGS = "native,Haswell,Sandybridge,Nehalem"
FASTER_TO_LEARN = {"max_iter": 5, "n_labeled": 200}
DTYPES = ("float64", "float32")
HEADS = (
    *("method", "bits compared", "bits that differ", "rows with such a bit"),
    *("scores move, float64", "scores move, float32"),
)


def training_rows():
    """Rows of ten classes, far from the origin and in several units, and their label paths."""
    rng = np.random.RandomState(0)
    classes = rng.randint(10, size=2000)
    X = rng.standard_normal((2000, 96)) + rng.standard_normal((10, 96))[classes]
    return 20 + X * rng.uniform(0.5, 2, size=96), np.stack([classes // 5, classes], axis=1)


def rows_to_encode(hasher, dtype):
    """Other rows, half of them moved onto the hyperplanes of a linear hasher."""
    X, _ = training_rows()
    rng = np.random.RandomState(1)
    new = X + rng.standard_normal(X.shape)
    for row in range(len(new) // 2 if isinstance(hasher, LinearHasher) else 0):
        bit = row % len(hasher.components_)
        normal, offset = hasher.components_[bit], hasher.intercept_[bit]
        if normal @ normal > 0:
            new[row] -= (new[row] @ normal + offset) / (normal @ normal) * normal
    return new.astype(dtype)


def learn(folder, methods, n_bits):
    """Write files of each hasher, and the rows to encode."""
    X, paths = training_rows()
    for method in methods:
        rows = {}
        for dtype in DTYPES:
            hasher = method_from_name(method).set_params(n_bits=n_bits)
            own = hasher.get_params()
            quick = {name: each for name, each in FASTER_TO_LEARN.items() if name in own}
            y = paths if method.startswith("hierarch") else paths[:, 1]
            hasher.set_params(**quick).fit(X.astype(dtype), y)
            save_hasher(folder / f"{method}-{dtype}.npz", hasher)
            rows[dtype] = rows_to_encode(hasher, dtype)
        np.savez(folder / f"{method}-rows.npz", **rows)
        print(method, "has learned", file=sys.stderr)


def encode(folder, setting):
    """Write codes and scores of all methods; called in a process of its own."""
    for file in sorted(folder.glob("*-rows.npz")):
        method = file.name.removesuffix("-rows.npz")
        found = {}
        for dtype, rows in np.load(file).items():
            hasher = load_hasher(folder / f"{method}-{dtype}.npz")
            found[f"{dtype} codes"] = hasher.predict(rows)
            found[f"{dtype} scores"] = hasher.decision_function(rows)
        np.savez(folder / f"{method}-of-{setting}.npz", **found)


def run(folder, setting):
    """Encode with the kernels of a kind of processor."""
    environment = dict(os.environ)
    environment.pop("OPENBLAS_CORETYPE", None)
    if setting != "native":
        environment["OPENBLAS_CORETYPE"] = setting
    if setting == "Nehalem":
        environment.update(NUMBA_CPU_NAME="generic", NUMBA_CPU_FEATURES="")
        environment["NPY_DISABLE_CPU_FEATURES"] = " ".join(__cpu_dispatch__)
    command = [sys.executable, "-m", __spec__.name, "--encode", "--folder", str(folder)]
    command += ["--settings", setting]
    subprocess.run(command, env=environment, check=True)


def compare(folder, method, settings):
    """A line of the table."""
    first, *others = (np.load(folder / f"{method}-of-{each}.npz") for each in settings)
    n_bits = n_differing = n_rows = 0
    moves = dict.fromkeys(DTYPES, 0.0)
    for other in others:
        for dtype in DTYPES:
            differs = first[f"{dtype} codes"] != other[f"{dtype} codes"]
            n_bits += differs.size
            n_differing += int(differs.sum())
            n_rows += int(differs.any(axis=1).sum())
            scores = first[f"{dtype} scores"].astype(float)
            largest = np.abs(scores).max(axis=0)
            moved = np.abs(other[f"{dtype} scores"] - scores) / np.where(largest > 0, largest, 1)
            moves[dtype] = max(moves[dtype], float(moved.max()))
    return [method, n_bits, n_differing, n_rows, *(f"{each:.0e}" for each in moves.values())]


def main():
    """Learn, encode with each setting, print and write the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--settings", default=SETTINGS)
    parser.add_argument("--methods", default=",".join(SHALLOW))
    parser.add_argument("--bits", type=int, default=32)
    parser.add_argument("--folder", type=Path, help="where the files are, or will be")
    parser.add_argument("--encode", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.encode:
        return encode(options.folder, options.settings)
    settings, methods = options.settings.split(","), options.methods.split(",")
    with tempfile.TemporaryDirectory() as name:
        folder = options.folder or Path(name)
        folder.mkdir(exist_ok=True)
        missing = [each for each in methods if not (folder / f"{each}-rows.npz").exists()]
        learn(folder, missing, options.bits)
        for setting in settings:
            run(folder, setting)
            print(setting, "has encoded", file=sys.stderr)
        lines = [compare(folder, method, settings) for method in methods]
    print(*HEADS, sep=", ")
    for line in lines:
        print(*line, sep=", ")
    total, differing = (sum(line[column] for line in lines) for column in (1, 2))
    where = [line[0] for line in lines if line[2]]
    moves = [max(float(line[column]) for line in lines if not line[2]) for column in (4, 5)]
    print(f"{differing:,} of {total:,} bits differ ({', '.join(where) or 'nowhere'}).")
    print(f"Elsewhere scores move by at most {moves[0]:.0e} (doubles) and {moves[1]:.0e} (floats).")
    return None


if __name__ == "__main__":
    main()
