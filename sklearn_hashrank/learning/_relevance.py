"""What the rows of a minibatch are to each other, and what follows for batches and validation."""

from collections.abc import Callable
from typing import Any

import numpy as np

from .._utils.threads import over_blocks
from ..affinity import (
    BaseAffinity,
    HierarchicalAffinity,
    LabelAffinity,
    NeighborAffinity,
    affinity_to_learn_from,
    check_level_indices,
)
from ..base import pack_signs
from ..histogram import retrieval_histogram
from ..measures import configure_measure
from ..objectives import CheckedObjective
from ._neighborhoods import NeighborRelevance
from ._trainer import Batches, GroupBatches, Minibatches

# Of many classes in a batch, with few rows each, one learns most: on 150 classes 128 groups of 4
# rows were better than 64 of 8 or 16, and than as many rows at random.
_GROUP_SIZE, _ROWS_OF_GROUPS = 4, 512
_WANTED_RELEVANT, _SMALLEST_BATCH, _LARGEST_BATCH = 10, 256, 2048
_RAREST = 1e-9
_LARGEST_TABLE = 8192  # groups of equal rows whose levels are kept
_ROWS_TO_VALIDATE = 2048  # at a time

Projections = Callable[[np.ndarray], np.ndarray]
"""The projections of the rows with the given numbers, by what has been learned so far."""


def check_two_rows(hasher: Any, X: Any) -> None:
    """Refuse a single row, which has none to be ranked."""
    if X.shape[0] < 2:
        raise ValueError(
            f"{type(hasher).__name__} needs at least two rows to rank. Got n_samples = 1."
        )


def learned_relevance(
    affinity: Any,
    fitted: BaseAffinity,
    X: Any,
    y: Any,
    random_state: np.random.RandomState,
    n_jobs: int | None = None,
) -> "BatchRelevance | NeighborRelevance":
    """Return the relevance that is learned from: of pairs of rows, or of nearest rows.

    Parameters
    ----------
    affinity : "auto" or affinity object
        The parameter of a hasher.
    fitted : affinity object
        What it was fitted to.
    X : {ndarray, sparse matrix} of shape (n_samples, n_features)
        Training rows.
    y : array-like with n_samples rows or None
        What the affinity compares; None: `X` itself, of which nearest rows are learned from.
    random_state : RandomState instance
        Samples the rows whose nearest ones are found, where they are many.
    n_jobs : int or None, default=None
        Threads over rows.

    Returns
    -------
    relevance : BatchRelevance or NeighborRelevance
    """
    learned = affinity_to_learn_from(affinity, X, y)
    rows = X if y is None else y
    if isinstance(learned, NeighborAffinity):
        nearest = learned.without_database().fit(rows)
        return NeighborRelevance(nearest, rows, random_state, n_jobs)
    return BatchRelevance(fitted, rows, n_jobs)


def choose_batch_size(
    batch_size: int | str,
    objective: CheckedObjective,
    relevance: "BatchRelevance | NeighborRelevance",
    random_state: np.random.RandomState,
) -> int:
    """Rows of a batch; ``"auto"`` wants about ten relevant ones for each query.

    Parameters
    ----------
    batch_size : int or "auto"
        The parameter of a hasher.
    objective : CheckedObjective
        Of graded objectives, a few pairs may hold most of the gain.
    relevance : BatchRelevance or NeighborRelevance
        Of the training rows.
    random_state : RandomState instance
        Samples pairs, to see how many are relevant.

    Returns
    -------
    size : int
    """
    if batch_size != "auto":
        return int(batch_size)
    if isinstance(relevance, NeighborRelevance):
        return _ROWS_OF_GROUPS
    shares = relevance.level_shares(random_state)
    wanted = _wanted_rows(objective, relevance.levels, shares)
    size = int(np.clip(wanted, _SMALLEST_BATCH, _LARGEST_BATCH))
    if size > _SMALLEST_BATCH and relevance.class_of is not None:
        return _ROWS_OF_GROUPS
    return size


def takes_groups(
    batch_size: int | str, size: int, relevance: "BatchRelevance | NeighborRelevance"
) -> bool:
    """Whether batches of this size are made of groups of a class: where "auto" found many classes.

    Parameters
    ----------
    batch_size : int or "auto"
        The parameter of a hasher.
    size : int
        What was chosen.
    relevance : BatchRelevance or NeighborRelevance
        Of the training rows.

    Returns
    -------
    takes_groups : bool
    """
    if isinstance(relevance, NeighborRelevance):
        return False
    is_rare = batch_size == "auto" and size > _SMALLEST_BATCH
    return is_rare and relevance.class_of is not None


def make_batches(
    rows: np.ndarray,
    size: int,
    relevance: "BatchRelevance | NeighborRelevance",
    in_groups: bool,
    random_state: np.random.RandomState,
) -> Batches:
    """Batches of some of the rows: with neighbours, in groups of a class, or at random.

    Parameters
    ----------
    rows : ndarray of shape (n_rows,)
        Numbers of the rows.
    size : int
        Rows of a batch, about.
    relevance : BatchRelevance or NeighborRelevance
        Of the training rows.
    in_groups : bool
        Whether batches are made of groups of a class, see :func:`takes_groups`.
    random_state : RandomState instance
        Shuffles.

    Returns
    -------
    batches : Batches
    """
    if isinstance(relevance, NeighborRelevance):
        return relevance.batches(rows, size, random_state)
    if in_groups and relevance.class_of is not None:
        return GroupBatches(rows, relevance.class_of[rows], size, _GROUP_SIZE, random_state)
    return Minibatches(rows, size, random_state)


def split_for_validation(
    rows: np.ndarray, fraction: float, random_state: np.random.RandomState
) -> tuple[np.ndarray, np.ndarray]:
    """Numbers of the rows to train on, and of a random fraction of them to validate on.

    Parameters
    ----------
    rows : ndarray of shape (n_rows,)
        Numbers of the rows.
    fraction : float
        Of the rows to validate on.
    random_state : RandomState instance
        Samples the validation rows.

    Returns
    -------
    train, validation : ndarray
    """
    n = len(rows)
    n_validation = round(fraction * n)
    if not 2 <= n_validation <= n - 2:
        raise ValueError(
            f"validation_fraction={fraction} of n_samples = {n} leaves "
            f"{n_validation} rows for validation and {n - n_validation} for training. "
            "At least two of each are needed."
        )
    order = random_state.permutation(rows)
    return order[n_validation:], order[:n_validation]


class BatchRelevance:
    """Level indices of the pairs of a minibatch.

    Parameters
    ----------
    affinity : affinity object
        Fitted.
    y : array-like
        Its rows.
    n_jobs : int or None, default=None
        Threads over the rows of a batch.

    Attributes
    ----------
    members : ndarray of shape (n_rows,)
        Numbers of the rows that are learned from: all.
    class_of : ndarray of shape (n_rows,) or None
        The class of each row, or its label path; None where affinity is neither, and where most
        rows have no other one of their class.
    """

    def __init__(self, affinity: BaseAffinity, y: Any, n_jobs: int | None = None):
        self.affinity, self.y, self.n_jobs = affinity, y, n_jobs
        self._rows = affinity.validate(y)
        self.members = np.arange(self._rows.shape[0])
        self.levels = affinity.levels_[: affinity.n_reachable_levels(self._rows)]
        groups, index = affinity.group(self._rows)
        n_groups = groups.shape[0]
        self.class_of = None
        if isinstance(affinity, LabelAffinity | HierarchicalAffinity) and index is not None:
            self.class_of = index if 2 * n_groups <= len(index) else None
        self._table: np.ndarray | None = None
        if n_groups <= _LARGEST_TABLE:
            self._index = np.arange(n_groups) if index is None else index
            self._table = np.empty((n_groups, n_groups), dtype=np.min_scalar_type(len(self.levels)))
            for start in range(0, n_groups, 256):
                part = slice(start, start + 256)
                self._table[part] = self._compare(groups[part], groups)

    def level_indices(self, batch: np.ndarray) -> np.ndarray:
        """Index into `levels` of every pair of rows of a batch, (M, M) unsigned."""
        table = self._table
        if table is None:
            rows = self._rows[batch]
            return self._compare(rows, rows)
        index = self._index[batch]
        levels = np.empty((len(batch), len(batch)), table.dtype)

        def look_up(rows):
            np.take(table[index[rows]], index, axis=1, out=levels[rows], mode="clip")

        over_blocks(look_up, len(batch), self.n_jobs)
        return levels

    def _compare(self, queries, database):
        indices = self.affinity.level_indices(queries, database)
        shape = queries.shape[0], database.shape[0]
        return check_level_indices(self.affinity, indices, shape, len(self.levels))

    def level_shares(self, random_state: np.random.RandomState, n_rows: int = 1000) -> np.ndarray:
        """Estimate the share of each level among all pairs of different rows."""
        batch = random_state.permutation(self._rows.shape[0])[:n_rows]
        indices = self.level_indices(batch)[~np.eye(len(batch), dtype=bool)]
        return np.bincount(indices, minlength=len(self.levels)) / indices.size


def validation_of(
    objective: CheckedObjective,
    projections: Projections,
    relevance: BatchRelevance | NeighborRelevance,
    train: np.ndarray,
    validation: np.ndarray,
) -> Callable[[], float]:
    """Return a callable that says how good the projections are, by rows kept for validation.

    Where the objective names a tie-aware measure, that is the mean measure of these rows as queries
    for the training rows; otherwise it is the mean objective of the rows among themselves.

    Parameters
    ----------
    objective : CheckedObjective
        What is learned from.
    projections : callable ``(numbers of rows) -> ndarray of shape (n_rows, n_bits)``
        By what has been learned so far.
    relevance : BatchRelevance or NeighborRelevance
        Of the training rows.
    train, validation : ndarray of shape (n_rows,)
        Numbers of rows.

    Returns
    -------
    validate : callable ``() -> float``
    """
    if objective.measure is not None:
        return _validate_by_measure(objective.measure, projections, relevance, train, validation)
    return _validate_by_objective(objective, projections, relevance, validation)


def _validate_by_measure(
    measure: str,
    projections: Projections,
    relevance: BatchRelevance | NeighborRelevance,
    train: np.ndarray,
    validation: np.ndarray,
) -> Callable[[], float]:
    """Return a callable: the mean measure of the validation rows retrieving the training rows."""
    configured = configure_measure(measure, zero_division=0.0)

    def validate() -> float:
        queries, database = projections(validation), projections(train)
        histogram = retrieval_histogram(
            pack_signs(queries),
            pack_signs(database),
            relevance.y[validation],
            relevance.y[train],
            affinity=relevance.affinity.without_database(),
            n_bits=queries.shape[1],
        )
        values = histogram.measure(configured)
        return float(values.mean())

    return validate


def _validate_by_objective(
    objective: CheckedObjective,
    projections: Projections,
    relevance: BatchRelevance | NeighborRelevance,
    validation: np.ndarray,
) -> Callable[[], float]:
    """Return a callable: the mean objective of the validation rows among themselves."""
    blocks = np.array_split(validation, -(-len(validation) // _ROWS_TO_VALIDATE))

    def validate() -> float:
        values = [
            objective(projections(rows), relevance.level_indices(rows), relevance.levels)[0]
            for rows in blocks
        ]
        return float(np.mean(values))

    return validate


def _wanted_rows(objective, levels, shares):
    """Rows in which a query finds about ten relevant ones, and one that holds most of the gain."""
    wanted = _WANTED_RELEVANT / max(shares[levels > 0].sum(), _RAREST)
    gains = objective.level_gain(levels)
    if gains is not None:  # few pairs of a high level may hold most of the gain
        gains = gains / (gains.max() or 1)
        effective = (shares @ gains) ** 2 / max(shares @ gains**2, _RAREST)
        wanted = max(wanted, 1 / max(effective, _RAREST))
    return wanted
