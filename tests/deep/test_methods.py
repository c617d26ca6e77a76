"""Networks by name: in comparisons, on the command line, and where torch is missing."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_digits

from sklearn_hashrank._utils.extras import how_to_install
from sklearn_hashrank.cli import main
from sklearn_hashrank.comparison import compare, method_from_name
from sklearn_hashrank.comparison._method_table import METHODS
from sklearn_hashrank.deep import DeepHasher
from sklearn_hashrank.model_selection import PerClassRetrievalSplit

NAMES = [
    "deep-talr-ap",
    "deep-talr-ndcg",
    "deep-talr-paper",
    "deep-centers",
    "deep-dsh",
    "deep-dispersed",
    "deep-dispersed-paper",
]
X, Y = load_digits(return_X_y=True)


WITHOUT_TORCH = """
import sys

class Missing:
    def find_spec(self, name, *_):
        if name.partition(".")[0] == "torch":
            raise ModuleNotFoundError("No module named 'torch'")

sys.meta_path.insert(0, Missing())
from sklearn_hashrank.cli import main
"""


def printed(code):
    """What a program prints, and what it says when it fails, in a process of its own."""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    return done.stdout, done.stderr


def test_names_stand_for_networks():
    assert [name for name in METHODS if METHODS[name].group == "deep"] == NAMES
    for name in NAMES:
        hasher = method_from_name(f"{name}:max_iter=3")
        assert isinstance(hasher, DeepHasher)
        assert hasher.max_iter == 3
        assert METHODS[name].needs_y == hasher.__sklearn_tags__().target_tags.required


def test_comparison():
    methods = [f"{name}:max_iter=2" for name in NAMES] + ["deep-dsh:max_iter=1:image_shape=(8, 8)"]
    protocol = PerClassRetrievalSplit(n_queries=10, n_train=20)
    here, in_workers = (
        compare(X, Y, methods=methods, n_bits=[8], seeds=1, protocol=protocol, n_jobs=n_jobs)
        for n_jobs in (1, 2)
    )
    assert not here.failures
    for result, same in zip(here.results, in_workers.results):
        assert 0.1 < result.scores["ap"] == same.scores["ap"]


def test_the_list_of_methods_imports_no_torch():
    code = "import sys; from sklearn_hashrank.cli import main; main(['methods'])"
    out, _ = printed(f"{code}; print('torch' in sys.modules)")
    assert "deep-dispersed" in out
    assert out.endswith("\nFalse\n")


@pytest.mark.parametrize("what", ["methods", "files"])
def test_one_line_says_what_to_install_where_torch_is_missing(what, tmp_path):
    path = Path(tmp_path) / "m.npz"
    if what == "files":
        np.save(tmp_path / "data.npy", X[:50])
        fit = ["fit", "--data", str(tmp_path / "data.npy"), "--bits", "4", "--output", str(path)]
        assert main([*fit, "--method", "deep-talr-ap:max_iter=1"]) == 0
        command = ["encode", "--model", str(path), "--data", str(tmp_path / "data.npy")]
    else:
        command = ["compare", "--data", "digits", "--methods", "deep-talr-ap"]
    command += ["--output", str(tmp_path / "out.npy")]
    _, err = printed(f"{WITHOUT_TORCH}sys.exit(main({command!r}))")
    assert how_to_install("deep") in err
    assert err.count("\n") == 1
