"""The page on objectives has the tables and sentences that its runs give."""

import json

import numpy as np
import pytest

from benchmarks.notes import page_of_runs, which_objective
from tests.contract.public import DOCS

FOLDER = DOCS / "notes" / "which_objective"


@pytest.fixture(scope="module")
def rows():
    return page_of_runs.read(FOLDER / "runs.csv")


def test_every_objective_ran_on_every_set_with_every_seed(rows):
    runs, seeds = which_objective.Runs(rows), {row["seed"] for row in rows}
    assert len(seeds) >= 3
    assert set(runs.sets) == {*which_objective.CLASSES, *which_objective.GRADED}
    for name in runs.sets:
        assert len(runs.methods(name)) >= 13
        for method in runs.methods(name):
            for n_bits in which_objective.LENGTHS:
                assert len(runs.of(name, method, n_bits)) == len(seeds)
    assert json.loads((FOLDER / "about.json").read_text(encoding="utf-8"))["commit"]


def test_what_the_page_concludes_holds(rows):
    """The advice, and the sentences that the page draws from the numbers."""
    runs = which_objective.Runs(rows)

    def mean(name, method, n_bits=32):
        return runs.of(name, method, n_bits).mean()

    for names, advised in (
        (which_objective.CLASSES, "ap, simplified"),
        (which_objective.GRADED, "ndcg, exact"),
    ):
        for name in names:
            best = max(mean(name, method) for method in runs.methods(name))
            assert mean(name, advised) > best - 0.01
            gain = mean(name, advised, 64) - mean(name, advised, 16)
            rankings = [
                mean(name, method) for method in ("ap, simplified", "ap, cvpr", "ap, exact")
            ]
            assert gain > np.ptp(rankings)

    def gaps(name, methods):
        """By how much they are behind the advised objective, at each length."""
        advised = "ap, simplified" if name in which_objective.CLASSES else "ndcg, exact"
        return [
            mean(name, advised, n) - mean(name, method, n)
            for method in methods
            for n in which_objective.LENGTHS
        ]

    for name in which_objective.CLASSES:
        assert np.ptp([0, *gaps(name, ["ap, cvpr", "ap, exact"])]) < 0.01
        assert (min(gaps(name, ["mi"])) > 0.02) == (name == "GIST")
        assert name == "GIST" or max(np.abs(gaps(name, ["mi"]))) < 0.015
    for name in which_objective.GRADED:
        assert np.ptp([0, *gaps(name, ["ndcg, cvpr", "ndcg, simplified"])]) < 0.01
    assert min(gaps("network features", ["hashnet"])) > -0.02
    assert max(gaps("network features", ["hashnet"])) < 0
    sums = [
        gap
        for name in runs.sets
        for gap in gaps(name, {"dpsh", "dtsh", "dsh", "dispersed"} & set(runs.methods(name)))
    ]
    assert np.mean(np.array(sums) > 0.01) > 0.8
