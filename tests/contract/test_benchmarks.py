"""Benchmarks keep up with the package: they import, and their sheet says what it should."""

import importlib
from pathlib import Path

import pytest

from benchmarks import sheet
from benchmarks.speed.suite import evaluation

ROOT = Path(__file__).parents[2]
SCRIPTS = sorted(
    ".".join(path.relative_to(ROOT).with_suffix("").parts)
    for path in ROOT.glob("benchmarks/**/*.py")
)


@pytest.mark.parametrize("name", SCRIPTS)
def test_scripts_can_be_imported(name):
    importlib.import_module(name)


def test_sheet_says_which_aims_are_missed(capsys):
    made = sheet.Sheet()
    made.section("Work")
    made.row("fast", 1.0, "s", "peer", 3.0, at_least=2)
    made.row("slow", 2.0, "s", "peer", 3.0, at_least=2)
    made.row("large", 400.0, "MB", at_most=300)
    page = made.markdown().replace("\N{NO-BREAK SPACE}", " ")
    assert "| fast | 1.00 s | peer | 3.00 s | 3.00 x | ≥ 2 |" in page
    assert "| slow | 2.00 s | peer | 3.00 s | 1.50 x | ≥ 2 (missed) |" in page
    assert "| large | 400 MB |  |  |  | ≤ 300 (missed) |" in page
    assert "(missed)" in capsys.readouterr().out


def test_benchmarks_of_the_suite_run():
    for measure in evaluation.Measures.params:
        evaluation.Measures().setup(measure)


def test_a_page_keeps_the_parts_of_other_processors():
    before = "# Old\n\nText.\n\n## B\n\nold\n\n### A table\n\n1\n\n## C\n\nkept\n"
    page = sheet.merged_page(before, "# New\n\n", "## B\n\nnew\n")
    assert page == "# New\n\n## B\n\nnew\n\n## C\n\nkept\n"
    assert sheet.merged_page(page, "# New\n\n", "## B\n\nnew\n") == page
    assert sheet.merged_page("", "# New\n\n", "## A\n\nfirst\n") == "# New\n\n## A\n\nfirst\n"
    kind = sheet.kind_of_processor()
    assert kind.startswith(sheet.processor())
    assert "LLVM: " in kind
    assert sheet.Sheet().markdown().startswith(f"## {kind}\n")
