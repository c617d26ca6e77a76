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
from ..affinity._protocol import BaseAffinity
from ..explore._page_writer import write_page
from ..model_selection._splits import RetrievalSplit
from ._columns import Column
from ._result_tables import summarize
from ._runner import Run, RunResult

_MOST_MODELS = 2
_MOST_QUERIES = 500
_OWN = {"queries", "database", "affinity"}  # arguments of the page that the comparison decides


@dataclass(frozen=True, eq=False)
class Explored:
    """Fitted models, and the rows that a page shows.

    Parameters
    ----------
    models : dict of str to estimator
        The best method, and the second.
    X, y : array-like
        Rows, and what is compared of them.
    split : RetrievalSplit
        Queries and database of the page; the models were fitted on the training rows.
    affinity : affinity object
    options : dict
        Further arguments of :func:`~sklearn_hashrank.explore.write_page`.
    """

    models: dict[str, Any]
    X: Any
    y: Any
    split: RetrievalSplit
    affinity: BaseAffinity
    options: Mapping[str, Any]

    def write(self, path: Path) -> None:
        """Write the page. Of many queries it lists a sample."""
        queries = self.split.query
        if len(queries) > _MOST_QUERIES:
            rng = check_random_state(0)
            queries = np.sort(rng.choice(queries, _MOST_QUERIES, replace=False))
        write_page(
            path,
            self.models,
            self.X,
            self.y,
            affinity=self.affinity,
            queries=queries,
            database=self.split.database,
            **self.options,
        )


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


def best_runs(runs: Sequence[Run], results: Sequence[RunResult], column: Column) -> list[Run]:
    """Runs of the best method and the second by a column, of the longest codes and one seed."""
    tables = summarize(results, [column])
    if not tables:
        return []
    [table] = tables
    n_bits = table.n_bits[-1]
    means = {m: table.cells[m, n_bits].mean for m in table.methods if (m, n_bits) in table.cells}
    sign = 1 if column.best == "lowest" else -1
    known = [method for method, mean in means.items() if not np.isnan(mean)]
    best = sorted(known, key=lambda method: sign * means[method])[:_MOST_MODELS]
    done = {
        (result.method, result.seed): run
        for run, result in zip(runs, results)
        if not result.error and result.n_bits == n_bits
    }
    for seed in dict.fromkeys(run.seed for run in runs):
        if best and all((method, seed) in done for method in best):
            return [done[method, seed] for method in best]
    return [done[key] for key in done if key[0] == best[0]][:1] if best else []


def fit_runs(runs: Sequence[Run], X: Any, y: Any, train: np.ndarray) -> dict[str, Any]:
    """Fit the methods of runs as the comparison did, which has told their warnings already."""
    models = {}
    with one_blas_thread(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for run in runs:
            models[run.method] = clone(run.hasher).fit(X[train], None if y is None else y[train])
    return models
