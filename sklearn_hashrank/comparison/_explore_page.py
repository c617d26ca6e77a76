"""The best methods of a comparison, fitted once more, for a page to look at."""

import inspect
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils import check_random_state

from .._utils.threads import one_blas_thread
from ..explore._page_writer import write_page
from ._best import rivals_of_leader
from ._own_distance import OwnDistance
from ._runner import Run, RunResult

_MOST_MODELS = 2
_MOST_QUERIES = 1000  # the page holds 50 exact neighbors of each
# Arguments of the page that the comparison decides.
_OWN = {"queries", "database", "affinity", "note"}


@dataclass(frozen=True, eq=False)
class ExplorePage:
    """The best methods, fitted, and what the page shows of them."""

    models: dict[str, Any]
    X: Any
    y: Any
    options: Mapping[str, Any]

    def write(self, path: Path) -> None:
        write_page(path, self.models, self.X, self.y, **self.options)


def check_options(explore: Any) -> dict[str, Any] | None:
    """Return further arguments of the page, or None for no page, before any method is fitted."""
    if not isinstance(explore, (bool, Mapping)):
        raise ValueError(
            "explore must be a bool, or a dict of arguments of write_page. "
            f"Got {explore!r} instead."
        )
    if isinstance(explore, bool):
        return {} if explore else None
    parameters = inspect.signature(write_page).parameters.values()
    accepted = {each.name for each in parameters if each.kind is each.KEYWORD_ONLY} - _OWN
    unknown = [name for name in explore if name not in accepted]
    if unknown:
        raise ValueError(
            f"explore holds arguments of write_page, of {sorted(accepted)}. Got {unknown[0]!r}."
        )
    return dict(explore)


def explore_best(
    runs: Sequence[Run],
    results: Sequence[RunResult],
    measure: str,
    X: Any,
    y: Any,
    options: Mapping[str, Any],
) -> ExplorePage | None:
    """Fit the best two methods as the comparison did, which has told their warnings already."""
    done = [
        (run, result)
        for run, result in zip(runs, results)
        if not result.error and not isinstance(run.hasher, OwnDistance)
    ]
    best = _best_runs(done, measure)
    if not best:
        return None
    train, queries, database = best[0].split
    result_of = {(run.method, run.n_bits, run.seed): result for run, result in done}
    found = [result_of[run.method, run.n_bits, run.seed] for run in best]
    scores = " and ".join(
        f"{name} is {', '.join(f'{r.scores[name]:.3f} of {r.method}' for r in found)}"
        for name in dict.fromkeys([measure, "ap"])  # the page measures AP
        if all(name in r.scores for r in found)
    )
    note = (
        f"Codes of {found[0].n_bits} bits, on the split of seed {best[0].seed}, where {scores}. "
        "The tables of the report have means over the seeds."
    )
    if len(queries) > _MOST_QUERIES:
        note += (
            f" The page has {_MOST_QUERIES:,} of {len(queries):,} queries, sampled, and its means "
            "are over these."
        )
        queries = np.sort(check_random_state(0).choice(queries, _MOST_QUERIES, replace=False))
    models = {}
    with one_blas_thread(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for run in best:
            models[run.method] = clone(run.hasher).fit(X[train], None if y is None else y[train])
    decided = {
        "affinity": best[0].affinity,
        "queries": queries,
        "database": database,
        "note": note,
    }
    return ExplorePage(models, X, X if y is None else y, {**options, **decided})


def _best_runs(done: Sequence[tuple[Run, RunResult]], measure: str) -> list[Run]:
    """Runs of the best method and the second, of the longest codes and one seed."""
    n_bits = max((result.n_bits for _, result in done), default=0)
    means, _ = rivals_of_leader([result for _, result in done], measure, n_bits)
    best = list(means)[:_MOST_MODELS]
    of_length = {(r.method, r.seed): run for run, r in done if r.n_bits == n_bits}
    for seed in dict.fromkeys(run.seed for run, _ in done):
        if best and all((method, seed) in of_length for method in best):
            return [of_length[method, seed] for method in best]
    return [of_length[key] for key in of_length if key[0] == best[0]][:1] if best else []
