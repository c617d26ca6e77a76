"""User code type-checks against the package, and the same code runs."""

from mypy import api

from tests.contract import user_code
from tests.contract.public import ROOT

MYPY = ["--config-file", str(ROOT / "pyproject.toml"), "--strict", "--follow-imports=silent"]


def check(path):
    """What mypy says about a file, its own lines only."""
    report, errors, _ = api.run([*MYPY, str(path)])
    assert not errors
    return report


def test_user_code_passes_the_type_checker():
    assert check(user_code.__file__) == "Success: no issues found in 1 source file\n"


def test_wrong_user_code_does_not(tmp_path):
    """The package's types reach its users: mypy does not take its calls for `Any`."""
    path = tmp_path / "wrong.py"
    path.write_text(
        "from sklearn_hashrank import retrieval_histogram\n"
        "from sklearn_hashrank.metrics import tie_aware_average_precision_score\n"
        "retrieval_histogram([[0]], [[1]], [0], [0]).n_bits.upper()\n"
        "tie_aware_average_precision_score([0], [[1]], tie='expected')\n"
    )
    report = check(path)
    assert ':3: error: "int" has no attribute "upper"' in report
    assert ":4: error: Unexpected keyword argument" in report


def test_user_code_runs(tmp_path):
    user_code.use(tmp_path)
