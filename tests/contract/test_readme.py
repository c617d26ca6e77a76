"""What the README says can be done, can be done."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from sklearn_hashrank._utils.extras import install_command
from sklearn_hashrank.cli import main

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text()
BLOCKS = re.findall(r"^```(\w*)\n(.*?)^```$", README, re.M | re.S)
LINKS = re.findall(r"\]\(([^)#]+)\)", README)
TARGETS = re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(), re.M)


def blocks(language):
    found = [text for name, text in BLOCKS if name == language]
    assert found
    return found


def test_every_block_names_its_language():
    assert {language for language, _ in BLOCKS} == {"python", "sh"}


ONE_BY_ONE = """
import sys
for code in sys.argv[2:]:
    exec(code, {"__name__": "__main__"})
    print(sys.argv[1])
"""


@pytest.mark.process
def test_python_runs_as_it_stands(tmp_path):
    """Each block with its own names, all of them in one process, which takes seconds to start."""
    end = "end of a block"
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", ONE_BY_ONE, end, *blocks("python")],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT), "OPENBLAS_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    *outputs, rest = done.stdout.split(f"{end}\n")
    assert not rest
    assert len(outputs) == len(blocks("python"))
    assert all(outputs)


@pytest.mark.parametrize("command", "".join(blocks("sh")).splitlines())
def test_commands_exist(command, tmp_path, monkeypatch):
    """The tests cannot call themselves; what the commands do is run by the integration script."""
    program, *arguments = shlex.split(command)
    if program == "make":
        assert set(arguments) <= set(TARGETS)
    elif program == "hashrank":
        np.save(tmp_path / "embeddings.npy", np.random.default_rng(0).normal(size=(1130, 128)))
        monkeypatch.chdir(tmp_path)
        assert main([*arguments, "--seeds", "1"]) == 0  # of three, which do the same
        assert (tmp_path / "hashrank-results" / "report.html").exists()
    else:
        assert command == install_command()
        assert (ROOT / "pyproject.toml").exists()


def test_links_lead_somewhere():
    assert LINKS
    assert [link for link in LINKS if not (ROOT / link).exists()] == []
