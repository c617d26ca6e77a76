"""Benchmarks keep up with the package: they import, and their sheet says what it should."""

import importlib
import sys
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
SCRIPTS = sorted(path.stem for path in BENCHMARKS.glob("*.py"))
SUITES = sorted(f"suite.{path.stem}" for path in BENCHMARKS.glob("suite/*.py"))


@pytest.fixture(autouse=True)
def beside_the_scripts(monkeypatch):
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    before = set(sys.modules)
    yield
    for name in set(sys.modules) - before:
        if getattr(sys.modules[name], "__file__", None) and str(BENCHMARKS) in str(
            sys.modules[name].__file__
        ):
            del sys.modules[name]


@pytest.mark.parametrize("name", SCRIPTS + SUITES)
def test_scripts_can_be_imported(name):
    importlib.import_module(name)


def test_sheet_says_which_aims_are_missed(capsys):
    sheet = importlib.import_module("sheet").Sheet()
    sheet.section("Work")
    sheet.row("fast", 1.0, "s", "peer", 3.0, at_least=2)
    sheet.row("slow", 2.0, "s", "peer", 3.0, at_least=2)
    sheet.row("large", 400.0, "MB", at_most=300)
    page = sheet.markdown().replace("\N{NO-BREAK SPACE}", " ")
    assert "| fast | 1.00 s | peer | 3.00 s | 3.00 x | ≥ 2 |" in page
    assert "| slow | 2.00 s | peer | 3.00 s | 1.50 x | ≥ 2 (missed) |" in page
    assert "| large | 400 MB |  |  |  | ≤ 300 (missed) |" in page
    assert "(missed)" in capsys.readouterr().out


def test_benchmarks_of_the_suite_run():
    evaluation = importlib.import_module("suite.evaluation")
    for measure in evaluation.Measures.params:
        evaluation.Measures().setup(measure)


def test_a_page_keeps_the_parts_of_other_processors():
    sheet = importlib.import_module("sheet")
    before = "# Old\n\nText.\n\n## B\n\nold\n\n### A table\n\n1\n\n## C\n\nkept\n"
    page = sheet.merged_page(before, "# New\n\n", "## B\n\nnew\n")
    assert page == "# New\n\n## B\n\nnew\n\n## C\n\nkept\n"
    assert sheet.merged_page(page, "# New\n\n", "## B\n\nnew\n") == page
    assert sheet.merged_page("", "# New\n\n", "## A\n\nfirst\n") == "# New\n\n## A\n\nfirst\n"
    kind = sheet.kind_of_processor()
    assert kind.startswith(sheet.processor())
    assert "LLVM: " in kind
    assert sheet.Sheet().markdown().startswith(f"## {kind}\n")
