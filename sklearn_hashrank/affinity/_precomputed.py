"""Relevance from a given matrix."""

from typing import Any

import numpy as np
from scipy import sparse

from ._coercion import as_rows, slices
from ._protocol import BaseAffinity

MAX_LEVELS = 256  # more are a matrix of real numbers, whose histograms would be huge


class PrecomputedAffinity(BaseAffinity):
    """Relevance looked up in a given matrix; `y` holds row numbers.

    Parameters
    ----------
    S : {ndarray, sparse matrix} of shape (n_queries, n_database)
        Relevance of database item j to query i, non-negative, at most 256 distinct values.
        Usually square; then `y` of queries and database number the same items.

    Attributes
    ----------
    levels_ : ndarray of shape (n_levels,)
        0 and the distinct values of `S`.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_hashrank import PrecomputedAffinity
    >>> S = np.array([[2, 0, 1], [0, 2, 0], [1, 0, 2]])
    >>> PrecomputedAffinity(S).fit([0, 1, 2]).pairwise([2], [0, 1])
    array([[1., 0.]])
    """

    block_rows = 1 << 13

    def __init__(self, S):
        self.S = S

    @classmethod
    def from_pairs(cls, pairs, ids, item_ids=None):
        """Make relevance of pairs that have ids, such as clicks or judged results.

        Relevance counts both ways. Pairs that are not named are irrelevant, and so is a row to
        itself. Of a pair that is named several times the highest grade counts.

        Parameters
        ----------
        pairs : iterable of tuple, or dict
            ``(query, item)`` or ``(query, item, grade)``; or ``{query: {item: grade}}``, as
            :func:`~sklearn_hashrank.metrics.read_qrels` returns, or ``{query: items}``. Pairs
            without a grade have 1; grades below 0 count as 0.
        ids : sequence of length n_rows
            What the rows of `X` are called, each by an id of its own. Then `y` of the rows is
            ``numpy.arange(n_rows)``.
        item_ids : sequence, default=None
            Where queries and items are different rows: `ids` are those of queries, which come
            first, and these are those of items, numbered on. None: the same rows are both.

        Returns
        -------
        affinity : PrecomputedAffinity
            Of a sparse matrix over all rows.

        Examples
        --------
        >>> from sklearn_hashrank import PrecomputedAffinity
        >>> affinity = PrecomputedAffinity.from_pairs([("a", "c"), ("c", "b", 2)], ["a", "b", "c"])
        >>> affinity.fit().pairwise([0, 1, 2], [0, 1, 2])
        array([[0., 0., 1.],
               [0., 0., 2.],
               [1., 2., 0.]])
        """
        rows = _numbers_of(ids, "ids", 0)
        items = rows if item_ids is None else _numbers_of(item_ids, "item_ids", len(rows))
        n = len(rows) if item_ids is None else len(rows) + len(items)
        if isinstance(pairs, dict):
            pairs = _pairs_of(pairs)
        grades: dict[tuple[int, int], float] = {}
        for pair in pairs:
            if not isinstance(pair, (tuple, list, np.ndarray)) or not 2 <= len(pair) <= 3:
                raise ValueError(
                    f"a pair must be (query, item) or (query, item, grade). Got {pair!r}. Of a "
                    "DataFrame pass frame[columns].itertuples(index=False)."
                )
            grade = pair[2] if len(pair) == 3 else 1
            if not isinstance(grade, (int, float, np.number, np.bool_)) or not np.isfinite(grade):
                raise ValueError(f"a grade must be a finite number. Got {grade!r} of {pair!r}.")
            query, item = _number_of(rows, pair[0], "ids"), _number_of(items, pair[1], "item ids")
            key = min(query, item), max(query, item)
            grades[key] = max(grades.get(key, 0), float(grade))
        i, j = np.array([*grades], dtype=np.int64).reshape(-1, 2).T
        values = np.array([*grades.values()], dtype=np.float64)
        kept = i != j
        i, j, values = i[kept], j[kept], values[kept]
        both = np.append(i, j), np.append(j, i)
        return cls(sparse.csr_array((np.append(values, values), both), shape=(n, n)))

    def fit(self, y=None):
        """Read the levels from `S`.

        Parameters
        ----------
        y : array-like of shape (n,), default=None
            Row numbers, checked against `S`.

        Returns
        -------
        self : PrecomputedAffinity
        """
        S: Any = self.S.tocsr(copy=True) if sparse.issparse(self.S) else np.asarray(self.S)
        if S.ndim != 2 or S.dtype.kind not in "buif":
            raise ValueError(
                f"S must be a numeric matrix. Got shape {S.shape} and dtype {S.dtype}."
            )
        if sparse.issparse(S):
            S.sum_duplicates()
        parts = [S.data] if sparse.issparse(S) else slices(S)
        levels = np.unique(np.concatenate([np.unique(part) for part in parts])).astype(float)
        if not np.isfinite(levels).all() or np.any(levels < 0):
            raise ValueError(
                f"S must be finite and non-negative. Got values from {levels[0]} to {levels[-1]}."
            )
        levels = np.union1d([0.0], levels)
        if len(levels) > MAX_LEVELS:
            raise ValueError(
                f"S must hold at most {MAX_LEVELS} distinct levels. Got {len(levels)}; round it, "
                "or threshold it into a few levels."
            )
        self._matrix = S
        self.levels_ = levels
        if y is not None:
            self.validate(y)
        return self

    def validate(self, y, name="y"):
        """Return row numbers of shape (n,)."""
        self._check_fitted()
        y = as_rows(y, name)
        if y.ndim == 2 and y.shape[1] == 1:
            y = y[:, 0]
        if y.ndim != 1 or y.dtype.kind not in "iu":
            raise ValueError(
                f"{name} must hold integer row numbers of S, shape (n,). "
                f"Got shape {y.shape} and dtype {y.dtype}."
            )
        if len(y) and (y.min() < 0 or y.max() >= max(self._matrix.shape)):
            raise ValueError(
                f"{name} must hold row numbers of S, which has shape {self._matrix.shape}. "
                f"Got numbers from {y.min()} to {y.max()}."
            )
        return y

    def describe(self, y, name="y"):
        """Name the shape of the matrix; see :meth:`BaseAffinity.describe`."""
        self.validate(y, name)
        n_queries, n_database = self._matrix.shape
        return (
            f"{name}: row numbers of a matrix of {n_queries:,} x {n_database:,}, with "
            f"{len(self.levels_):,} levels: relevant where it is above 0"
        )

    def level_indices(self, queries, database):
        """Look the pairs up; see :class:`BaseAffinity`."""
        self._check_bounds(queries, database)
        if sparse.issparse(self._matrix):
            relevance = self._matrix[queries][:, database].toarray()
        else:
            relevance = self._matrix[np.ix_(queries, database)]
        return np.searchsorted(self.levels_, relevance).astype(np.uint16)

    def paired_level_indices(self, queries, database):
        """Look aligned rows up."""
        self._check_bounds(queries, database)
        relevance = np.asarray(self._matrix[queries, database]).ravel()
        return np.searchsorted(self.levels_, relevance).astype(np.uint16)

    def digest(self, queries):
        """Name the class alone: each shard may have a matrix of its own rows."""
        return self._digest_of()

    def _check_bounds(self, queries, database):
        for rows, size, name in zip((queries, database), self._matrix.shape, ("query", "database")):
            if len(rows) and rows.max() >= size:
                raise ValueError(
                    f"{name} y names row {rows.max()}, but S has shape {self._matrix.shape}."
                )


def _pairs_of(items_of_queries):
    """Pairs of a dict of the items of each query, with grades or without."""
    for query, items in items_of_queries.items():
        if isinstance(items, dict):
            yield from ((query, item, grade) for item, grade in items.items())
        elif isinstance(items, (list, tuple, set, frozenset, np.ndarray)):
            yield from ((query, item) for item in items)
        else:
            raise TypeError(
                "a dict of pairs must be {query: {item: grade}} or {query: [item, ...]}. Got "
                f"{items!r} for the query {query!r}."
            )


def _numbers_of(ids, name, first):
    """Numbers of rows by their ids, from a first number on."""
    ids = list(ids)
    found = {each: number for number, each in enumerate(ids, first)}
    if len(found) < len(ids):
        raise ValueError(f"{name} must all be different. Got {len(found)} of {len(ids)} rows.")
    return found


def _number_of(numbers, key, name):
    try:
        return numbers[key]
    except KeyError:
        alike = next((known for known in numbers if str(known) == str(key)), None)
        advice = (
            "Leave such pairs out"
            if alike is None
            else f"{alike!r} is, which is of type {type(alike).__name__}, not {type(key).__name__}"
        )
        raise ValueError(
            f"the pairs name {key!r}, which is not among the {name}. {advice}."
        ) from None
