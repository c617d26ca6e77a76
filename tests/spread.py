"""How far asserted numbers move between processors, and how far they are from their bounds.

A plugin for pytest, which writes down the margin of every comparison of numbers, and a command that
runs the tests marked `learning` under several settings and prints the comparisons whose bound is
less than four standard deviations away::

    python -m tests.spread [--settings Haswell,Zen] [--seeds 0,1,2] [pytest options]

A setting is the name of a kind of processor that OpenBLAS has kernels for and that this one can
run (``SkylakeX`` needs AVX-512), or ``native``; with ``Nehalem`` numba compiles for a generic
processor, and numpy takes none of its faster loops, either. A seed other than 0 multiplies each
feature of the data sets by ``1 + 1e-15`` times a random number. Networks and files are not touched.
"""

import argparse
import ast
import collections
import json
import operator
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from numpy._core._multiarray_umath import __cpu_dispatch__
from sklearn.utils import Bunch

SETTINGS = ("native", "Haswell", "Sandybridge", "Nehalem")
DATA = ("load_digits", "make_blobs", "make_classification", "make_multilabel_classification")
SIGNS = {ast.Lt: 1, ast.LtE: 1, ast.Gt: -1, ast.GtE: -1}
ARITHMETIC = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul}


def margins(text):
    """By how much each comparison of numbers in an explanation of pytest holds."""
    text = re.sub(r"np\.(?:True|False)_|np\.float\d+", "", text.split("\n")[0])
    text = re.sub(r"(\.\d+)\.\.\.\d*", r"\1", text)  # pytest leaves out digits of long numbers
    found = re.fullmatch(r"\(?(\S+?)\)? == (\S+) ± (\S+)", text)
    try:
        if found:
            value, expected, tolerance = (float(each.strip("()")) for each in found.groups())
            return [tolerance - abs(value - expected)]
        tree = ast.parse(text, mode="eval").body
        if not isinstance(tree, ast.Compare):
            return []
        values = [_number(each) for each in (tree.left, *tree.comparators)]
    except (SyntaxError, ValueError):
        return []  # not numbers
    pairs = zip(tree.ops, values, values[1:])
    return [SIGNS[type(op)] * (b - a) for op, a, b in pairs if type(op) in SIGNS]


def _number(node):
    if isinstance(node, ast.Constant) and isinstance(node.value, int | float):
        return node.value
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return -_number(node.operand)
    if isinstance(node, ast.BinOp) and type(node.op) in ARITHMETIC:
        return ARITHMETIC[type(node.op)](_number(node.left), _number(node.right))
    raise ValueError


# The plugin

_seen: collections.Counter = collections.Counter()


def pytest_configure(config):
    seed = os.environ.get("SPREAD_SEED")
    if seed and int(seed):
        import sklearn.datasets

        for name in DATA:
            setattr(sklearn.datasets, name, _disturbed(getattr(sklearn.datasets, name), int(seed)))


def _disturbed(load, seed):
    def load_disturbed(*args, **options):
        loaded = load(*args, **options)
        if isinstance(loaded, Bunch):
            loaded.data = _disturb(loaded.data, seed)
            return loaded
        X, *others = loaded
        return _disturb(X, seed), *others

    return load_disturbed


def _disturb(X, seed):
    return X * (1 + 1e-15 * np.random.RandomState(seed).standard_normal(X.shape[1]))


def _write(nodeid, line, text):
    """Write the margins of a comparison, and how often this run has come to its line before."""
    _seen[nodeid, line] += 1
    with open(os.environ["SPREAD_FILE"], "a") as file:
        for place, margin in enumerate(margins(text)):
            where = [nodeid, line, _seen[nodeid, line], place]
            file.write(json.dumps([where, float(margin), text[:200]]) + "\n")


def pytest_assertion_pass(item, lineno, orig, expl):
    _write(item.nodeid, lineno, expl)


def pytest_runtest_makereport(item, call):
    if call.excinfo is not None and call.excinfo.errisinstance(AssertionError):
        line = call.excinfo.traceback[-1].lineno + 1
        _write(item.nodeid, line, re.sub(r"^assert ", "", str(call.excinfo.value)))


# The command


def run(setting, seed, options, file):
    """Run the tests once; comparisons are added to a file."""
    settings = dict(os.environ, SPREAD_SEED=str(seed), SPREAD_FILE=str(file))
    # Asserts are compiled in another way, so they need a cache of their own.
    settings["PYTHONPYCACHEPREFIX"] = str(Path(tempfile.gettempdir()) / "spread-pycache")
    if setting != "native":
        settings["OPENBLAS_CORETYPE"] = setting
    if setting == "Nehalem":
        settings.update(NUMBA_CPU_NAME="generic", NUMBA_CPU_FEATURES="")
        settings["NPY_DISABLE_CPU_FEATURES"] = " ".join(__cpu_dispatch__)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "tests.spread", "-m", "learning"]
    command += ["-o", "enable_assertion_pass_hook=true", *options]
    return subprocess.run(command, env=settings).returncode


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--settings", default=",".join(SETTINGS))
    parser.add_argument("--seeds", default="0,1,2")
    parser.add_argument("--file", type=Path, help="comparisons of earlier runs, to be added to")
    parsed, options = parser.parse_known_args()
    codes = []
    with tempfile.TemporaryDirectory() as folder:
        file = parsed.file or Path(folder) / "comparisons.jsonl"
        for setting in parsed.settings.split(","):
            for seed in parsed.seeds.split(","):
                codes.append(run(setting, seed, options, file))
                print(f"{setting}, seed {seed}: exit code {codes[-1]}", flush=True)
        found = collections.defaultdict(list)
        for line in file.read_text().splitlines():
            where, margin, text = json.loads(line)
            found[tuple(where)].append((margin, text))
    print("margin / deviation, least margin, deviation, test, line, an example")
    for (nodeid, number, *_), values in sorted(found.items()):
        of_runs = np.array([margin for margin, _ in values])
        deviation = of_runs.std(ddof=1) if len(of_runs) > 1 else 0.0
        if of_runs.mean() < 4 * deviation or of_runs.min() < 0:
            share = of_runs.mean() / deviation if deviation else np.inf
            text = values[int(of_runs.argmin())][1]
            print(f"{share:6.1f} {of_runs.min():8.5f} {deviation:.5f} {nodeid}:{number} {text!r}")
    return max(codes)


if __name__ == "__main__":
    sys.exit(main())
