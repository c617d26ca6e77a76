"""The table of NDCG's relaxations is what its runs give, and the default is what it advises."""

import importlib

import numpy as np
import pytest

from sklearn_hashrank.objectives import OBJECTIVES
from tests.contract.public import DOCS, ROOT

FOLDER = DOCS / "ndcg_relaxations"


@pytest.fixture(scope="module")
def script():
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(ROOT / "benchmarks"))
        yield importlib.import_module("ndcg_relaxations")


@pytest.fixture(scope="module")
def rows(script):
    return script.read(FOLDER / "runs.csv")


def test_table_and_sentences_are_what_the_runs_give(script, rows, tmp_path):
    (tmp_path / "about.json").write_bytes((FOLDER / "about.json").read_bytes())
    script.write_tables(rows, tmp_path)
    for name in ("table.inc", "findings.inc"):
        kept = (FOLDER / name).read_text(encoding="utf-8")
        assert kept == (tmp_path / name).read_text(encoding="utf-8"), (
            "run: python benchmarks/ndcg_relaxations.py --tables"
        )


def test_every_relaxation_ran_on_every_set_with_every_seed(script, rows):
    names = {relaxation for name, relaxation in OBJECTIVES if name == "ndcg"}
    assert {script.DEFAULT, *script.OTHERS} == names
    seeds = {row["seed"] for row in rows}
    assert len(seeds) >= 5
    runs = script.Runs(rows)
    for name in runs.sets:
        for relaxation in names:
            for n_bits in script.LENGTHS:
                assert len(runs.of(name, relaxation, n_bits)) == len(seeds)


def test_the_default_is_ahead_on_more_sets_than_behind(script, rows):
    """As the page says, with the sets on which it is behind."""
    assert OBJECTIVES["ndcg", script.DEFAULT].is_best_relaxation
    runs = script.Runs(rows)
    for other in script.OTHERS:
        leads, p_values = runs.leads(other)
        behind = [
            name for name, lead, p in zip(runs.sets, leads, p_values) if lead < 0 and p < 0.05
        ]
        ahead = sum(lead > 0 and p < 0.05 for lead, p in zip(leads, p_values))
        assert np.mean(leads) > 0
        assert ahead >= len(behind)
        assert set(behind) <= {"report labels", "GIST, no labels"}
