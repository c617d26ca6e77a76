"""Settings of all tests."""

import contextlib
import gc
import os
import re
import warnings
from functools import partial
from importlib import import_module
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

import pytest
from hypothesis import settings

# Before numpy and numba load. Tests run in as many workers as there are cores, so each has one
# thread. Workers share a cache of kernels, but where no file can be replaced while it is read.
for library in ("OPENBLAS", "OMP", "MKL"):
    os.environ.setdefault(f"{library}_NUM_THREADS", "1")
if worker := os.environ.get("PYTEST_XDIST_WORKER"):
    caches = Path(__file__).parent / ".pytest_cache" / f"numba-{version('numba')}"
    of_worker = caches / worker if os.name == "nt" else caches
    os.environ.setdefault("NUMBA_CACHE_DIR", str(of_worker))
os.environ.setdefault("SCIPY_ARRAY_API", "1")  # or scikit-learn skips a check; before scipy loads

# A test makes many objects and leaves few: looking for garbage after 700 of them takes a
# twentieth of the time of all tests.
gc.set_threshold(10_000)

# Its import warns, and where warnings are errors crashes the process (1.12).
with warnings.catch_warnings(), contextlib.suppress(ImportError):
    warnings.simplefilter("ignore")
    import faiss  # noqa: F401

# Tests and examples of these folders and modules run where the package is installed.
NEEDED = {
    "sklearn_hashrank/deep": "torch",
    "sklearn_hashrank/interop/_ir_measures.py": "ir_measures",
    "sklearn_hashrank/interop/_onnx.py": "onnxruntime",
    "sklearn_hashrank/interop/_retrieval_evaluator.py": "sentence_transformers",
    "sklearn_hashrank/interop/_sentence_transformers.py": "sentence_transformers",
    "tests/browser": "playwright",
    "tests/clusters": "ray",
    "tests/deep": "torch",
    "tests/stores": "pgserver",
}
collect_ignore = [path for path, package in NEEDED.items() if find_spec(package) is None]


def pytest_report_header():
    """Say what is not tested here."""
    return [f"not installed: {NEEDED[path]}; left out: {path}" for path in collect_ignore]


def is_left_out(path):
    """Whether a file needs what is not installed."""
    return any(path.is_relative_to(Path(__file__).parent / each) for each in collect_ignore)


# No timed assertions: the first example compiles kernels, and machines are shared. Continuous
# integration tries the same examples each time; new ones are found where somebody can look at them.
in_ci = bool(os.environ.get("CI"))
settings.register_profile(
    "shared", deadline=None, print_blob=True, derandomize=in_ci, max_examples=50
)
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


@pytest.hookimpl(wrapper=True)
def pytest_collection(session):
    """Compile before the whole suite, and look for no garbage while all that comes stays."""
    config = session.config
    of_all = "tests" in config.args and not (config.option.keyword or config.option.markexpr)
    gc.disable()
    try:
        if worker and os.name != "nt" and of_all:
            share_what_is_compiled(Path(os.environ["NUMBA_CACHE_DIR"]))
        return (yield)
    finally:
        gc.enable()


def share_what_is_compiled(folder):
    """Let each worker compile a share of kernels and test modules, if there are no kernels.

    All workers soon need almost all of them, and each would compile its own.
    """
    taken = folder / f"steps-{os.environ['PYTEST_XDIST_TESTRUNUID']}"
    if taken.exists() or not any(folder.rglob("*.nbi")):
        from sklearn_hashrank.cli._command_warmup import warmup_steps

        root = Path(__file__).parent
        tests = [path for path in root.glob("tests/**/test_*.py") if not is_left_out(path)]
        names = [".".join(path.relative_to(root).parts)[:-3] for path in tests]
        steps = [*warmup_steps(), *(partial(import_module, name) for name in sorted(names))]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for number, step in enumerate(steps):
                try:
                    (taken / str(number)).mkdir(parents=True)
                except FileExistsError:  # another worker has taken it
                    continue
                # A module that cannot be imported, or is skipped, is told when it is collected.
                with contextlib.suppress(Exception, pytest.skip.Exception):
                    step()


def pytest_collection_modifyitems(items):
    """Refuse names that change from run to run: workers compare what they collected.

    Tests in joblib's processes come first: a single worker has them and starts those processes.
    """
    for item in items:
        if re.search(r" at 0x[0-9a-f]+", item.nodeid, re.IGNORECASE):
            raise pytest.UsageError(f"{item.nodeid} holds a memory address. Give the test `ids`.")
    items.sort(key=lambda item: item.get_closest_marker("pool") is None)


def pytest_sessionfinish():
    """End joblib's processes, which otherwise wait five minutes for work, as workers exit abruptly.

    And search for garbage once: pytest does it five times more, each as long as many tests.
    """
    from joblib.externals.loky import get_reusable_executor

    get_reusable_executor(reuse=True).shutdown(kill_workers=True)
    gc.collect()
    gc.freeze()
