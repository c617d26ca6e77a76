"""Corrupt files, read them, and say of each what came of it."""

import os
import warnings
from collections import Counter
from pathlib import Path
from random import Random

from .corruption import corrupted
from .readers import Reader, canonical


class FuzzError(AssertionError):
    """A corrupted file that did something else than it may."""


def fuzz(reader: Reader, n_cases: int, seed: int, folder: Path, first: int = 0) -> Counter:
    """Read corrupted copies of a file of one format.

    Returns
    -------
    counts : Counter
        Of ``"refused"`` (ValueError or OSError of one line), ``"the same"`` (exactly what the
        whole file gives) and ``"as it says"`` (what a changed file without a checksum now says).
    """
    path = folder / reader.file
    reader.write(path)
    content, names = path.read_bytes(), set(os.listdir(folder))
    whole = canonical(reader.read(path))
    counts: Counter = Counter()
    for case in range(first, first + n_cases):
        changed = corrupted(content, Random(f"{reader.name} {seed} {case}"))
        path.write_bytes(changed)
        try:
            counts[_outcome(reader, path, whole)] += 1
            if set(os.listdir(folder)) != names:
                raise FuzzError(f"left {set(os.listdir(folder)) ^ names}")
        except FuzzError as error:
            error.add_note(f"case {case} of {reader.name!r}, seed {seed}")
            raise
    return counts


def _outcome(reader: Reader, path: Path, whole: object) -> str:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = reader.read(path)
    except (ValueError, OSError) as error:
        if "\n" in str(error) or not str(error):
            raise FuzzError(f"refused in more than a line: {error}") from error
        return "refused"
    except Exception as error:
        raise FuzzError(f"raised {type(error).__name__}: {error}") from error
    if canonical(found) == whole:
        return "the same"
    if reader.has_checksum or not reader.agrees(path, found):
        raise FuzzError(f"silently gave something else: {found!r}")
    return "as it says"
