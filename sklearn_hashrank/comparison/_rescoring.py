"""Measure what rescoring finds and costs: rankings by codes, asymmetric distances and floats."""

import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse

from .._features.nearest_rows import METRICS
from .._utils.parameters import is_int
from ..affinity._neighbors import NeighborAffinity
from ..affinity._protocol import BaseAffinity
from ..codes._formats import pack_signs
from ..metrics._evaluation import mean_over_queries
from ..metrics._histogram import RetrievalHistogram
from ..metrics._retrieval import Encoded, unwrap
from ..neighbors._hamming_neighbors import HammingNeighbors
from ..neighbors._rescore import rescore
from ._columns import Column

_SEARCHES = 3  # the first loads the kernels


@dataclass(frozen=True)
class Rescoring:
    """Columns that measure what rescoring the nearest codes finds and costs.

    The first ranking is by Hamming distance. The second is by the asymmetric distance to the
    projections of the query. The third sorts the ``oversampling * n_neighbors`` nearest codes by
    the distance `metric` between original vectors, and reads the candidates' only.
    """

    n_neighbors: int = 10
    oversampling: int = 10
    metric: str = "cosine"

    def __post_init__(self) -> None:
        for name in ("n_neighbors", "oversampling"):
            value = getattr(self, name)
            if not is_int(value, 1):
                raise ValueError(f"{name} must be an int >= 1. Got {value!r} instead.")
        if self.metric not in METRICS:
            raise ValueError(f"metric must be one of {METRICS}. Got {self.metric!r} instead.")

    def columns(self, affinity: Any = "auto") -> tuple[Column, ...]:
        """Shares of relevant items, recalls if as many nearest rows are relevant, and costs."""
        k, n = self.n_neighbors, self.oversampling * self.n_neighbors
        share, of = "P", f"Share of relevant items among the {k} nearest"
        if isinstance(affinity, NeighborAffinity) and affinity.n_neighbors == k:
            share, of = "recall", f"Share of the {k} nearest rows that are among the {k} nearest"
        costs = {
            "codes": "Hamming distances of all codes",
            "asymmetric": "asymmetric distances of all codes",
            "floats": f"Hamming distances of all codes, {self.metric} distances of {n} rows",
        }
        return (
            Column(
                "near_codes", f"{share}@{k}, codes", f"{of} by Hamming distance, ties in any order."
            ),
            Column(
                "near_asymmetric",
                f"{share}@{k}, asymmetric",
                f"{of} by asymmetric distance.",
            ),
            Column(
                "near_floats",
                f"{share}@{k}, floats",
                f"{of} by {self.metric} distance, of {n} candidates by Hamming distance, or by "
                "the method's own.",
            ),
            *(
                Column(
                    f"{name}_microseconds",
                    f"Search by {name}, µs per query",
                    f"Microseconds of one thread, fastest of three: {text}.",
                    best="lowest",
                    is_time=True,
                )
                for name, text in costs.items()
            ),
            Column(
                "code_bytes",
                "Bytes per item, codes",
                "Memory of a code, which the first two rankings need.",
                best="lowest",
                is_time=True,
            ),
            Column(
                "row_bytes",
                "Bytes per item, floats",
                "Size of a row of floats, which the third ranking reads for candidates.",
                best="lowest",
                is_time=True,
            ),
        )


def read_rescoring(rescore: Any, X: Any) -> Rescoring | None:
    """Return what the argument `rescore` of :func:`compare` stands for."""
    if rescore is None:
        return None
    if isinstance(rescore, Mapping):
        found = Rescoring(**rescore)
    else:
        found = replace(Rescoring(), n_neighbors=rescore)
    if sparse.issparse(X):
        raise ValueError("rescore reads rows of floats: X must be dense. Got a sparse X.")
    return found


def measure_rescoring(
    rescoring: Rescoring,
    nearest: Callable[[int], np.ndarray],
    queries: Any,
    rows: Any,
    numbers: np.ndarray,
    y: tuple[Any, Any],
    affinity: BaseAffinity,
    histogram: RetrievalHistogram,
    codes: Encoded | None = None,
    projections: np.ndarray | None = None,
) -> dict[str, float]:
    """Measure every column; what the first ranking does not have is NaN.

    The database is ``rows[numbers]``. ``nearest(n)`` gives the first `n` items of each query by the
    first ranking, which `histogram` has counted. `codes` are those of the database if the first
    ranking is by Hamming distance, `projections` those of the queries if their signs are the codes.
    """
    n_items = len(numbers)
    k = min(rescoring.n_neighbors, n_items)
    n_candidates = min(k * rescoring.oversampling, n_items)
    shares = histogram.precision(k=k)
    scores = dict.fromkeys((column.name for column in rescoring.columns()), math.nan)
    scores["row_bytes"] = rows.dtype.itemsize * rows.shape[1]
    place = np.full(rows.shape[0] + 1, -1)  # the last for items that are not found
    place[numbers] = np.arange(n_items)

    def measure(name, search):
        seconds, found = fastest(search)
        scores[f"{name}_microseconds"] = 1e6 * seconds / len(found)
        if name != "codes":
            scores[f"near_{name}"] = _share_of_relevant(affinity, *y, found, ~np.isnan(shares))

    def by_floats():
        found = nearest(n_candidates)
        candidates = np.where(found < 0, -1, numbers[found])
        return place[rescore(queries, rows, candidates, k, metric=rescoring.metric)[1]]

    if codes is not None:
        scores["near_codes"] = float(mean_over_queries(shares))
        scores["code_bytes"] = codes.codes.shape[1]
        measure("codes", lambda: nearest(k))
        if projections is not None:
            asymmetric = HammingNeighbors(
                k, n_bits=codes.n_bits, distance="asymmetric", n_jobs=1
            ).fit(codes.codes)
            measure("asymmetric", lambda: asymmetric.kneighbors(projections)[1])
    measure("floats", by_floats)
    return scores


def projections_of(hasher: Any, of_queries: Encoded) -> np.ndarray | None:
    """Projections of the queries, where their signs are the code."""
    hasher = unwrap(hasher)[1]
    if not hasattr(hasher, "decision_function"):
        return None
    projections = np.asarray(hasher.decision_function(of_queries.rows))
    if projections.ndim != 2 or projections.shape[1] != of_queries.n_bits:
        return None
    return projections if np.array_equal(pack_signs(projections), of_queries.codes) else None


def fastest(search: Callable[[], Any]) -> tuple[float, Any]:
    """Seconds of the fastest of some searches, and what it found."""
    seconds = math.inf
    for _ in range(_SEARCHES):
        start = time.perf_counter()
        found = search()
        seconds = min(seconds, time.perf_counter() - start)
    return seconds, found


def _share_of_relevant(affinity, query_y, database_y, found, counted):
    """Mean share of relevant items among those found, over the queries that count."""
    if not counted.any():
        return math.nan
    queries = affinity.validate(query_y, "query y")
    distinct, places = np.unique(found, return_inverse=True)  # all rows may not fit into memory
    database = affinity.validate(database_y[distinct], "database y")
    comparing, queries = affinity.of_queries(queries)
    pairs = np.repeat(np.arange(len(found)), found.shape[1])
    levels = comparing.paired_level_indices(queries[pairs], database[places.ravel()])
    are_relevant = (levels.reshape(found.shape) > 0) & (found >= 0)
    return float(are_relevant[counted].mean())
