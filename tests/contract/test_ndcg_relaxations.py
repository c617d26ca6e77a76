"""The table of NDCG's relaxations is what its runs give, and the default is what it advises."""

import numpy as np
import pytest

from benchmarks.notes import ndcg_relaxations, page_of_runs
from sklearn_hashrank.objectives import NDCG
from tests.contract.public import DOCS

FOLDER = DOCS / "notes" / "ndcg_relaxations"


@pytest.fixture(scope="module")
def rows():
    return page_of_runs.read(FOLDER / "runs.csv")


def test_every_relaxation_ran_on_every_set_with_every_seed(rows):
    names = {"simplified", "arxiv", "cvpr", "exact"}
    assert {ndcg_relaxations.DEFAULT, *ndcg_relaxations.OTHERS} == names
    seeds = {row["seed"] for row in rows}
    assert len(seeds) >= 5
    runs = ndcg_relaxations.Runs(rows)
    for name in runs.sets:
        for relaxation in names:
            for n_bits in ndcg_relaxations.LENGTHS:
                assert len(runs.of(name, relaxation, n_bits)) == len(seeds)


def test_the_default_is_ahead_on_more_sets_than_behind(rows):
    """As the page says, with the sets on which it is behind."""
    assert NDCG().relaxation == ndcg_relaxations.DEFAULT
    runs = ndcg_relaxations.Runs(rows)
    for other in ndcg_relaxations.OTHERS:
        leads, p_values = runs.leads(other)
        behind = [
            name for name, lead, p in zip(runs.sets, leads, p_values) if lead < 0 and p < 0.05
        ]
        ahead = sum(lead > 0 and p < 0.05 for lead, p in zip(leads, p_values))
        assert np.mean(leads) > 0
        assert ahead >= len(behind)
        assert set(behind) <= {"report labels", "GIST, no labels"}
