"""Indexes whose codes come and go, with ids, masks and prefixes, against a literal sort."""

from collections import Counter

import numpy as np
from scipy import sparse

from sklearn_hashrank import HammingNeighbors

_BITS = (2, 7, 8, 9, 16, 63, 64, 65, 128, 129, 257)
_SIZES = (1, 2, 3, 10, 70, 300)
_SHARES = (0.0, 0.02, 0.5, 0.9, 1.0)


class SearchError(AssertionError):
    """A search that found something else than a literal sort does."""


def fuzz_searches(n_cases: int, seed: int, first: int = 0) -> Counter:
    """Search indexes of random codes, ids, masks, prefixes and algorithms.

    Parameters
    ----------
    n_cases : int
        Number of indexes. Each is searched up to three times, and changed in between.
    seed : int
    first : int, default=0
        Number of the first case.

    Returns
    -------
    counts : Counter
        Of searches by the kind of their mask.

    Raises
    ------
    SearchError
        At the first search that differs.
    """
    counts: Counter = Counter()
    for case in range(first, first + n_cases):
        try:
            counts += _live(np.random.default_rng((seed, case)))
        except Exception as error:
            raise SearchError(
                f"case {case}, seed {seed}: {type(error).__name__} {error}"
            ) from error
    return counts


def _live(rng) -> Counter:
    n_bits, n_rows = int(rng.choice(_BITS)), int(rng.choice(_SIZES))
    few = rng.integers(0, 2, (int(rng.choice((1, 2, 5, 300))), n_bits), dtype=np.uint8)
    rows = few[rng.integers(0, len(few), n_rows)]  # many are equal
    names = _names(rng, n_rows)
    as_given = (lambda codes: np.packbits(codes, axis=1)) if rng.random() < 0.5 else np.asarray
    there = np.arange(int(rng.integers(1, n_rows + 1)))
    has_prefix = rng.random() < 0.3
    options = {
        "n_bits": n_bits,
        "algorithm": str(rng.choice(("auto", "brute", "multi_index"))),
        "n_jobs": int(rng.choice((1, 2))),
    }
    if has_prefix:
        options["prefix"] = int(rng.integers(1, n_bits))
    if rng.random() < 0.2:
        options["distance"] = "asymmetric"
    index = HammingNeighbors(1, **options)
    index.fit(as_given(rows[there]), **({} if names is None else {"ids": names[there].tolist()}))
    seen, counts = len(there), Counter()
    for _ in range(3):
        n_queries = int(rng.choice((1, 2, 9, 70)))
        flips = (rng.random((n_queries, n_bits)) < 0.1).astype(np.uint8)
        queries = few[rng.integers(0, len(few), n_queries)] ^ flips
        counts[_search(rng, index, queries, rows[there], there, names, as_given)] += 1
        if len(there) > 1 and rng.random() < 0.5:
            gone = rng.choice(there, int(rng.integers(0, len(there))), replace=False)
            index.remove((gone if names is None else names[gone]).tolist())
            there = there[~np.isin(there, gone)]
        if seen < n_rows and rng.random() < 0.5:
            more = np.arange(seen, int(rng.integers(seen + 1, n_rows + 1)))
            buffer = as_given(rows[more])
            index.add(buffer, *([] if names is None else [names[more].tolist()]))
            buffer[:] = 0  # the index has a copy
            there, seen = np.append(there, more), int(more[-1]) + 1
    return counts


def _names(rng, n_rows):
    """Ids as an array of objects or integers; None: numbers of the rows."""
    order = rng.permutation(n_rows)
    kind = rng.choice(("none", "integers", "strings", "objects"))
    if kind == "none":
        return None
    if kind == "integers":
        return 10**12 - 7 * order
    names = np.empty(n_rows, dtype=object)
    names[:] = [f"item {n}" if kind == "strings" or n % 2 else (int(n), "é") for n in order]
    return names


def _mask(rng, n_queries, n_rows):
    """Kind of a mask, the mask, and what passes for each query."""
    own = rng.random((n_queries, n_rows)) < rng.choice(_SHARES)
    kind = str(rng.choice(("none", "for all", "of each", "sparse")))
    if kind == "none":
        return kind, None, np.ones_like(own)
    if kind == "for all":
        return kind, own[0], np.broadcast_to(own[0], own.shape)
    return kind, own if kind == "of each" else sparse.csr_matrix(own), own


def _search(rng, index, queries, rows, there, names, as_given):
    """Compare both searches with a literal sort; return the kind of the mask."""
    kind, mask, passes = _mask(rng, len(queries), len(rows))
    k = int(rng.integers(1, len(rows) + 1))
    n_candidates = None if rng.random() < 0.5 else int(rng.integers(k, len(rows) + 5))
    has_candidates = index.prefix is not None or index.distance == "asymmetric"
    if has_candidates:
        index.set_params(n_candidates=n_candidates)
    given, first, best_of = as_given(queries), *_distances(index, queries, rows, None)
    if index.distance == "asymmetric":
        sizes = rng.integers(0, 30, queries.shape) / 8  # whose sums are exact
        given = np.where(queries == 1, sizes + 0.125, -sizes)
        first, best_of = _distances(index, queries, rows, np.abs(given))
    distances, found = index.kneighbors(given, k, mask=mask)
    radius = int(rng.integers(0, queries.shape[1] + 1))
    near, within = index.radius_neighbors(as_given(queries), radius, True, True, mask=mask)
    ids = there if names is None else names[there]
    full = (queries[:, None] != rows).sum(axis=2)
    for query, passing in enumerate(map(np.flatnonzero, passes)):
        ranked = passing[np.argsort(full[query, passing], kind="stable")]
        best = ranked
        if has_candidates:
            nearest = np.argsort(first[query, passing], kind="stable")
            some = passing[nearest[: n_candidates or 10 * k]]
            best = some[np.lexsort((some, best_of[query, some]))]
        best = best[:k]
        n = len(best)
        farthest = np.inf if index.distance == "asymmetric" else -1
        expected = [*best_of[query, best], *[farthest] * (k - n)]
        _agree("distances", distances[query].tolist(), expected)
        _agree("ids", found[query, :n].tolist(), ids[best].tolist())
        nothing = -1 if names is None or names.dtype != object else None
        _agree("nothing", found[query, n:].tolist(), [nothing] * (k - n))
        ranked = ranked[full[query, ranked] <= radius]
        _agree("distances within", near[query].tolist(), full[query, ranked].tolist())
        _agree("ids within", within[query].tolist(), ids[ranked].tolist())
    return kind


def _distances(index, queries, rows, sizes):
    """Distances by which candidates are found, and by which they are sorted."""
    differ = queries[:, None] != rows
    if sizes is None:
        return differ[:, :, : index.prefix].sum(axis=2), differ.sum(axis=2)
    first = sizes[:, : index.prefix]
    largest = first.max(axis=1, keepdims=True)
    weights = np.rint(7 * np.divide(first, largest, out=np.zeros_like(first), where=largest > 0))
    rounded = np.einsum("qib,qb->qi", differ[:, :, : index.prefix], weights)
    return rounded, np.einsum("qib,qb->qi", differ, sizes)


def _agree(what, found, expected):
    if found != expected:
        raise SearchError(f"{what}: {found} where {expected} is right")
