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


class _Rival(NamedTuple):
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
    values: dict[str, dict[int, np.ndarray]] = {}
    for result in results:
        if result.n_bits == n_bits and column.name in result.curves.get(OF_QUERIES, {}):
            of_queries = np.asarray(result.curves[OF_QUERIES][column.name], dtype=float)
            values.setdefault(result.method, {})[result.seed] = of_queries
    means = {
        method: float(np.mean([np.nanmean(queries) for queries in of_method.values()]))
        for method, of_method in values.items()
    }
    means = {method: mean for method, mean in means.items() if not np.isnan(mean)}
    if not means:
        raise ValueError(f"no run of {n_bits} bits has values of {column.name!r} to choose by.")
    leader = max(means, key=lambda method: means[method])
    if len(means) == 1:
        return Best(
            leader, f"it is the only method with a score; {column.title} {means[leader]:.3f}."
        )
    rivals = _compare_with(leader, {method: values[method] for method in means})
    equal = sorted(
        (method for method, rival in rivals.items() if not rival.is_behind),
        key=lambda method: -means[method],
    )
    linear = [method for method in equal if isinstance(hashers.get(method), LinearHasher)]
    if linear and not isinstance(hashers.get(leader), LinearHasher):
        rival = rivals[linear[0]]
        return Best(
            linear[0],
            f"its codes are half-spaces, which encode with one matrix product, and it is below "
            f"{leader}, whose {column.title} of {means[leader]:.3f} is the highest, by no more "
            f"than chance explains ({rival.difference:.3f}, p = {rival.p_value:.2g}).",
        )
    second = max(rivals, key=lambda method: means[method])
    text = (
        f"its {column.title} of {means[leader]:.3f} is the highest, "
        f"{rivals[second].difference:.3f} above {second} (p = {rivals[second].p_value:.2g})"
    )
    if equal:
        return Best(leader, f"{text}. Chance may explain that it is above {', '.join(equal)}.")
    return Best(leader, f"{text}, and above all others with every seed.")


def _compare_with(leader: str, values: Mapping[str, Mapping[int, np.ndarray]]) -> dict[str, _Rival]:
    """Compare the others with the leader by paired t-tests over the queries of common seeds.

    A rival is behind if its p-value, after Holm's correction, is below `LEVEL`, and its mean is
    lower with every seed: queries of several seeds may be the same rows, so the p-value alone may
    be too small.
    """
    differences = {
        method: [values[leader][seed] - found for seed, found in of_method.items()]
        for method, of_method in values.items()
        if method != leader and set(of_method) <= set(values[leader])
    }
    p_values = []
    for parts in differences.values():
        known = np.concatenate(parts)
        known = known[~np.isnan(known)]
        is_enough = len(known) > 1
        test = paired_test(known, np.zeros_like(known), method="student") if is_enough else None
        p_values.append(1.0 if test is None else test.p_value)
    rivals = {}
    for (method, parts), p_value in zip(differences.items(), holm_correction(p_values)):
        of_seeds = [float(np.nanmean(part)) for part in parts]
        is_behind = bool(p_value < LEVEL) and min(of_seeds) > 0
        rivals[method] = _Rival(float(np.mean(of_seeds)), float(p_value), is_behind)
    return rivals
