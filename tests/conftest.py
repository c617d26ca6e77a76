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
has_no_kernels = False
if worker := os.environ.get("PYTEST_XDIST_WORKER"):
    caches = Path(__file__).parents[1] / ".pytest_cache" / f"numba-{version('numba')}"
    of_worker = caches / worker if os.name == "nt" else caches
    os.environ.setdefault("NUMBA_CACHE_DIR", str(of_worker))
    has_no_kernels = os.name != "nt" and not any(Path(os.environ["NUMBA_CACHE_DIR"]).rglob("*.nbi"))
os.environ.setdefault("SCIPY_ARRAY_API", "1")  # or scikit-learn skips a check; before scipy loads

# Its import warns, and where warnings are errors crashes the process (1.12).
with warnings.catch_warnings(), contextlib.suppress(ImportError):
    warnings.simplefilter("ignore")
    import faiss  # noqa: F401

# No timed assertions: the first example compiles kernels, and machines are shared. Continuous
# integration tries the same examples each time; new ones are found where somebody can look at them.
in_ci = bool(os.environ.get("CI"))
settings.register_profile("shared", deadline=None, print_blob=True, derandomize=in_ci)
settings.load_profile("shared")


@pytest.fixture
def no_pictures(monkeypatch):
    """Leave out what takes longest of a report; tests/comparison/test_report.py looks at it."""
    monkeypatch.setattr("sklearn_hashrank.comparison._comparison.draw_figures", lambda *_: [])


@pytest.fixture
def one_picture(monkeypatch):
    """Keep the first figure of a report: each is written three times."""
    from sklearn_hashrank.comparison import _comparison

    draw = _comparison.draw_figures
    monkeypatch.setattr(_comparison, "draw_figures", lambda *arguments: draw(*arguments)[:1])


def pytest_collection_modifyitems(items):
    """Refuse names that change from run to run: workers compare what they collected."""
    for item in items:
        if re.search(r" at 0x[0-9a-f]+", item.nodeid, re.IGNORECASE):
            raise pytest.UsageError(f"{item.nodeid} holds a memory address. Give the test `ids`.")


def pytest_collection_finish(session):
    """Before the whole suite, let each worker compile a share of the kernels.

    In the first minute all workers need almost all of them, and each would compile its own.
    """
    if has_no_kernels and len(session.items) > 5000:
        from sklearn_hashrank.cli._command_warmup import warmup_steps

        steps, n_workers = warmup_steps(), int(os.environ["PYTEST_XDIST_WORKER_COUNT"])
        first = int(worker.removeprefix("gw")) * len(steps)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for step in steps[first // n_workers : (first + len(steps)) // n_workers]:
                step()
