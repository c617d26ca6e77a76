"""User code type-checks against the package, and the same code runs."""

import pytest
from mypy import api

from tests.contract import user_code
from tests.contract.public import ROOT

MYPY = ["--config-file", str(ROOT / "pyproject.toml"), "--strict", "--follow-imports=silent"]


WRONG = """
from sklearn_hashrank import retrieval_histogram
from sklearn_hashrank.metrics import tie_aware_average_precision_score
h = retrieval_histogram([[0]], [[1]], [0], [0])
h.n_bits.upper()
h.average_precision(ties='expect')
tie_aware_average_precision_score([0], [[1]], tie='expected')
"""


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    """What mypy says about the sample of user code, and about code that is wrong, in one run."""
    wrong = tmp_path_factory.mktemp("typing") / "wrong.py"
    wrong.write_text(WRONG)
    report, errors, _ = api.run([*MYPY, user_code.__file__, str(wrong)])
    assert not errors
    return report


def test_user_code_passes_the_type_checker(report):
    assert "user_code.py" not in report
    assert report.endswith("(checked 2 source files)\n")


def test_wrong_user_code_does_not(report):
    """The package's types reach its users: mypy does not take its calls for `Any`."""
    assert ':5: error: "int" has no attribute "upper"' in report
    assert ':6: error: Argument "ties"' in report
    assert ":7: error: Unexpected keyword argument" in report


def test_user_code_runs(tmp_path):
    user_code.use(tmp_path)
