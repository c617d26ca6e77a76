"""Fit a hasher, encode with it and evaluate the codes: one run of a comparison."""

import math
import time
import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from sklearn.base import clone

from .._utils.threads import one_blas_thread
from ..affinity._auto import fit_affinity
from ..affinity._protocol import BaseAffinity
from ..metrics._configured import ConfiguredMeasure
from ..metrics._counting import retrieval_histogram
from ..metrics._distances import distance_histogram
from ..metrics._given_codes import GivenCodes
from ..metrics._histogram import RetrievalHistogram
from ..metrics._retrieval import Encoded, encode
from ..model_selection._splits import RetrievalSplit
from ..neighbors._hamming_neighbors import HammingNeighbors
from ._columns import SEARCHED, evaluate_histogram
from ._own_distance import OwnDistance
from ._rescoring import Rescoring, fastest, measure_rescoring, projections_of

CHANCE = "chance"
"""Name of the row of constant codes in tables and figures."""

_WARM_UP_ROWS = 100  # enough rows of each class for most learners
_ENCODINGS, _LONG_ENOUGH = 3, 1.0  # seconds; a time of so many varies little
_warm: set[frozenset[type]] = set()


@dataclass(frozen=True)
class Run:
    """A method, by its name in tables, at one code length and under the split of one seed."""

    method: str
    hasher: Any  # not fitted, with every parameter set
    n_bits: int  # 0 where the hasher has a width of its own
    seed: int  # of the split and of the hasher
    split: RetrievalSplit
    affinity: BaseAffinity  # fitted on the training rows
    key: str | None = None  # digest of all that the numbers depend on; None: nothing is kept


@dataclass(frozen=True)
class Evaluation:
    """What is measured of every run: objects and not names, which other processes may not know."""

    measures: Mapping[str, ConfiguredMeasure]
    rescoring: Rescoring | None = None
    with_search: bool = False  # whether searches are timed


@dataclass(frozen=True)
class RunResult:
    """Result of a run: scores, curves and warnings, or why it failed.

    `scores` are empty where the run failed, and `error` where it did not. `n_bits` is 0 where a run
    without a length set for it failed. `machine` says where times were measured.
    """

    method: str
    n_bits: int
    seed: int
    scores: dict[str, float] = field(default_factory=dict)
    curves: dict[str, Any] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)
    machine: str = ""
    error: str = ""
    from_store: bool = False

    def __str__(self) -> str:
        text = f"{self.method}, {self.n_bits} bits, seed {self.seed}: "
        if self.error:
            return f"{text}failed: {self.error}"
        measure, value = next(iter(self.scores.items()))
        seconds = self.scores["fit_seconds"]
        how = "given" if math.isnan(seconds) else f"trained in {seconds:.2g} s"
        how = "kept from an earlier run" if self.from_store else how
        return f"{text}{measure} {value:.3f}, {how}"


def execute(run: Run, X: Any, y: Any, evaluation: Evaluation) -> RunResult:
    """Fit, encode and evaluate, on one thread, so numbers and times do not depend on n_jobs."""
    try:
        with one_blas_thread(), warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            _warm_up(run, X, y)
            n_bits, scores, curves = _measure(run, X, y, evaluation)
    except Exception as error:  # one method must not end the comparison of the others
        message = " ".join(f"{type(error).__name__}: {error}".split())
        return RunResult(run.method, run.n_bits, run.seed, error=message)
    train, query, database = map(len, run.split)
    scores |= {"n_train": train, "n_queries": query, "n_database": database}
    said = sorted({" ".join(str(warning.message).split()) for warning in caught})
    return RunResult(run.method, n_bits, run.seed, scores, curves, said)


def measure_chance(
    lengths: Iterable[int], run: Run, compared: Any, evaluation: Evaluation, n_jobs: int | None
) -> list[RunResult]:
    """Measure codes of which all bits are 0, under the split and the affinity of a run.

    All items are tied. A measure of a ranking is its mean over every order of the database, and
    nothing lies outside of any radius. Pairs are counted once: longer codes have the same counts at
    distance 0, and none beyond.
    """
    query, database = run.split.query, run.split.database
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # every run has said the same
        histogram = retrieval_histogram(
            np.zeros((len(query), 1), dtype=np.uint8),
            np.zeros((len(database), 1), dtype=np.uint8),
            compared[query],
            compared[database],
            n_bits=1,
            affinity=run.affinity,
            keep_codes=True,
            n_jobs=n_jobs,
        )
        return [_chance(n_bits, histogram, run.seed, evaluation) for n_bits in lengths]


def _chance(
    n_bits: int, histogram: RetrievalHistogram, seed: int, evaluation: Evaluation
) -> RunResult:
    counts = np.zeros((*histogram.counts.shape[:2], n_bits + 1), dtype=np.int64)
    counts[:, :, 0] = histogram.counts[:, :, 0]
    kept: Any = histogram.kept_codes
    try:
        of_length = RetrievalHistogram(counts, histogram.levels, replace(kept, n_bits=n_bits))
        scores, curves = evaluate_histogram(of_length, evaluation.measures)
    except Exception as error:  # as of a user's measure, which may fail for such codes alone
        return RunResult(CHANCE, n_bits, seed, error=f"{type(error).__name__}: {error}")
    return RunResult(CHANCE, n_bits, seed, scores, curves)


def _measure(
    run: Run, X: Any, y: Any, evaluation: Evaluation
) -> tuple[int, dict[str, float], dict[str, Any]]:
    train, query, database = run.split
    hasher, X_train, y_train = clone(run.hasher), X[train], None if y is None else y[train]
    start = time.perf_counter()
    hasher.fit(X_train, y_train)
    fit_seconds = time.perf_counter() - start
    compared = X if y is None else y
    of_rows = compared[query], compared[database]
    affinity = fit_affinity(run.affinity, of_rows[1])
    queries = X[query]
    codes = projections = None
    if isinstance(hasher, OwnDistance):
        seconds, index = fastest(lambda: hasher.index(X[database]))
        encode_seconds = seconds / len(database)
        n_bits, item_bytes = index.n_bits, index.item_bytes
        distances = index.distances(queries)
        histogram = distance_histogram(distances, *of_rows, affinity=affinity)

        def nearest(n_neighbors):
            return index.nearest(queries, n_neighbors)

        search = nearest
    else:
        if isinstance(hasher, GivenCodes):  # codes that are there have no times
            encoded = hasher.encode_rows(query, queries)
            codes = hasher.encode_rows(database, None)
            fit_seconds = encode_seconds = math.nan
        else:
            encoded, codes, seconds = _timed_codes(hasher, queries, X[database])
            encode_seconds = seconds / (len(query) + len(database))
            if evaluation.rescoring is not None:
                projections = projections_of(hasher, encoded)
        n_bits, item_bytes = encoded.n_bits, codes.codes.shape[1]
        histogram = retrieval_histogram(
            encoded.codes,
            codes.codes,
            *of_rows,
            n_bits=n_bits,
            affinity=affinity,
            keep_codes=True,
            n_jobs=1,
        )
        neighbors = HammingNeighbors(n_bits=n_bits, n_jobs=1)
        if evaluation.rescoring is not None or evaluation.with_search:
            neighbors.fit(codes.codes)

        def nearest(n_neighbors):
            return neighbors.kneighbors(encoded.codes, n_neighbors)[1]

        def search(n_neighbors):
            return neighbors.kneighbors(encode(hasher, queries).codes, n_neighbors)[1]

    scores, curves = evaluate_histogram(histogram, evaluation.measures)
    if evaluation.rescoring is not None:
        scores |= measure_rescoring(
            evaluation.rescoring,
            nearest,
            queries,
            X,
            database,
            of_rows,
            affinity,
            histogram,
            codes,
            projections,
        )
    if evaluation.with_search:
        n_neighbors = min(SEARCHED, len(database))
        is_timed = not isinstance(hasher, GivenCodes)
        seconds = fastest(lambda: search(n_neighbors))[0] if is_timed else math.nan
        scores["item_bytes"] = item_bytes
        scores["search_microseconds"] = 1e6 * seconds / len(query)
    scores["fit_seconds"] = fit_seconds
    scores["encode_microseconds"] = 1e6 * encode_seconds
    return n_bits, scores, curves


def _timed_codes(hasher: Any, queries: Any, database: Any) -> tuple[Encoded, Encoded, float]:
    """Codes, and the seconds of the fastest encoding."""
    times: list[float] = []
    while len(times) < _ENCODINGS and sum(times) < _LONG_ENOUGH:
        start = time.perf_counter()
        of_queries, of_database = encode(hasher, queries), encode(hasher, database)
        times.append(time.perf_counter() - start)
    return of_queries, of_database, min(times)


def _warm_up(run: Run, X: Any, y: Any) -> None:
    """Compile, or load, what such a hasher uses, so that it is not counted as training."""
    hasher = run.hasher
    if isinstance(hasher, OwnDistance):
        hasher = getattr(hasher, "estimator", None)
    if hasher is None:
        return
    inside = [value for value in hasher.get_params().values() if hasattr(value, "get_params")]
    types = frozenset(map(type, (hasher, *inside)))
    if types in _warm:
        return
    _warm.add(types)
    rows = run.split.train[:: max(1, len(run.split.train) // _WARM_UP_ROWS)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            y_train = None if y is None else y[rows]
            codes, n_bits, _ = encode(clone(hasher).fit(X[rows], y_train), X[rows])
            compared = X[rows] if y is None else y_train
            retrieval_histogram(
                codes, codes, compared, compared, affinity=run.affinity, n_bits=n_bits
            )
        except Exception:  # such as too few rows of a class; the run itself has them all
            return
