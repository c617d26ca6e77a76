"""Every stored array of every hasher, with crafted values under a right digest."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.instances import ENCODERS

ROOT = Path(__file__).parents[2]
CODE = """
from tests.fuzz.crafted import fuzz_every_array
n_refused = 0
for number in range({first}, {n}, 4):
    counts = fuzz_every_array(number)
    assert counts.total() > 0, number
    n_refused += counts["refused"]
assert n_refused > 0
"""


@pytest.mark.parametrize("first", range(4))
def test_no_value_of_an_array_crashes_the_loader(first):
    """In a process of its own, which a kernel that reads beyond its arrays would end."""
    code = CODE.format(first=first, n=len(ENCODERS))
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
