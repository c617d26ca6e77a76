"""What the README says can be done, can be done."""

import re
import shlex
from pathlib import Path

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
        monkeypatch.chdir(tmp_path)
        quicker = {"suggest": ["--splits", "1"], "compare": ["--seeds", "1"]}[arguments[0]]
        assert main([*arguments, *quicker]) == 0
        if arguments[0] == "compare":
            assert (tmp_path / "hashrank-results" / "report.html").exists()
    else:
        assert command == install_command()
        assert (ROOT / "pyproject.toml").exists()


def test_links_lead_somewhere():
    assert LINKS
    assert [link for link in LINKS if not (ROOT / link).exists()] == []


def test_it_is_short():
    assert len(README.splitlines()) <= 120


def test_counts_of_claims_are_those_of_the_verdicts():
    counts = (ROOT / "docs/notes/reproduction/verdicts/counts.inc").read_text("utf-8")
    by_verdict = [int(each) for each in re.findall(r'"(\d+)"', counts.splitlines()[-1])]
    text = " ".join(README.split())
    found = re.search(
        r"tests (\d+) .*: (\d+) are confirmed, (\d+) contradicted, (\d+) undecided and (\d+) not",
        text,
    )
    assert [int(each) for each in found.groups()] == [sum(by_verdict), *by_verdict]


def test_how_far_a_random_order_is_from_the_mean_was_measured():
    measured = (ROOT / "docs/notes/reproduction/verdicts/ties_orders.inc").read_text("utf-8")
    assert measured.startswith(
        "Over 5 seeds, one random order is at most .0007 from the exact mean"
    )
    for page in ("README.md", "docs/concepts/ties.rst"):
        assert "within 0.0007" in " ".join((ROOT / page).read_text("utf-8").split())


def test_values_beside_the_picture_are_those_of_the_picture():
    picture, path = re.search(r"!\[([^\]]*)\]\(([^)]+)\)", README).groups()
    drawn = re.findall(r">(0\.\d+)</text>", (ROOT / path).read_text("utf-8"))
    assert set(re.findall(r"0\.\d+", picture)) <= set(drawn)
