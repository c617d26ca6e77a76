"""Hasher files whose digests are right, and whose values are not: what a crafter would write.

A changed file is refused, or it holds a hasher whose methods give numbers or raise an error. It
does not crash the process, run without end or take memory that no array of the file backs.
"""

import copy
import functools
import resource
import tempfile
import warnings
from collections import Counter
from pathlib import Path
from random import Random

import numpy as np
from sklearn.base import clone

from sklearn_hashrank import load_hasher, save_hasher
from sklearn_hashrank._files.container import read_archive, write_archive
from tests.instances import ENCODERS, needs_y

_NUMBERS = (-1, 0, 1, 2, 3, 7, 255, 2**15, 2**31 - 1, 2**31, 2**53, 2**63 - 1, -(2**63), 10**8)
_REALS = (0.0, -0.0, 1e308, -1e308, 5e-324, np.nan, np.inf, -np.inf)
_MEMORY = 400 << 20  # bytes that the process may grow by, whatever the files say


class CraftedError(AssertionError):
    """A crafted file that did something else than it may."""


def fuzz_crafted(n_cases: int, seed: int, first: int = 0) -> Counter:
    """Load crafted copies of the files of all hashers, and use what is loaded.

    Returns
    -------
    counts : Counter
        Of files that were ``"refused"`` and ``"loaded"``.
    """
    counts: Counter = Counter()
    before = None
    with (
        tempfile.TemporaryDirectory() as folder,
        warnings.catch_warnings(),
        np.errstate(all="ignore"),
    ):
        warnings.simplefilter("ignore")
        path = Path(folder, "hasher.npz")
        for case in range(first, first + n_cases):
            number = case % len(ENCODERS)
            about, arrays = _stored(number)
            random = Random(f"{seed} {case}")
            about, arrays = copy.deepcopy(about), list(arrays)
            for _ in range(random.choice((1, 1, 1, 2, 3))):
                random.choice((_change_array, _change_array, _change_tree))(about, arrays, random)
            write_archive(path, about, [(str(i), array) for i, array in enumerate(arrays)])
            if before is None or case < first + 2 * len(ENCODERS):  # kernels are compiled by then
                before = _peak()
            try:
                counts[_outcome(path)] += 1
                if case >= first + 3 * len(ENCODERS) and _peak() > before + _MEMORY:
                    raise CraftedError(f"took {(_peak() - before) >> 20} MB")
            except CraftedError as error:
                error.add_note(f"case {case} of {type(ENCODERS[number]).__name__}, seed {seed}")
                raise
    return counts


def fuzz_every_array(number: int) -> Counter:
    """Put numbers beyond any place into every array of a hasher's file."""
    about, arrays = _stored(number)
    counts: Counter = Counter()
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        path = Path(folder, "hasher.npz")
        for place, array in enumerate(arrays):
            for value in _extremes(array):
                for where in (array.size - 1, slice(None)) if array.size else ():
                    crafted = np.array(array, order="C")
                    crafted.reshape(-1)[where] = value
                    changed = [*arrays[:place], crafted, *arrays[place + 1 :]]
                    write_archive(path, about, [(str(i), each) for i, each in enumerate(changed)])
                    counts[_outcome(path)] += 1
    return counts


def _extremes(array):
    if array.dtype.kind in "iu":
        limits = np.iinfo(array.dtype)
        return limits.max, limits.min, array.size % limits.max
    if array.dtype.kind == "f":
        return (np.finfo(array.dtype).max,)
    return ()


def _outcome(path: Path) -> str:
    try:
        hasher = load_hasher(path)
    except (ValueError, OSError) as error:
        if "\n" in str(error) or not str(error):
            raise CraftedError(f"refused in more than a line: {error}") from error
        return "refused"
    except Exception as error:
        raise CraftedError(f"raised {type(error).__name__}: {error}") from error
    X, y = _data()
    for use in (
        lambda: hasher.decision_function(X),
        lambda: hasher.transform(X),
        lambda: hasher.score(X, y),
        lambda: hasher.inverse_transform(hasher.transform(X)),
    ):
        try:
            use()
        except Exception:  # an error is all that a file with false numbers can cause
            continue
    return "loaded"


@functools.cache
def _data():
    rng = np.random.default_rng(0)
    y = np.arange(66) % 3
    return rng.normal(size=(66, 5)) + y[:, None], y


@functools.cache
def _stored(number: int):
    """Description and arrays of the file of a hasher."""
    X, y = _data()
    hasher = clone(ENCODERS[number])
    hasher.set_params(n_bits=4)
    hasher.fit(X, y) if needs_y(hasher) else hasher.fit(X)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "hasher.npz")
        save_hasher(path, hasher)
        archive = read_archive(path)
        return archive.about, archive.arrays


def _change_array(about, arrays, random):
    if not arrays:
        return
    place = random.randrange(len(arrays))
    array = np.array(arrays[place])
    change = random.choice(
        ("values", "values", "values", "all", "shape", "order", "dtype", "other")
    )
    if change in ("values", "all") and array.size and array.dtype.kind in "biuf":
        known = _REALS if array.dtype.kind == "f" else _NUMBERS
        value = random.choice([*known, random.randrange(-3, 70)])
        if array.dtype.kind in "iu":
            value = np.array([value]).astype(object)[0] % 2 ** (8 * array.dtype.itemsize)
            value = (
                np.array([value], np.uint64).astype(f"u{array.dtype.itemsize}").view(array.dtype)[0]
            )
        where = slice(None) if change == "all" else random.randrange(array.size)
        array.reshape(-1)[where] = value
    elif change == "shape":
        axes = [random.choice((n, n, n + 1, max(n - 1, 0), 0, 2 * n)) for n in array.shape]
        changed = np.zeros(axes, array.dtype)
        both = tuple(slice(min(a, b)) for a, b in zip(axes, array.shape))
        changed[both] = array[both]
        array = changed
    elif change == "order":
        array = random.choice(
            (array.T, array[::-1], array.reshape(-1), array[None], array[..., None])
        )
    elif change == "dtype":
        array = array.astype(random.choice(("<i4", "<i8", "<f4", "<f8", "|u1", "|b1", "<U3")))
    else:
        array = np.array(arrays[random.randrange(len(arrays))])
    arrays[place] = np.ascontiguousarray(array)


def _change_tree(about, arrays, random):
    """Exchange a number, a string or a branch of the description."""
    places = [
        (branch, key)
        for branch, key in _branches(about["hasher"])
        if not isinstance(branch[key], (dict, list)) or random.random() < 0.2
    ]
    branch, key = random.choice(places)
    value = branch[key]
    if type(value) is int:
        branch[key] = random.choice([*_NUMBERS, value + 1, value - 1, 2 * value, 5 * 10**7])
    elif type(value) is float:
        branch[key] = random.choice([0.0, -1.0, 1e308, -1e-308, 1])
    elif type(value) is str and random.random() < 0.5:
        branch[key] = random.choice(["", "auto", "linear", "bytes", "nan"])
    elif type(value) in (bool, type(None)):
        branch[key] = random.choice([True, False, None, 0, 1])
    else:
        other, of_other = random.choice(places)
        branch[key] = copy.deepcopy(other[of_other])


def _branches(tree):
    items = tree.items() if isinstance(tree, dict) else enumerate(tree)
    for key, branch in list(items):
        yield tree, key
        if isinstance(branch, (dict, list)):
            yield from _branches(branch)


def _peak() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10
