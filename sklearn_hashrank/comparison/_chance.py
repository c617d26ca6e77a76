"""What constant codes score: every item at one distance, so that any ranking is by chance."""

import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ..affinity._protocol import BaseAffinity
from ..codes._formats import packed_width
from ..metrics._configured import ConfiguredMeasure
from ..model_selection._splits import RetrievalSplit
from ._columns import Column, measure_codes
from ._runner import RunResult

CHANCE = "chance"
"""Name of the row of constant codes in tables and figures."""

ABOVE_CHANCE = "_above_chance"
"""What follows the name of a measure in that of the column of what is above chance."""


def measure_chance(
    n_bits: int,
    seed: int,
    compared: Any,
    split: RetrievalSplit,
    affinity: BaseAffinity,
    measures: Mapping[str, ConfiguredMeasure],
    n_jobs: int | None = None,
) -> RunResult:
    """Measure codes of which all bits are 0, under the split of a seed.

    All items are tied. A measure of a ranking is its mean over every order of the database, and
    nothing lies outside of any radius.
    """
    queries, items = (
        np.zeros((len(rows), packed_width(n_bits)), dtype=np.uint8)
        for rows in (split.query, split.database)
    )
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # every run has said the same
            scores, curves = measure_codes(
                queries,
                items,
                compared[split.query],
                compared[split.database],
                n_bits=n_bits,
                affinity=affinity,
                measures=measures,
                n_jobs=n_jobs,
            )
    except Exception as error:  # as of a user's measure, which may fail for such codes alone
        return RunResult(CHANCE, n_bits, seed, error=f"{type(error).__name__}: {error}")
    return RunResult(CHANCE, n_bits, seed, scores, curves)


def columns_above_chance(columns: Iterable[Column], measures: Iterable[str]) -> tuple[Column, ...]:
    """The columns that say how far each measure is above that of constant codes."""
    of_measures = set(measures)
    return tuple(
        Column(
            column.name + ABOVE_CHANCE,
            f"{column.title} above chance",
            f"{column.title} less that of constant codes, of which every item is tied.",
        )
        for column in columns
        if column.name in of_measures
    )


def with_above_chance(
    results: Sequence[RunResult], chance: Sequence[RunResult], columns: Iterable[Column]
) -> list[RunResult]:
    """Add the scores of such columns to results, from the chance of the same seed and length."""
    names = [column.name.removesuffix(ABOVE_CHANCE) for column in columns]
    by_chance = {(result.n_bits, result.seed): result.scores for result in chance}
    found = []
    for result in results:
        level = by_chance.get((result.n_bits, result.seed), {})
        above = {
            name + ABOVE_CHANCE: result.scores[name] - level[name]
            for name in names
            if name in result.scores and name in level
        }
        found.append(replace(result, scores=result.scores | above) if above else result)
    return found
