"""What the numbers of a comparison depend on, as text for the report."""

import functools
import os
import platform
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from scipy import sparse

from .. import __version__
from ..affinity._protocol import BaseAffinity

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
