"""Finished runs on disk, so that an interrupted comparison resumes."""

import functools
import hashlib
import inspect
import json
import pickle
import platform
import sys
import warnings
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import joblib

from .. import __version__
from ..persistence import write_file

_PACKAGES = ("numpy", "scipy", "scikit-learn", "joblib", "numba", "cvxpy", "torch")
_VERSIONED = {"sklearn_hashrank", "sklearn", "numpy", "scipy", *sys.stdlib_module_names}


def run_key(**settings: Any) -> str:
    """Digest of all that decides the numbers of a run, contents of arrays included."""
    return joblib.hash({**settings, "versions": versions(), "source": _source_digest()})


@functools.cache
def versions() -> dict[str, str]:
    """Versions of Python and of the packages that numbers may depend on."""
    found = {"sklearn-hashrank": __version__, "Python": platform.python_version()}
    for package in _PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = "not installed"
    return found


@functools.cache
def _source_digest() -> str:
    """Digest of the package's own modules: edited methods are run again."""
    package = Path(__file__).parents[1]
    digest = hashlib.sha256()
    for path in sorted(package.rglob("*.py")):
        if path.relative_to(package).parts[0] != "cli":
            digest.update(str(path.relative_to(package)).encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()


def sources(*objects: Any) -> str | None:
    """Source of the modules of users' types and functions; None where there is one without.

    These are all that the objects are made of. What Python, this package and scikit-learn define is
    known by their versions. What cannot be pickled raises an error.
    """
    finder = _ModuleFinder()
    finder.dump(objects)
    texts = []
    for name in sorted(finder.modules):
        if name.partition(".")[0] in _VERSIONED:
            continue
        try:
            texts.append(inspect.getsource(sys.modules[name]))
        except (KeyError, OSError, TypeError):
            return None
    return "".join(texts)


class _ModuleFinder(pickle.Pickler):
    """Notes where the types, their bases and the functions are defined that objects are made of."""

    def __init__(self):
        super().__init__(_Sink())
        self.modules: set[str] = set()

    def reducer_override(self, part: Any) -> Any:
        definitions = part.__mro__ if isinstance(part, type) else (part, *type(part).__mro__)
        modules = (getattr(each, "__module__", None) for each in definitions)
        self.modules.update(module for module in modules if module)  # what is built in has none
        return NotImplemented


class _Sink:
    """Keeps nothing of what is written."""

    def write(self, data: Any) -> int:
        return len(data)


class RunStore:
    """One JSON file with a digest for each finished run, written at once or not at all.

    A digest shows that a record was changed. It does not show who wrote the record.

    Parameters
    ----------
    folder : Path or None
        Where the files are; None keeps nothing.
    """

    def __init__(self, folder: Path | None):
        self._folder = folder
        if folder is not None:
            folder.mkdir(parents=True, exist_ok=True)

    def load(self, key: str, is_whole: Callable[[dict], bool] = bool) -> dict | None:
        """Return the record saved under `key`, if there is one and it is as it was written.

        Parameters
        ----------
        key : str
            Digest of the settings of the run.
        is_whole : callable, default=bool
            Whether a record has all that a caller needs.

        Returns
        -------
        record : dict or None
            None, with a warning, also for a record that was changed: the run is done again.
        """
        if self._folder is None:
            return None
        try:
            record = json.loads(self._path(key).read_text(encoding="utf-8"))
            digest = record.pop("digest", None)
            if digest == _digest(record) and record.get("key") == key and is_whole(record):
                return record
        except FileNotFoundError:
            return None
        except (OSError, ValueError, AttributeError, TypeError, RecursionError):
            pass  # such as JSON that is no dict
        warnings.warn(
            f"{self._path(key)} is not as it was written; its run is done again.", stacklevel=2
        )
        return None

    def save(self, key: str, record: dict) -> None:
        """Keep a record under `key`."""
        if self._folder is not None:
            record = {"key": key, **record}
            record["digest"] = _digest(record)
            with write_file(self._path(key), "w", encoding="utf-8") as file:
                file.write(json.dumps(record, indent=1))

    def _path(self, key: str) -> Path:
        assert self._folder is not None
        return self._folder / f"{key}.json"


def _digest(record: dict) -> str:
    """Digest of what a record says, whatever the order and the spaces of its JSON."""
    return hashlib.sha256(json.dumps(record, sort_keys=True).encode()).hexdigest()
