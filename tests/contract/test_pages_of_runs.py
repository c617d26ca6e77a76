"""Pages that stand on runs beside them include what these runs give."""

import pytest

from tests.contract.public import DOCS, benchmark_scripts

PAGES = {
    "ndcg_relaxations": ("table.inc", "findings.inc"),
    "which_objective": ("tables.inc", "findings.inc"),
}


@pytest.mark.parametrize("name", PAGES)
def test_tables_and_sentences_are_what_the_runs_give(name, tmp_path):
    folder = DOCS / name
    (tmp_path / "about.json").write_bytes((folder / "about.json").read_bytes())
    with benchmark_scripts(name, "page_of_runs") as [script, page]:
        script.write_tables(page.read(folder / "runs.csv"), tmp_path)
    for file in PAGES[name]:
        kept = (folder / file).read_text(encoding="utf-8")
        assert kept == (tmp_path / file).read_text(encoding="utf-8"), (
            f"run: python benchmarks/{name}.py --tables"
        )


def test_seeds_without_all_sets_are_left_out():
    rows = [{"seed": seed, "set": name} for seed, name in [(0, "a"), (0, "b"), (0, "b"), (1, "a")]]
    with benchmark_scripts("page_of_runs") as [page]:
        assert page.complete(rows) == rows[:3]
        assert page.complete([]) == []


def test_runs_are_written_and_read_again(tmp_path, monkeypatch):
    """And only what is complete; files of the page are made without a run."""
    given = []
    monkeypatch.setattr("sys.argv", ["which_objective.py", "--output", str(tmp_path / "page")])
    rows = [{"seed": 0, "set": "a", "value": "0.25"}, {"seed": 0, "set": "b", "value": "1"}]
    with benchmark_scripts("which_objective", "page_of_runs") as [script, page]:

        def make(run):
            page.make_page(
                script, tmp_path, list(rows[0]), run, lambda *found: given.append(found[0])
            )

        make(lambda options: [*rows, {"seed": 1, "set": "a", "value": "3"}])
        assert "which_objective.py" in page.stamp(tmp_path / "page", rows)
        monkeypatch.setattr("sys.argv", ["x", "--tables", "--output", str(tmp_path / "page")])
        make(None)
    expected = [{"seed": 0, "set": "a", "value": 0.25}, {"seed": 0, "set": "b", "value": 1}]
    assert given == [expected, expected]
