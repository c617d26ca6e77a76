"""Rankings from runs and qrels, as evaluation tools of information retrieval keep them."""

from collections.abc import Mapping
from itertools import repeat
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ._rankings import Integers, Rankings, exact_numbers, may_be_rounded, tie_numbers
from ._scores import NaNScores, check_one_of, check_tolerance, without_nan
from ._tie_tables import RaggedTies
from ._trec_files import Duplicates, as_qrels, as_run

Queries = Literal["judged", "both", "equal"]
Unjudged = Literal["irrelevant", "remove", "error"]

_NOT_RETRIEVED = float("nan")  # known by its identity: a score may be NaN, too

Run = Mapping[str, Mapping[str, float]]


def table_of_run(
    qrels: Any,
    run: Any,
    queries: Queries,
    unjudged: Unjudged,
    duplicates: Duplicates,
    nan: NaNScores,
    tolerance: float,
    dtype: Any,
    n_jobs: int | None,
) -> tuple[list[str], RaggedTies]:
    """Read a run and qrels, and count ties; :meth:`RetrievalHistogram.from_run`."""
    check_one_of("queries", queries, Queries)
    check_one_of("unjudged", unjudged, Unjudged)
    check_one_of("duplicates", duplicates, Duplicates)
    check_one_of("nan", nan, NaNScores)
    check_tolerance(tolerance)
    try:
        precision = np.dtype(dtype)
    except TypeError:
        precision = np.dtype(object)
    if precision not in (np.float64, np.float32):
        raise ValueError(f"dtype must be 'float64' or 'float32'. Got {dtype!r} instead.")
    judgments, scored = as_qrels(qrels), as_run(run, duplicates)
    names = _queries(judgments, scored, queries)
    if unjudged == "remove":
        scored = {
            q: {d: s for d, s in scored.get(q, {}).items() if judgments[q].get(d, -1) >= 0}
            for q in names
        }
    scores, starts = _scores(scored, names)
    if tolerance > 0 or scores.dtype != np.float64:
        scores = without_nan(scores, starts, nan, True, names)
        with np.errstate(over="ignore"):
            scores = scores.astype(precision) if precision == np.float32 else scores
        scores = tie_numbers(scores, starts, tolerance)
        scored = {
            name: dict(zip(scored.get(name, {}), scores[start:stop].tolist()))
            for name, start, stop in zip(names, starts, starts[1:])
        }
    rankings = _rankings(judgments, scored, names, scores, starts, unjudged, precision, nan)
    level_of = {level: number for number, level in enumerate(rankings.levels.tolist())}

    def by_id(query: int, tied: Integers) -> tuple[Integers, NDArray[np.bool_]]:
        docs, judged = list(scored[names[query]]), judgments[names[query]]
        ordered = sorted((docs[i] for i in tied), key=str, reverse=True)
        levels = [judged.get(doc, -1) for doc in ordered]
        numbers = np.array([level_of[max(0.0, float(level))] for level in levels], dtype=np.int64)
        return numbers, np.array(levels) >= 0

    return names, rankings.table(True, by_id, n_jobs)


def _queries(judgments: Run, scored: Run, queries: Queries) -> list[str]:
    """Return the names of the queries that count."""
    both = [query for query in judgments if query in scored]
    if not both:
        given = (f"{next(iter(each), None)!r}, ..." for each in (judgments, scored))
        raise ValueError(
            "qrels and run must have a query in common. "
            f"Got queries {' in qrels and '.join(given)} in run."
        )
    if queries == "equal" and not len(both) == len(judgments) == len(scored):
        raise ValueError(
            "queries='equal' needs the same queries in qrels and run. Got "
            f"{len(judgments) - len(both)} of qrels that are not in run, and "
            f"{len(scored) - len(both)} of run that are not in qrels."
        )
    return list(judgments) if queries == "judged" else both


def _scores(scored: Run, names: list[str]) -> tuple[NDArray[Any], Integers]:
    """Return all scores, one query after the other, and where each begins."""
    lists = [scored.get(name, {}) for name in names]
    starts = np.concatenate([[0], np.cumsum([len(each) for each in lists])]).astype(np.int64)
    scores = np.empty(starts[-1])
    try:
        for query, docs in enumerate(lists):
            of_query = np.fromiter(docs.values(), np.float64, len(docs))
            scores[starts[query] : starts[query + 1]] = of_query
        if not may_be_rounded(scores):
            return scores, starts
    except OverflowError:
        pass  # an integer of hundreds of digits, which is compared as it is
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"run must hold numbers: the scores of query {names[query]!r} are not ({error})."
        ) from error
    given = [value for docs in lists for value in docs.values()]
    return exact_numbers(given, "scores of run"), starts


def _rankings(
    judgments: Run,
    scored: Run,
    names: list[str],
    scores: NDArray[Any],
    starts: Integers,
    unjudged: Unjudged,
    precision: np.dtype,
    nan: NaNScores,
) -> Rankings:
    """Look up the judged items among the retrieved ones."""
    found: list[Any] = []
    of_all: list[float] = []
    n_judgments = []
    for name in names:
        judged = judgments[name]
        found.extend(map(scored.get(name, {}).get, judged, repeat(_NOT_RETRIEVED)))
        of_all.extend(judged.values())
        n_judgments.append(len(judged))
    try:
        levels = np.array(of_all, dtype=np.float64)
    except OverflowError as error:
        raise ValueError("qrels must hold relevance levels that a float holds.") from error
    of_judged = np.array(found, dtype=np.float64)
    is_missed = np.isnan(of_judged)
    is_missed[is_missed] = [found[place] is _NOT_RETRIEVED for place in np.flatnonzero(is_missed)]
    query_of = np.repeat(np.arange(len(names)), n_judgments)
    is_relevant, is_irrelevant = ((levels > 0) & ~is_missed, (levels == 0) & ~is_missed)
    is_missed &= levels >= 0
    ends = np.zeros((2, len(names) + 1), dtype=np.int64)
    for row, mask in zip(ends, (is_relevant, is_irrelevant)):
        np.cumsum(np.bincount(query_of[mask], minlength=len(names)), out=row[1:])
    n_judged = int(ends[:, -1].sum())
    if n_judged == 0:
        _refuse_other_names(judgments, scored, names)
    if unjudged == "error" and n_judged < len(scores):
        raise ValueError(
            "unjudged='error' needs a judgment of every retrieved item. "
            f"{len(scores) - n_judged:,} of {len(scores):,} have none."
        )
    missed_levels, of_relevant = levels[is_missed], levels[is_relevant]
    known = np.union1d(np.array([0.0]), np.concatenate([of_relevant, missed_levels]))
    of_missed = np.stack([query_of[is_missed], np.searchsorted(known, missed_levels)], axis=1)
    numbers = without_nan(scores, starts, nan, True, names)
    with np.errstate(over="ignore"):
        rounded = numbers.astype(precision, copy=False)
        relevant, irrelevant = (
            _looked_up(of_judged[mask], precision) for mask in (is_relevant, is_irrelevant)
        )
    return Rankings(
        known,
        rounded,
        starts,
        relevant,
        ends[0],
        np.searchsorted(known, of_relevant).astype(np.int64),
        irrelevant,
        ends[1],
        of_missed.astype(np.int64),
    )


def _refuse_other_names(judgments: Run, scored: Run, names: list[str]) -> None:
    """Refuse items named by numbers on one side and by text on the other: none is ever found."""
    kinds = [
        {type(doc) for name in names for doc in of.get(name, {})} for of in (judgments, scored)
    ]
    if all(kinds) and not kinds[0] & kinds[1]:
        given = (" and ".join(sorted(kind.__name__ for kind in each)) for each in kinds)
        raise ValueError(
            "items must have names of one type in qrels and run, such as str. "
            f"Got {' in qrels and '.join(given)} in run."
        )


def _looked_up(scores: NDArray[np.float64], precision: np.dtype) -> NDArray[Any]:
    """Return scores as `without_nan` gave them."""
    array: NDArray[Any] = scores.astype(precision)
    array[np.isnan(array)] = -np.inf
    return array
