"""``hashrank warmup``: compile the kernels, so that no later call waits for them."""

import sys
import time
import warnings
from argparse import Namespace
from collections.abc import Callable, Iterator
from functools import cache, partial
from typing import Any

import numpy as np
from sklearn.datasets import load_digits

from .. import _kernels
from .._utils.text import plain
from ..affinity._euclidean import EuclideanAffinity
from ..affinity._labels import LabelAffinity
from ..comparison._method_table import METHODS, method_from_name
from ..hashers.additive import AdditiveQuantizer
from ..hashers.autoencoder import BinaryAutoencoderHasher
from ..hashers.talr import TALRLinear
from ..metrics._counting import retrieval_histogram
from ..metrics._histogram import RetrievalHistogram
from ..neighbors._decoded_neighbors import DecodedNeighbors
from ..neighbors._hamming_neighbors import HammingNeighbors
from ..objectives.ranking._average_precision import AveragePrecision
from ._arguments import add_parser

_EPILOG = """\
The first call of a later process then does not wait for the compiler. NUMBA_CACHE_DIR names another
folder to keep kernels in.
"""
_SMALL = {"n_bits": 4, "max_iter": 1, "n_trees": 1}  # parameters of fits that cost nothing else


def add_command(commands: Any) -> None:
    add_parser(
        commands, "warmup", "compile all kernels, and say where they are kept", _run, _EPILOG
    )


def _run(options: Namespace, arguments: list[str]) -> None:
    from .._kernels._jit import IS_COMPILED

    if not IS_COMPILED:
        raise ValueError("NUMBA_DISABLE_JIT is set, so that nothing is compiled.")
    start, steps = time.perf_counter(), warmup_steps()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # fits on a few rows learn nothing
        for number, step in enumerate(steps, start=1):
            step()
            so_far = time.perf_counter() - start
            print(f"[{number}/{len(steps)}] {so_far:.1f} s", file=sys.stderr, flush=True)
    seconds = time.perf_counter() - start
    used = [kernel for kernel in _all_kernels() if kernel.signatures]
    n_found = sum(sum(kernel.stats.cache_hits.values()) for kernel in used)
    n_compiled = sum(len(kernel.signatures) for kernel in used) - n_found
    print(f"{len(used)} kernels, {seconds:.1f} s: {n_compiled} forms compiled, {n_found} found")
    folders = {str(kernel.stats.cache_path) for kernel in used if kernel.stats.cache_path}
    for folder in sorted(folders):
        print(f"kept in {plain(folder)}")
    if not folders:
        print("kept nowhere: numba finds no folder that it can write to")


def _all_kernels() -> Iterator[Any]:
    """Give the compiled functions of all kernels. Those that Python does not call are not used."""
    from numba.core.dispatcher import Dispatcher

    for name in _kernels.__all__:
        module = getattr(_kernels, name)
        for each in vars(module).values():
            if isinstance(each, Dispatcher) and each.__module__ == module.__name__:
                yield each


def warmup_steps() -> list[Callable[[], None]]:
    """Return calls that compile all kernels together, in whatever order they are made.

    The tests share them among their processes. The longest are first, and few kernels belong to two
    of them.
    """
    for name in _kernels.__all__:
        getattr(_kernels, name)  # loads it: small work runs on numpy unless its kernel is loaded
    groups: dict[str, list[str]] = {}
    for name, method in METHODS.items():
        groups.setdefault(method.group, []).append(name)
    fits = [partial(_fit_methods, names) for group, names in groups.items() if group != "deep"]
    searches = [partial(_search, algorithm) for algorithm in ("brute", "multi_index")]
    return [searches[0], _rank, *reversed(fits), searches[1], _count, _search_decoded]


@cache
def _few_rows() -> tuple[np.ndarray, np.ndarray]:
    X, y = load_digits(return_X_y=True)
    return X[:121], y[:121]  # an odd number: the median distance is that of a row


def _fit_methods(names: list[str]) -> None:
    for name in names:
        for dtype in (np.float32, np.float64):
            _fit_method(name, dtype)


def _fit_method(name: str, dtype: Any) -> None:
    """Fit a method, and encode rows on hyperplanes and spheres as well."""
    X, y = _few_rows()
    X = X.astype(dtype)
    on_hyperplanes = X.mean(axis=0, keepdims=True)
    hasher = method_from_name(name)
    known = hasher.get_params()
    hasher.set_params(**{key: value for key, value in _SMALL.items() if key in known})
    hasher.fit(X, np.column_stack([y // 5, y]) if "hierarchical" in name else y)
    hasher.transform(X)
    hasher.transform(on_hyperplanes)
    if name == "talr-ap":
        for objective in (AveragePrecision(relaxation="exact"), AveragePrecision(delta=2.0)):
            TALRLinear(4, objective=objective, max_iter=1).fit(X, y)


@cache
def _codes() -> tuple[np.ndarray, np.ndarray]:
    """Codes of 64 bits, and labels in ascending order."""
    rng = np.random.default_rng(0)
    return rng.integers(0, 256, (5000, 8), dtype=np.uint8), np.sort(np.arange(5000) % 3)


def _count() -> None:
    """Count codes by labels and by distances."""
    codes, labels = _codes()
    vectors = np.random.default_rng(0).normal(size=(5000, 2))
    few = slice(0, 400)
    equal = np.zeros_like(codes)
    for database in (codes[few], equal):  # too few for pairs of items; items that occur often
        some = labels[: len(database)]
        retrieval_histogram(codes[few], database, some[few], some, n_bits=64)
    h = retrieval_histogram(
        codes[few], codes, labels[few], labels, affinity=LabelAffinity(), n_bits=64, keep_codes=True
    )
    h.local_group_average_precision()
    retrieval_histogram(
        codes[few], codes, vectors[few], vectors, affinity=EuclideanAffinity((5,), (1,)), n_bits=64
    )


def _rank() -> None:
    """Count rankings by scores of both types."""
    for kind in (np.float64, np.float32):
        RetrievalHistogram.from_scores([[0, 1, 1]], np.array([[1, 2, 3]], dtype=kind))


def _search(algorithm: str) -> None:
    """Find neighbors in every way. Distances of up to 254 bits are one byte."""
    codes, labels = _codes()
    few = slice(0, 400)
    for n_bits in (64, 256):
        long = np.tile(codes, n_bits // 64)
        index = HammingNeighbors(1, n_bits=n_bits, algorithm=algorithm).fit(long)
        index.kneighbors(long[few])
        index.radius_neighbors(long[few])
        index.kneighbors(long[few], mask=labels > 0)
        index.radius_neighbors(long[few], mask=labels > 0)
        index.set_params(prefix=32, n_candidates=100).kneighbors(long[few])


def _search_decoded() -> None:
    """Find neighbors by decoded codes and by projections."""
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(100, 16))
    for hasher in (
        BinaryAutoencoderHasher(16, max_iter=1, output="packed", random_state=0),
        AdditiveQuantizer(2, max_iter=1, random_state=0),
    ):
        hasher.fit(rows)
        neighbors = DecodedNeighbors(hasher, n_neighbors=1).fit(hasher.transform(rows))
        neighbors.kneighbors(rows[:2])
        neighbors.kneighbors(rows[:2], candidates=[[0, 1], [0, 1]])
    HammingNeighbors(1, n_bits=64, distance="asymmetric").fit(_codes()[0]).kneighbors(
        rng.normal(size=(2, 64))
    )
