"""The best method of a comparison: the one that tables mark, and the one to take.

Both rest on the same numbers, how far every rival is below the leader and what chance explains, and
differ in what an error costs. A mark is a claim: equal methods are marked in at most one of twenty
comparisons, which takes a test over the seeds, whose splits and hashers differ. With the queries
alone, 11 to 22 % of pairs of equal methods would be marked. A choice must be made with two seeds as
well, over which no test has power: there the rival has to be lower with every seed.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..base import LinearHasher
from ..metrics._paired_tests import holm_correction, paired_test
from ._columns import OF_QUERIES, Column
from ._runner import RunResult

LEVEL = 0.05
"""Of the tests that decide what is best."""


class Best(NamedTuple):
    """The method to take, and the reason."""

    method: str
    reason: str


class Rival(NamedTuple):
    """How far a method is below the leader, and whether chance may explain it."""

    difference: float  # mean over the seeds
    p_value: float  # over the queries, after Holm's correction
    is_behind: bool  # by the queries, and lower with every seed
    is_marked_behind: bool  # by the queries and by the seeds


def rivals_of_leader(
    results: Sequence[RunResult], name: str, n_bits: int
) -> tuple[dict[str, float], dict[str, Rival]]:
    """Return means over seeds, the highest first, and how the others compare with the first.

    The tests are paired t-tests over the queries of common seeds and over common seeds, each with
    Holm's correction for the number of rivals. A score without values of queries, such as those of
    rescoring, is tested over the seeds alone.
    """
    values: dict[str, dict[int, float]] = {}
    of_queries: dict[tuple[str, int], np.ndarray] = {}
    for result in results:
        value = result.scores.get(name, np.nan)
        if result.n_bits == n_bits and not np.isnan(value):
            values.setdefault(result.method, {})[result.seed] = value
            if (queries := result.curves.get(OF_QUERIES, {}).get(name)) is not None:
                of_queries[result.method, result.seed] = np.asarray(queries, dtype=float)
    means = {method: float(np.mean(list(of.values()))) for method, of in values.items()}
    means = dict(sorted(means.items(), key=lambda item: -item[1]))
    if len(means) < 2:
        return means, {}
    leader, *others = means
    differences, p_queries, p_seeds = {}, [], []
    for method in others:
        seeds = sorted(values[method].keys() & values[leader].keys())
        of_seeds = [values[leader][seed] - values[method][seed] for seed in seeds]
        p_seeds.append(_p_value(of_seeds))
        p_queries.append(p_seeds[-1])
        if seeds and all((m, seed) in of_queries for m in (leader, method) for seed in seeds):
            parts = [of_queries[leader, seed] - of_queries[method, seed] for seed in seeds]
            p_queries[-1] = _p_value(np.concatenate(parts))
        differences[method] = of_seeds or [0.0]
    by_queries = holm_correction(p_queries)
    by_both = holm_correction(np.maximum(p_queries, p_seeds))
    return means, {
        method: Rival(
            float(np.mean(of_seeds)),
            float(p_value),
            bool(p_value <= LEVEL) and min(of_seeds) > 0,
            bool(p_of_both <= LEVEL),
        )
        for (method, of_seeds), p_value, p_of_both in zip(differences.items(), by_queries, by_both)
    }


def _p_value(differences: Any) -> float:
    """Student's t-test; 1 if fewer than two differences are known."""
    known = np.asarray(differences, dtype=float)
    known = known[~np.isnan(known)]
    if len(known) < 2:
        return 1.0
    return paired_test(known, np.zeros_like(known), method="student").pvalue


def marked_method(results: Sequence[RunResult], name: str, n_bits: int) -> str | None:
    """Name the method that is above every other one by more than chance explains, if any is."""
    means, rivals = rivals_of_leader(results, name, n_bits)
    is_marked = bool(rivals) and all(rival.is_marked_behind for rival in rivals.values())
    return next(iter(means)) if is_marked else None


def method_to_take(
    results: Sequence[RunResult], hashers: Mapping[str, Any], column: Column, n_bits: int
) -> Best:
    """Return the method with the highest mean, or hyperplanes if chance may explain the difference.

    The choice depends on scores alone. Times, which vary with what else a machine does, have no
    part in it: hyperplanes encode a row with one matrix product, whatever the machine.
    """
    means, rivals = rivals_of_leader(results, column.name, n_bits)
    if not means:
        raise ValueError(f"no run of {n_bits} bits has values of {column.name!r} to choose by.")
    leader, *others = means
    score = f"{column.title} of {means[leader]:.3f}"
    if not others:
        return Best(leader, f"it is the only method with a score; its {score}.")
    equal = [method for method in others if not rivals[method].is_behind]
    linear = [method for method in equal if isinstance(hashers.get(method), LinearHasher)]
    if linear and not isinstance(hashers.get(leader), LinearHasher):
        rival = rivals[linear[0]]
        return Best(
            linear[0],
            f"its codes are half-spaces, which encode with one matrix product, and it is below "
            f"{leader}, whose {score} is the highest, by no more than chance explains "
            f"({rival.difference:.3f}, p = {rival.p_value:.2g}).",
        )
    rival = rivals[others[0]]
    text = (
        f"its {score} is the highest, {rival.difference:.3f} above {others[0]} "
        f"(p = {rival.p_value:.2g})"
    )
    if equal:
        return Best(leader, f"{text}. Chance may explain that it is above {', '.join(equal)}.")
    return Best(leader, f"{text}, and above all others with every seed.")
