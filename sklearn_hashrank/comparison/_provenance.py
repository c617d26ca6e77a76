"""What the numbers of a run depend on, as a digest for the store and as text for the report."""

import functools
import hashlib
import inspect
import os
import pickle
import platform
import sys
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import joblib
from scipy import sparse

from .. import __version__
from ..affinity._protocol import BaseAffinity
from ..metrics._configured import ConfiguredMeasure

_PACKAGES = (
    "numpy",
    "scipy",
    "scikit-learn",
    "joblib",
    "numba",
    "cvxpy-base",
    "clarabel",
    "scs",
    "torch",
    "faiss-cpu",
)
_VERSIONED = {"sklearn_hashrank", "sklearn", "numpy", "scipy", *sys.stdlib_module_names}


def run_key(
    hasher: Any, affinity: Any, measures: Mapping[str, ConfiguredMeasure], **settings: Any
) -> str | None:
    """Digest of all that the numbers of a run depend on, contents of arrays included.

    None where not all of it can be found, as for a lambda in a pipeline.
    """
    named = {name: (each.measure, dict(each.given)) for name, each in measures.items()}
    try:
        source = _sources(hasher, affinity, named)
        if source is None:
            return None
        parts = {"hasher": hasher, "affinity": affinity, "measures": named, **settings}
        known = {"of_users": source, "versions": versions(), "source": _source_digest()}
        return joblib.hash(parts | known)
    except (pickle.PicklingError, TypeError, AttributeError):
        return None


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


def describe_data(name: str, X: Any, y: Any, affinity: BaseAffinity) -> dict[str, str]:
    """Name and size of the data, and how `y` gives relevance, for the report."""
    levels = ", ".join(f"{level:g}" for level in affinity.levels_)
    understood = affinity.describe(y, "X" if y is X else "y")
    return {
        "name": name,
        "items": f"{X.shape[0]:,}",
        "features": f"{X.shape[1]:,}{', sparse' if sparse.issparse(X) else ''}, {X.dtype}",
        "relevance": f"{understood}; {affinity!r}, levels {levels}",
    }


def describe_machine() -> str:
    """Processor, number of usable processors and system, on which times depend."""
    processor = platform.processor() or platform.machine()
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            processor = next(
                (line.split(":", 1)[1].strip() for line in file if line.startswith("model name")),
                processor,
            )
        count = len(os.sched_getaffinity(0))
    except (OSError, AttributeError):  # not Linux
        count = os.cpu_count() or 1
    return f"{processor}, {count} processors, {platform.system()} {platform.machine()}"


@functools.cache
def _source_digest() -> str:
    """Digest of the package's own modules, so that edited methods are run again."""
    package = Path(__file__).parents[1]
    digest = hashlib.sha256()
    for path in sorted(package.rglob("*.py")):
        if path.relative_to(package).parts[0] != "cli":
            digest.update(str(path.relative_to(package)).encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()


def _sources(*objects: Any) -> str | None:
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
