"""What a learner asks of relevance: the levels within a batch, and how batches are made.

There are two kinds, and no learner has to know which it has: relevance of pairs, where an affinity
compares any two rows, and relevance of nearest rows.
"""

from typing import Any, Protocol

import numpy as np

from ..affinity._auto import affinity_to_learn_from, fit_affinity
from ..affinity._neighbors import NeighborAffinity
from ..affinity._protocol import BaseAffinity
from .batches import Batches
from .neighbor_relevance import MOST_ROWS, NeighborRelevance
from .pair_relevance import PairRelevance


class Relevance(Protocol):
    """Relevance of the training rows of a fit.

    Attributes
    ----------
    affinity : affinity object
        What is learned from, fitted.
    y : array-like
        The rows that it compares.
    levels : ndarray of shape (n_levels,)
        Ascending.
    members : ndarray of shape (n_members,)
        Numbers of the rows that are learned from, ascending.
    one_scale : bool
        Whether linear models scale all features by one factor, which keeps distances.
    class_of : ndarray of shape (n_rows,) or None
        The class of each row, where there are classes.
    """

    affinity: Any
    y: Any
    levels: np.ndarray
    members: np.ndarray
    one_scale: bool
    class_of: np.ndarray | None

    def level_indices(self, batch: np.ndarray) -> np.ndarray:
        """Index into `levels` of every pair of rows of a batch, (M, M) unsigned."""

    def batch_size(self, objective: Any, random_state: np.random.RandomState) -> int:
        """Rows of a batch that ``batch_size="auto"`` stands for."""

    def takes_groups(self, size: int) -> bool:
        """Whether batches of an automatic size are made of groups of a class."""

    def batches(
        self, rows: np.ndarray, size: int, in_groups: bool, random_state: np.random.RandomState
    ) -> Batches:
        """Batches of some of the members, about `size` rows each."""

    def learning_rate(self, solver: str, in_groups: bool) -> float:
        """Length of a step of a linear model, where the objective does not declare one."""

    def weight_decay(self, n_features: int, n_rows: int | None) -> float:
        """Decay of the weights of a linear model; `n_rows` is None where it is not known."""

    def n_bins(self, n_bits: int) -> int | str:
        """Bins of soft histograms that ``n_bins="auto"`` stands for."""


def check_two_rows(hasher: Any, X: Any) -> None:
    """Refuse a single row, which has none to be ranked."""
    if X.shape[0] < 2:
        raise ValueError(
            f"{type(hasher).__name__} needs at least two rows to rank. Got n_samples = 1."
        )


def learned_affinity(affinity: Any, fitted: Any, X: Any, y: Any) -> BaseAffinity:
    """Return the fitted affinity that is learned from.

    Parameters
    ----------
    affinity : "auto" or affinity object
        The parameter of a hasher.
    fitted : affinity object or None
        What was learned from the rows before these, such as thresholds of distance, which hold for
        these as well. Nearest rows are found anew.
    X : {ndarray, sparse matrix} of shape (n_samples, n_features)
        Training rows.
    y : array-like with n_samples rows or None
        What the affinity compares; None: `X` itself, of which nearest rows are learned from.

    Returns
    -------
    affinity : BaseAffinity
    """
    learned, rows = affinity_to_learn_from(affinity, X, y), X if y is None else y
    if isinstance(learned, NeighborAffinity):
        return learned.without_database().fit(rows)
    return fit_affinity(learned, rows) if fitted is None else fitted


def learned_relevance(
    affinity: BaseAffinity,
    X: Any,
    y: Any,
    random_state: np.random.RandomState,
    n_jobs: int | None = None,
    *,
    by_features: bool = False,
) -> Relevance:
    """Return the relevance that is learned from: of pairs of rows, or of nearest rows.

    Parameters
    ----------
    affinity : affinity object
        What :func:`learned_affinity` returns for these rows.
    X : {ndarray, sparse matrix} of shape (n_samples, n_features)
        Training rows.
    y : array-like with n_samples rows or None
        What the affinity compares; None: `X` itself.
    random_state : RandomState instance
        Samples the rows whose nearest ones are found, where they are many.
    n_jobs : int or None, default=None
        Threads over rows.
    by_features : bool, default=False
        Whether batches of many classes depend on how well `X` tells the classes apart.

    Returns
    -------
    relevance : PairRelevance or NeighborRelevance
    """
    rows = X if y is None else y
    if isinstance(affinity, NeighborAffinity):
        return NeighborRelevance(affinity, rows, random_state, n_jobs)
    return PairRelevance(affinity, rows, n_jobs, X if by_features else None)


def most_compared(affinity: BaseAffinity) -> int | None:
    """Return how many rows are compared at most, where it is not all of them.

    Parameters
    ----------
    affinity : affinity object
        What is learned from.

    Returns
    -------
    n_rows : int or None
        None: all.
    """
    return MOST_ROWS if isinstance(affinity, NeighborAffinity) else None


def size_of_batches(
    batch_size: int | str,
    objective: Any,
    relevance: Relevance,
    random_state: np.random.RandomState,
) -> int:
    """Return the rows of a batch, given the parameter of a hasher.

    Parameters
    ----------
    batch_size : int or "auto"
        The parameter.
    objective : CheckedObjective or ObjectiveOfRows
        Of graded objectives, a few pairs may hold most of the gain.
    relevance : Relevance
        Of the training rows.
    random_state : RandomState instance
        Samples pairs, to see how many are relevant.

    Returns
    -------
    size : int
    """
    if batch_size == "auto":
        return relevance.batch_size(objective, random_state)
    return int(batch_size)
