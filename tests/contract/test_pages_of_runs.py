"""Pages that stand on runs beside them include what these runs give."""

import pytest

from benchmarks.notes import ndcg_relaxations, page_of_runs, which_objective

PAGES = {
    ndcg_relaxations: ("table.inc", "findings.inc"),
    which_objective: ("tables.inc", "findings.inc"),
}


@pytest.mark.parametrize("script", PAGES, ids=lambda script: script.__name__)
def test_tables_and_sentences_are_what_the_runs_give(script, tmp_path):
    folder = script.FOLDER
    (tmp_path / "about.json").write_bytes((folder / "about.json").read_bytes())
    script.write_tables(page_of_runs.read(folder / "runs.csv"), tmp_path)
    for file in PAGES[script]:
        kept = (folder / file).read_text(encoding="utf-8")
        assert kept == (tmp_path / file).read_text(encoding="utf-8"), (
            f"run: python -m {script.__name__} --tables"
        )


def test_seeds_without_all_sets_are_left_out():
    rows = [{"seed": seed, "set": name} for seed, name in [(0, "a"), (0, "b"), (0, "b"), (1, "a")]]
    assert page_of_runs.complete(rows) == rows[:3]
    assert page_of_runs.complete([]) == []


def test_runs_are_written_and_read_again(tmp_path, monkeypatch):
    """And only what is complete; files of the page are made without a run."""
    given = []
    monkeypatch.setattr("sys.argv", ["which_objective.py", "--output", str(tmp_path / "page")])
    rows = [{"seed": 0, "set": "a", "value": "0.25"}, {"seed": 0, "set": "b", "value": "1"}]

    def make(run):
        page_of_runs.make_page(
            which_objective, tmp_path, list(rows[0]), run, lambda *found: given.append(found[0])
        )

    make(lambda options: [*rows, {"seed": 1, "set": "a", "value": "3"}])
    assert "notes.which_objective" in page_of_runs.stamp(tmp_path / "page", rows)
    monkeypatch.setattr("sys.argv", ["x", "--tables", "--output", str(tmp_path / "page")])
    make(None)
    expected = [{"seed": 0, "set": "a", "value": 0.25}, {"seed": 0, "set": "b", "value": 1}]
    assert given == [expected, expected]
