"""Fit a hasher, encode with it and evaluate the codes: one run of a comparison."""

import math
import signal
import threading
import time
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from sklearn.base import clone

from .._utils.callbacks import watch_iterations
from .._utils.threads import one_blas_thread
from ..affinity._protocol import BaseAffinity
from ..metrics._configured import ConfiguredMeasure
from ..metrics._counting import retrieval_histogram
from ..metrics._distances import distance_histogram
from ..metrics._retrieval import Encoded, encode, unwrap
from ..model_selection._splits import RetrievalSplit
from ..neighbors._hamming_neighbors import HammingNeighbors
from ._columns import HISTORY, SEARCHED, measure_codes, measure_ranking
from ._rescored import Rescoring, fastest, measure_rescoring, projections_of, rescore_own
from ._search_methods import OwnDistance

_WARM_UP_ROWS = 100
_ENCODINGS, _LONG_ENOUGH = 3, 1.0  # seconds; a time of so many varies little
_warm: set[frozenset[type]] = set()


@dataclass(frozen=True)
class Run:
    """What is to be run: a method, by its name in tables, at one code length and one seed."""

    method: str
    hasher: Any  # not fitted, with every parameter set
    n_bits: int  # 0 where the hasher has a width of its own
    seed: int  # of the split and of the hasher
    key: str | None  # digest of all settings; None where there is none, and nothing is kept


@dataclass(frozen=True)
class RunResult:
    """Result of a run: scores, curves and warnings, or why it failed.

    Parameters
    ----------
    method : str
        The name it has in tables.
    n_bits : int
        Length of the codes; 0 where a run without a length set for it failed.
    seed : int
        The seed of the split, and of whatever the hasher samples.
    scores : dict of str to float
        Every measure, bounds over tie orders, times and sizes; empty where the run failed.
    curves : dict of str to list
        Values of the curves that the pictures of the report show.
    notes : list of str
        Warnings that were raised meanwhile.
    measured_on : str
        Where times were measured, and how many runs went on at a time.
    error : str
        Why the run failed; empty where it did not.
    kept : bool
        Whether it was read from an earlier comparison.

    Examples
    --------
    >>> from sklearn_hashrank.comparison import RunResult
    >>> RunResult("itq", n_bits=12, seed=0, scores={"ap": 0.6}).scores["ap"]
    0.6
    """

    method: str
    n_bits: int
    seed: int
    scores: dict[str, float] = field(default_factory=dict)
    curves: dict[str, Any] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    measured_on: str = ""
    error: str = ""
    kept: bool = False


def execute(
    run: Run,
    X: Any,
    y: Any,
    split: RetrievalSplit,
    affinity: BaseAffinity,
    measures: dict[str, ConfiguredMeasure],
    rescoring: Rescoring | None = None,
    is_searched: bool = False,
) -> RunResult:
    """Fit, encode and evaluate, on one thread, so that neither numbers nor times depend on n_jobs.

    `affinity` is fitted on the training rows. `measures` are objects and not names, because other
    processes do not know a measure that a user registered. `is_searched` adds the
    columns of searches. The result has an `error` where the method raised one.
    """
    try:
        with one_blas_thread(), warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            warm_up(run.hasher, X, y, split, affinity)
            n_bits, scores, curves = _fit_and_measure(
                run, X, y, split, affinity, measures, rescoring, is_searched
            )
    except Exception as error:  # one method must not end the comparison of the others
        message = " ".join(f"{type(error).__name__}: {error}".split())
        return RunResult(run.method, run.n_bits, run.seed, error=message)
    notes = sorted({" ".join(str(warning.message).split()) for warning in caught})
    return RunResult(run.method, n_bits, run.seed, scores, curves, notes)


@contextmanager
def interrupts_ignored() -> Iterator[None]:
    """Ignore Ctrl-C for a moment, and for good in processes that are started meanwhile."""
    handler = signal.getsignal(signal.SIGINT)
    if handler is None or threading.current_thread() is not threading.main_thread():
        yield
        return
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, handler)


class Timed(NamedTuple):
    """A hasher, fitted, and what it made of queries and database, with the times it took."""

    hasher: Any
    queries: Encoded
    database: Encoded
    fit_seconds: float
    encode_microseconds: float  # for a row


def fit_and_encode(hasher: Any, X: Any, y: Any, split: RetrievalSplit) -> Timed:
    """Fit a clone on the training rows, and encode the others."""
    hasher = clone(hasher)
    X_train, y_train = X[split.train], None if y is None else y[split.train]
    start = time.perf_counter()
    hasher.fit(X_train, y_train)
    fit_seconds = time.perf_counter() - start
    queries, database = X[split.query], X[split.database]
    if hasattr(hasher, "encode_rows"):  # codes that are there have no times
        fit_seconds = encode_seconds = math.nan
        of_queries = hasher.encode_rows(split.query, X)
        of_database = hasher.encode_rows(split.database, X)
    else:
        of_queries, of_database, encode_seconds = _timed_codes(hasher, queries, database)
    n_encoded = len(split.query) + len(split.database)
    microseconds = 1e6 * encode_seconds / n_encoded
    return Timed(hasher, of_queries, of_database, fit_seconds, microseconds)


def _fit_and_measure(run, X, y, split, affinity, measures, rescoring, is_searched):
    if isinstance(run.hasher, OwnDistance):
        return _fit_and_rank(run, X, y, split, affinity, measures, rescoring)
    timed = fit_and_encode(run.hasher, X, y, split)
    of_queries, of_database = timed.queries, timed.database
    compared = X if y is None else y
    scores, curves = measure_codes(
        of_queries.codes,
        of_database.codes,
        compared[split.query],
        compared[split.database],
        n_bits=of_queries.n_bits,
        affinity=affinity,
        measures=measures,
        n_jobs=1,
    )
    if rescoring is not None:
        scores |= measure_rescoring(
            rescoring,
            of_queries._replace(rows=X[split.query]),
            of_database,
            projections_of(timed.hasher, of_queries),
            X,
            split.database,
            (compared[split.query], compared[split.database]),
            affinity,
        )
    if is_searched:
        scores |= _searched(timed, X[split.query])
    curves[HISTORY] = _objectives(timed.hasher)
    scores["fit_seconds"] = timed.fit_seconds
    scores["encode_microseconds"] = timed.encode_microseconds
    return of_queries.n_bits, scores | _sizes(split), curves


def _fit_and_rank(run, X, y, split, affinity, measures, rescoring):
    """Measure a method that ranks by a distance of its own."""
    hasher = clone(run.hasher)
    start = time.perf_counter()
    hasher.fit(X[split.train], None if y is None else y[split.train])
    fit_seconds = time.perf_counter() - start
    queries, database = X[split.query], X[split.database]
    seconds, index = fastest(lambda: hasher.index(database))
    compared = X if y is None else y
    of_rows = compared[split.query], compared[split.database]
    distances = index.distances(queries)
    histogram = distance_histogram(distances, *of_rows, affinity=affinity)
    scores, curves = measure_ranking(histogram, measures)
    if rescoring is not None:
        numbers = split.database
        scores |= rescore_own(rescoring, index, queries, X, numbers, of_rows, histogram, affinity)
    n_neighbors = min(SEARCHED, len(database))
    search_seconds, _ = fastest(lambda: index.nearest(queries, n_neighbors))
    scores["item_bytes"] = index.item_bytes
    scores["search_microseconds"] = 1e6 * search_seconds / len(queries)
    scores["fit_seconds"] = fit_seconds
    scores["encode_microseconds"] = 1e6 * seconds / len(database)
    return index.n_bits, scores | _sizes(split), curves


def _searched(timed: Timed, queries: Any) -> dict[str, float]:
    """Bytes of a code, and the time to encode queries and to find codes by Hamming distance."""
    codes, n_bits = timed.database.codes, timed.database.n_bits
    index = HammingNeighbors(min(SEARCHED, len(codes)), n_bits=n_bits, n_jobs=1).fit(codes)
    are_given = hasattr(timed.hasher, "encode_rows")  # and nothing encodes queries

    def search():
        return index.kneighbors(encode(timed.hasher, queries).codes, return_distance=False)

    seconds = math.nan if are_given else fastest(search)[0]
    return {
        "item_bytes": codes.shape[1],
        "search_microseconds": 1e6 * seconds / len(timed.queries.codes),
    }


def _sizes(split: RetrievalSplit) -> dict[str, int]:
    train, query, database = map(len, split)
    return {"n_train": train, "n_queries": query, "n_database": database}


def _objectives(hasher: Any) -> list[float]:
    """Values of the objective after each pass, of hashers that keep them."""
    history = getattr(unwrap(hasher)[1], "history_", None)
    if not isinstance(history, Mapping) or "objective" not in history:
        return []
    return [float(value) for value in history["objective"]]


def _timed_codes(hasher: Any, queries: Any, database: Any) -> tuple[Encoded, Encoded, float]:
    """Codes, and the seconds of the fastest encoding."""
    times: list[float] = []
    while len(times) < _ENCODINGS and sum(times) < _LONG_ENOUGH:
        start = time.perf_counter()
        of_queries, of_database = encode(hasher, queries), encode(hasher, database)
        times.append(time.perf_counter() - start)
    return of_queries, of_database, min(times)


def warm_up(hasher: Any, X: Any, y: Any, split: RetrievalSplit, affinity: Any) -> None:
    """Compile, or load, what such a hasher uses, so that it is not counted as training."""
    if isinstance(hasher, OwnDistance):
        hasher = getattr(hasher, "estimator", None)
        if hasher is None:
            return
    types = frozenset(_types_inside(hasher))
    if types in _warm:
        return
    _warm.add(types)
    rows = split.train[:: max(1, len(split.train) // _WARM_UP_ROWS)]
    with warnings.catch_warnings(), watch_iterations(None):
        warnings.simplefilter("ignore")
        try:
            y_train = None if y is None else y[rows]
            codes, n_bits, _ = encode(clone(hasher).fit(X[rows], y_train), X[rows])
            compared = X[rows] if y is None else y_train
            retrieval_histogram(codes, codes, compared, compared, affinity=affinity, n_bits=n_bits)
        except Exception:  # such as too few rows of a class; the run itself has them all
            return


def _types_inside(estimator: Any) -> set[type]:
    """Types of an estimator and of the estimators inside of it."""
    inside = [value for value in estimator.get_params().values() if hasattr(value, "get_params")]
    return {type(each) for each in (estimator, *inside)}
