"""Settings of all tests."""

import contextlib
import os
import re
import warnings
from importlib.metadata import version
from pathlib import Path

import pytest
from hypothesis import settings

# Before numpy and numba load. Tests run in as many workers as there are cores, so each has one
# thread. Workers share a cache of kernels, but where no file can be replaced while it is read.
for library in ("OPENBLAS", "OMP", "MKL"):
    os.environ.setdefault(f"{library}_NUM_THREADS", "1")
if worker := os.environ.get("PYTEST_XDIST_WORKER"):
    caches = Path(__file__).parents[1] / ".pytest_cache" / f"numba-{version('numba')}"
    of_worker = caches / worker if os.name == "nt" else caches
    os.environ.setdefault("NUMBA_CACHE_DIR", str(of_worker))
os.environ.setdefault("SCIPY_ARRAY_API", "1")  # or scikit-learn skips a check; before scipy loads

# Its import warns, and where warnings are errors crashes the process (1.12).
with warnings.catch_warnings(), contextlib.suppress(ImportError):
    warnings.simplefilter("ignore")
    import faiss  # noqa: F401

# No timed assertions: the first example compiles kernels, and machines are shared.
settings.register_profile("shared", deadline=None, print_blob=True)
settings.load_profile("shared")


def pytest_collection_modifyitems(items):
    """Refuse names that change from run to run: workers compare what they collected."""
    for item in items:
        if re.search(r" at 0x[0-9a-f]+", item.nodeid, re.IGNORECASE):
            raise pytest.UsageError(f"{item.nodeid} holds a memory address. Give the test `ids`.")
