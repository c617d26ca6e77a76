"""Which method of a comparison to take, and why."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..base import LinearHasher
from ..metrics._paired_tests import holm_correction, paired_test
from ._columns import OF_QUERIES, Column
from ._result_tables import LEVEL
from ._runner import RunResult


class Best(NamedTuple):
    """The method to take, and the reason."""

    method: str
    reason: str


class Rival(NamedTuple):
    """How far a method is below the best, and whether chance may explain it."""

    difference: float
    p_value: float
    is_behind: bool


def best_method(
    results: Sequence[RunResult], hashers: Mapping[str, Any], column: Column, n_bits: int
) -> Best:
    """Return the method with the highest mean, or hyperplanes if chance may explain the difference.

    The choice depends on scores alone. Times, which vary with what else a machine does, have no
    part in it: hyperplanes encode a row with one matrix product, whatever the machine.
    """
    means, rivals = rivals_of_best(results, column.name, n_bits)
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


def rivals_of_best(
    results: Sequence[RunResult], measure: str, n_bits: int
) -> tuple[dict[str, float], dict[str, Rival]]:
    """Return means over seeds, the highest first, and how the others compare with the first.

    The p-value is that of a paired t-test over the queries of common seeds, after Holm's
    correction. A rival is behind if it is below `LEVEL`, and the mean of the rival is lower with
    every seed: queries of several seeds may be the same rows, so p alone may be too small.
    """
    values: dict[str, dict[int, np.ndarray]] = {}
    for result in results:
        of_queries = result.curves.get(OF_QUERIES, {}).get(measure)
        if result.n_bits == n_bits and of_queries is not None and not np.isnan(of_queries).all():
            values.setdefault(result.method, {})[result.seed] = np.asarray(of_queries, dtype=float)
    means = {
        method: float(np.mean([np.nanmean(queries) for queries in of_method.values()]))
        for method, of_method in values.items()
    }
    means = dict(sorted(means.items(), key=lambda item: -item[1]))
    if len(means) < 2:
        return means, {}
    leader, *others = means
    differences, p_values = {}, []
    for method in others:
        common = sorted(set(values[method]) & set(values[leader]))
        parts = [values[leader][seed] - values[method][seed] for seed in common]
        differences[method] = [float(np.nanmean(part)) for part in parts] or [0.0]
        known = np.concatenate([*parts, []])
        known = known[~np.isnan(known)]
        p_value = 1.0
        if len(known) > 1:
            p_value = paired_test(known, np.zeros_like(known), method="student").pvalue
        p_values.append(p_value)
    rivals = {}
    for method, p_value in zip(others, holm_correction(p_values)):
        of_seeds = differences[method]
        is_behind = bool(p_value < LEVEL) and min(of_seeds) > 0
        rivals[method] = Rival(float(np.mean(of_seeds)), float(p_value), is_behind)
    return means, rivals
