"""What the README says can be done, can be done."""

import re
import shlex
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


def test_python_runs_as_it_stands(tmp_path, monkeypatch, capsys):
    """Each block with its own names. `make dist` runs each in a process of its own."""
    monkeypatch.chdir(tmp_path)
    for block in blocks("python"):
        exec(block, {"__name__": "__main__"})
        assert capsys.readouterr().out, block


@pytest.mark.parametrize("command", "".join(blocks("sh")).splitlines())
def test_commands_exist(command, tmp_path, monkeypatch, no_pictures):
    """The tests cannot call themselves; what the commands do is run by the integration script."""
    program, *arguments = shlex.split(command)
    if program == "make":
        assert set(arguments) <= set(TARGETS)
    elif program == "hashrank":
        np.save(tmp_path / "embeddings.npy", np.random.default_rng(0).normal(size=(430, 128)))
        monkeypatch.chdir(tmp_path)
        quicker = ["--seeds", "1", "--queries", "50", "--training", "300"]
        assert main([*arguments, *quicker]) == 0
        assert (tmp_path / "hashrank-results" / "report.html").exists()
    else:
        assert command == install_command()
        assert (ROOT / "pyproject.toml").exists()


def test_links_lead_somewhere():
    assert LINKS
    assert [link for link in LINKS if not (ROOT / link).exists()] == []
