"""What a query retrieves, as pictures or texts in a grid."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ..._utils.parameters import is_int
from ..._utils.types import MatrixLike, Target
from ...affinity._auto import fit_affinity
from ...affinity._level_checks import check_level_indices
from ...codes._distances import hamming_distances
from .._retrieval import encode, relevance_of, unwrap
from ._drawing import COLORS, pyplot

_RELEVANT, _OTHER = COLORS[2], "#7f7f7f"
_LINE_OF_TEXT = 16  # characters of a text in a cell, and lines
_LINES_OF_TEXT = 6


class RetrievedItems(NamedTuple):
    """The nearest items of some queries, each an array of shape (n_queries, n_neighbors).

    Attributes
    ----------
    indices : ndarray of int
        Rows of the database, in order of (distance, index).
    distances : ndarray of int
        Numbers of bits that differ.
    levels : ndarray of float
        How relevant each is.
    n_tied : ndarray of int
        Items of the whole database at this distance.
    n_relevant : ndarray of int
        Those of them that are relevant.

    Examples
    --------
    >>> from sklearn_hashrank import LSHHasher
    >>> from sklearn_hashrank.metrics import RetrievalGridDisplay
    >>> X, y = [[0.0], [0.1], [0.2], [9.0]], [0, 0, 1, 1]
    >>> hasher = LSHHasher(1, random_state=0).fit(X)
    >>> RetrievalGridDisplay.from_estimator(
    ...     hasher, X, y, queries=1, n_neighbors=2
    ... ).retrieved.n_relevant
    array([[1, 1]])
    """

    indices: np.ndarray
    distances: np.ndarray
    levels: np.ndarray
    n_tied: np.ndarray
    n_relevant: np.ndarray


class RetrievalGridDisplay:
    """Queries and what they retrieve: a row for each query, a cell for each of its nearest items.

    A relevant item has a solid frame and the word below it, so that nothing is said by colour
    alone. Items at one distance are tied: "1 bit, 9 of 10" above the first of them says that there
    are ten in the database, nine of them relevant, any of which could as well have come first.

    Parameters
    ----------
    queries : sequence of length n_queries
        A picture, of shape (height, width) or (height, width, channels), or a text of each query.
    items : sequence of length n_queries
        For each query a sequence of the same of its nearest items.
    retrieved : RetrievedItems
        Their distances, levels and ties.

    Attributes
    ----------
    axes_ : ndarray of matplotlib Axes, of shape (n_queries, n_neighbors + 1)
    figure_ : matplotlib Figure

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from sklearn_hashrank import ITQHasher
    >>> from sklearn_hashrank.metrics import RetrievalGridDisplay
    >>> digits = load_digits()
    >>> hasher = ITQHasher(16, random_state=0).fit(digits.data)
    >>> display = RetrievalGridDisplay.from_estimator(
    ...     hasher, digits.data, digits.target, looks=digits.images, queries=[3, 7], n_neighbors=4
    ... )
    >>> display.retrieved.levels.shape
    (2, 4)
    """

    def __init__(
        self, queries: Sequence[Any], items: Sequence[Sequence[Any]], retrieved: RetrievedItems
    ):
        shape = (len(queries), len(items[0]) if len(items) else 0)
        shapes = [np.shape(values) for values in retrieved]
        if any(each != shape for each in shapes) or any(len(row) != shape[1] for row in items):
            raise ValueError(
                "items must have a row for each query, as long as those of retrieved. "
                f"Got {shape[0]} queries, rows of {[len(row) for row in items]} items and arrays "
                f"of shapes {shapes}."
            )
        self.queries, self.items, self.retrieved = queries, items, retrieved

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: MatrixLike,
        y: Target | None = None,
        *,
        looks: Any = None,
        queries: Any = 5,
        n_neighbors: int = 10,
        database: Any = None,
        affinity: Any = "auto",
        n_jobs: int | None = None,
    ) -> "RetrievalGridDisplay":
        """What some rows retrieve.

        Parameters
        ----------
        estimator : hasher
            Fitted, alone or within pipelines and searches; or another estimator whose
            ``transform``, or else ``predict``, gives codes.
        X : array-like of shape (n_samples, n_features)
            Rows, of which some are queries.
        y : array-like with n_samples rows, default=None
            What the affinity compares. None: the rows as the hasher sees them.
        looks : sequence of length n_samples, default=None
            Pictures or texts of the rows. None: the values of a `y` of one column, or the numbers
            of the rows.
        queries : int or array-like of int, default=5
            Rows that are queries, or how many of the first.
        n_neighbors : int, default=10
            Items of each.
        database : None or tuple (X, y, looks), default=None
            What to retrieve. None: all other rows of `X`.
        affinity : "auto" or affinity object, default="auto"
            What is relevant; see :mod:`sklearn_hashrank.affinity`. "auto": what the hasher was
            fitted to, or the form of `y`.
        n_jobs : int or None, default=None
            Threads over queries.

        Returns
        -------
        display : RetrievalGridDisplay
        """
        encoded = encode(estimator, X)
        rows = _check_queries(queries, len(encoded.codes))
        affinity, all_y = relevance_of(unwrap(estimator)[1], encoded.rows, y, affinity)
        own = looks = _looks_of(looks, y, len(encoded.codes))
        codes, database_y = encoded.codes, all_y
        if database is not None:
            X_database, y_database, own = _check_database(database, y)
            found = encode(estimator, X_database)
            codes, own = found.codes, _looks_of(own, y_database, len(found.codes))
            database_y = found.rows if y is None else y_database
        most = len(codes) - (database is None)
        if not is_int(n_neighbors, 1) or n_neighbors > most:
            raise ValueError(
                f"n_neighbors must be an int from 1 to the {most} items that a query can "
                f"retrieve. Got {n_neighbors!r}."
            )
        distances = hamming_distances(encoded.codes[rows], codes, encoded.n_bits)
        if database is None:
            distances[np.arange(len(rows)), rows] = encoded.n_bits + 1  # behind all others
        levels = _levels(affinity, all_y, rows, database_y, database is None, n_jobs)
        retrieved = _nearest(distances, levels, n_neighbors)
        items = [[own[index] for index in of_query] for of_query in retrieved.indices]
        return cls([looks[row] for row in rows], items, retrieved)

    def plot(self, figure: Any = None, *, cmap: Any = "gray") -> "RetrievalGridDisplay":
        """Draw the grid.

        Parameters
        ----------
        figure : matplotlib Figure, default=None
            None: a new one, of a size that suits the grid.
        cmap : str or Colormap, default="gray"
            Colours of pictures without channels.

        Returns
        -------
        display : RetrievalGridDisplay
            With ``axes_`` and ``figure_``.
        """
        n_rows, n_columns = self.retrieved.indices.shape[0], self.retrieved.indices.shape[1] + 1
        if figure is None:
            size = (1.15 * n_columns, 1.6 * n_rows)
            figure = pyplot(self).figure(figsize=size, layout="constrained")
        self.figure_ = figure
        self.axes_ = figure.subplots(n_rows, n_columns, squeeze=False)
        for row, axes in enumerate(self.axes_):
            _draw_cell(axes[0], self.queries[row], cmap)
            axes[0].set_title("query", fontsize="small", fontweight="bold")
            for place, ax in enumerate(axes[1:]):
                _draw_cell(ax, self.items[row][place], cmap)
                self._say(ax, row, place)
        return self

    def _say(self, ax: Any, row: int, place: int) -> None:
        """Frame an item, and say its level and, at the first of a tie, how large that is."""
        _, distances, levels, n_tied, n_relevant = (values[row] for values in self.retrieved)
        is_relevant = levels[place] > 0
        for spine in ax.spines.values():
            spine.set_color(_RELEVANT if is_relevant else _OTHER)
            spine.set_linewidth(2.5 if is_relevant else 1.0)
            spine.set_linestyle("-" if is_relevant else ":")
        graded = len(np.unique(self.retrieved.levels[self.retrieved.levels > 0])) > 1
        word = f"level {levels[place]:g}" if graded else "relevant"
        ax.set_xlabel(word if is_relevant else " ", fontsize="small")
        if place == 0 or distances[place] != distances[place - 1]:
            bits = "1 bit" if distances[place] == 1 else f"{distances[place]} bits"
            tied = f"{n_relevant[place]:,} of {n_tied[place]:,}"
            ax.set_title(f"{bits}\n{tied}", fontsize="small", loc="left")


def _draw_cell(ax: Any, look: Any, cmap: Any) -> None:
    ax.set_xticks([])
    ax.set_yticks([])
    if isinstance(look, str):
        ax.set_aspect("equal")
        shown = _in_lines(look)
        ax.text(0.5, 0.5, shown, ha="center", va="center", fontsize="x-small", parse_math=False)
    else:
        ax.imshow(look, cmap=cmap)


def _in_lines(text: str) -> str:
    """Break a text into the lines of a cell, by characters where words are long."""
    lines, words = [""], text.split()
    for word in words:
        while word:
            space = " " if lines[-1] else ""
            room = _LINE_OF_TEXT - len(lines[-1] + space)
            if len(word) <= room:
                lines[-1] += space + word
                break
            if lines[-1]:
                lines.append("")
                continue
            lines[-1], word = word[:_LINE_OF_TEXT], word[_LINE_OF_TEXT:]
            lines.append("")
    lines = [line for line in lines if line]
    if len(lines) > _LINES_OF_TEXT:
        lines = [*lines[: _LINES_OF_TEXT - 1], "…"]
    return "\n".join(lines)


def _check_queries(queries: Any, n: int) -> np.ndarray:
    if is_int(queries, 1):
        return np.arange(min(int(queries), n))
    rows = np.asarray(queries)
    if rows.ndim != 1 or not rows.size or rows.dtype.kind not in "iu":
        raise ValueError(f"queries must be an int >= 1, or numbers of rows. Got {queries!r}.")
    if rows.min() < 0 or rows.max() >= n:
        raise ValueError(
            f"queries must be rows of X, from 0 to {n - 1}. Got {rows.min()} to {rows.max()}."
        )
    return rows


def _check_database(database: Any, y: Any) -> tuple[Any, Any, Any]:
    if not isinstance(database, (tuple, list)) or len(database) != 3:
        raise ValueError(
            f"database must be None or a tuple (X, y, looks). Got {type(database).__name__}."
        )
    X_database, y_database, looks = database
    if (y is None) != (y_database is None):
        raise ValueError("queries and database both need y, or neither.")
    return X_database, y_database, looks


def _looks_of(looks: Any, y: Any, n: int) -> Any:
    """Return pictures or texts of rows, or text for those that have none."""
    if looks is None:
        named = np.asarray(y) if y is not None and np.ndim(y) == 1 else np.arange(n)
        return [str(value) for value in named.tolist()]
    looks = looks.to_numpy() if hasattr(looks, "to_numpy") else looks
    if len(looks) != n:
        raise ValueError(f"looks must be one for each of {n} rows. Got {len(looks)}.")
    first = looks[0]
    if not isinstance(first, str) and np.ndim(first) not in (2, 3):
        raise ValueError(
            "looks must be texts, or pictures of shape (height, width) or (height, width, "
            f"channels). Got {type(first).__name__} of shape {np.shape(first)}."
        )
    return looks


def _levels(
    affinity: Any,
    y: Any,
    rows: np.ndarray,
    database_y: Any,
    are_database: bool,
    n_jobs: int | None,
) -> np.ndarray:
    """Levels of the database for some rows."""
    fitted = fit_affinity(affinity, database_y)
    database = fitted.validate(database_y, "database y")
    if are_database:
        comparing, ready = fitted.of_queries(database, True, n_jobs)
        ready = ready[rows]
    else:
        comparing, ready = fitted.of_queries(fitted.validate(y, "y")[rows], False, n_jobs)
    indices = comparing.level_indices(ready, database)
    shape = len(rows), database.shape[0]
    checked = check_level_indices(comparing, indices, shape, len(fitted.levels_))
    levels: np.ndarray = fitted.levels_[checked]
    return levels


def _nearest(distances: np.ndarray, levels: np.ndarray, k: int) -> RetrievedItems:
    order = np.argsort(distances, axis=1, kind="stable")[:, :k]
    near = np.take_along_axis(distances, order, axis=1)
    size = int(distances.max()) + 1
    n_tied, n_relevant = np.empty_like(near), np.empty_like(near)
    for row in range(len(near)):
        all_counts = np.bincount(distances[row], minlength=size)
        relevant = np.bincount(distances[row][levels[row] > 0], minlength=size)
        n_tied[row], n_relevant[row] = all_counts[near[row]], relevant[near[row]]
    return RetrievedItems(
        order, near, np.take_along_axis(levels, order, axis=1), n_tied, n_relevant
    )
