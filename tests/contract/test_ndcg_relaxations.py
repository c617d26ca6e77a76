"""The table of NDCG's relaxations is what its runs give, and the default is what it advises."""

import numpy as np
import pytest

from sklearn_hashrank.objectives import NDCG
from tests.contract.public import DOCS, benchmark_scripts

FOLDER = DOCS / "ndcg_relaxations"


@pytest.fixture(scope="module")
def script():
    with benchmark_scripts("ndcg_relaxations") as [module]:
        yield module


@pytest.fixture(scope="module")
def rows():
    with benchmark_scripts("page_of_runs") as [page]:
        return page.read(FOLDER / "runs.csv")


def test_every_relaxation_ran_on_every_set_with_every_seed(script, rows):
    names = {"simplified", "arxiv", "cvpr", "exact"}
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
    assert NDCG().relaxation == script.DEFAULT
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
