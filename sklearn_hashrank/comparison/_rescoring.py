"""Rankings by codes, by asymmetric distances and by floats: what each finds, and what it costs."""

import time
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np

from ..affinity import fit_affinity
from ..base import pack_signs
from ..histogram import retrieval_histogram
from ..measures import mean_over_queries
from ..metrics.retrieval import Encoded, unwrap
from ..neighbors import DISTANCES, HammingNeighbors, rescore
from ._measuring import Column


@dataclass(frozen=True)
class Rescoring:
    """What is found when the nearest codes are rescored, as columns of a comparison.

    The first ranking is by Hamming distance. The second puts the nearest codes in order of their
    asymmetric distance to the projections of the query. The third puts them in order of the
    distance between floats, of which it reads the candidates' only.

    Parameters
    ----------
    n_neighbors : int, default=10
        How many items of each ranking count.
    oversampling : int, default=10
        Candidates are the ``oversampling * n_neighbors`` nearest codes.
    metric : {"cosine", "euclidean", "inner_product"}, default="cosine"
        Distance between floats.

    Examples
    --------
    >>> from sklearn_hashrank.comparison import Rescoring
    >>> [column.title for column in Rescoring(5).columns][:3]
    ['P@5, codes', 'P@5, asymmetric', 'P@5, floats']
    """

    n_neighbors: int = 10
    oversampling: int = 10
    metric: str = "cosine"

    def __post_init__(self) -> None:
        for name in ("n_neighbors", "oversampling"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, Integral) or value < 1:
                raise ValueError(f"{name} must be an int >= 1. Got {value!r} instead.")
        if self.metric not in DISTANCES:
            raise ValueError(f"metric must be one of {DISTANCES}. Got {self.metric!r} instead.")

    @property
    def columns(self) -> tuple[Column, ...]:
        """Shares of relevant items, then costs."""
        k, n = self.n_neighbors, self.oversampling * self.n_neighbors
        of = f"Share of relevant items among the {k} nearest"
        costs = {
            "codes": "Hamming distances of all codes",
            "asymmetric": f"Hamming distances of all codes, asymmetric distances of {n}",
            "floats": f"Hamming distances of all codes, {self.metric} distances of {n} rows",
        }
        return (
            Column("near_codes", f"P@{k}, codes", f"{of} by Hamming distance, ties in any order."),
            Column(
                "near_asymmetric",
                f"P@{k}, asymmetric",
                f"{of} by asymmetric distance, of {n} candidates by Hamming distance.",
            ),
            Column(
                "near_floats",
                f"P@{k}, floats",
                f"{of} by {self.metric} distance, of {n} candidates by Hamming distance.",
            ),
            *(
                Column(
                    f"{name}_microseconds",
                    f"Search by {name}, µs per query",
                    f"Microseconds of one thread: {text}.",
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


def measure_rescoring(
    rescoring: Rescoring,
    hasher: Any,
    of_queries: Encoded,
    of_database: Encoded,
    X: Any,
    query: np.ndarray,
    database: np.ndarray,
    compared: Any,
    affinity: Any,
) -> dict[str, float]:
    """Scores of all columns of a rescoring.

    Parameters
    ----------
    rescoring : Rescoring
        How many neighbours and candidates.
    hasher : estimator
        That encoded the rows. Without projections whose signs are the code, what belongs to
        asymmetric distances is NaN.
    of_queries, of_database : Encoded
        Codes of queries and items.
    X : ndarray or memmap of shape (n_samples, n_features)
        All rows.
    query, database : ndarray of int
        Which of them are queries and items.
    compared : array-like with n_samples rows
        What the affinity compares.
    affinity : affinity object
        Relevance; one that is not fitted is fitted on the database.
    """
    n_bits, n_items = of_database.n_bits, len(database)
    k = min(rescoring.n_neighbors, n_items)
    n_candidates = min(k * rescoring.oversampling, n_items)
    fitted = fit_affinity(affinity, compared[database])
    relevance = compared[query], compared[database]
    histogram = retrieval_histogram(
        of_queries.codes, of_database.codes, *relevance, affinity=fitted, n_bits=n_bits, n_jobs=1
    )
    shares = histogram.precision(k=k)
    counted = ~np.isnan(shares)
    index = HammingNeighbors(k, n_bits=n_bits, n_jobs=1).fit(of_database.codes)
    index.kneighbors(of_queries.codes[:1])  # loads the kernels
    seconds, _ = _timed(lambda: index.kneighbors(of_queries.codes))
    scores = {
        "near_codes": float(mean_over_queries(shares)),
        "near_asymmetric": np.nan,
        "codes_microseconds": seconds,
        "asymmetric_microseconds": np.nan,
        "code_bytes": of_database.codes.shape[1],
        "row_bytes": X.dtype.itemsize * X.shape[1],
    }

    def share(found):
        return _share_of_relevant(fitted, *relevance, found, counted)

    projections = _projections(hasher, of_queries)
    if projections is not None:
        asymmetric = HammingNeighbors(
            k, n_bits=n_bits, rescore="asymmetric", n_candidates=n_candidates, n_jobs=1
        ).fit(of_database.codes)
        asymmetric.kneighbors(projections=projections[:1])
        seconds, (_, found) = _timed(lambda: asymmetric.kneighbors(projections=projections))
        scores |= {"near_asymmetric": share(found), "asymmetric_microseconds": seconds}

    def by_floats():
        _, candidates = index.kneighbors(of_queries.codes, n_candidates)
        return rescore(X[query], X, database[candidates], k, metric=rescoring.metric, n_jobs=1)

    seconds, (_, rows) = _timed(by_floats)
    place = np.full(X.shape[0], -1)
    place[database] = np.arange(n_items)
    scores |= {"near_floats": share(place[rows]), "floats_microseconds": seconds}
    for name in ("codes", "asymmetric", "floats"):
        scores[f"{name}_microseconds"] *= 1e6 / len(query)
    return scores


def _timed(search):
    start = time.perf_counter()
    found = search()
    return time.perf_counter() - start, found


def _projections(hasher: Any, of_queries: Encoded) -> np.ndarray | None:
    """Projections of the queries, where their signs are the code."""
    hasher = unwrap(hasher)[1]
    if not hasattr(hasher, "decision_function"):
        return None
    projections = np.asarray(hasher.decision_function(of_queries.rows))
    if projections.ndim != 2 or projections.shape[1] != of_queries.n_bits:
        return None
    return projections if np.array_equal(pack_signs(projections), of_queries.codes) else None


def _share_of_relevant(affinity, query_y, database_y, found, counted):
    """Mean share of relevant items among those found, over the queries that count."""
    if not counted.any():
        return np.nan
    queries = affinity.validate(query_y, "query y")
    database = affinity.validate(database_y, "database y")
    comparing, queries = affinity.of_queries(queries)
    pairs = np.repeat(np.arange(len(found)), found.shape[1])
    levels = comparing.paired_level_indices(queries[pairs], database[found.ravel()])
    return float((levels.reshape(found.shape)[counted] > 0).mean())
