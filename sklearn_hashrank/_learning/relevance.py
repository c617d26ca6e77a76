"""What a learner asks of relevance: the levels within a batch, and how batches are made.

There are two kinds: relevance of pairs, where an affinity compares any two rows, and relevance of
nearest rows. The loop and the models treat both alike.
"""

from typing import Any, Protocol

import numpy as np

from ..affinity._auto import affinity_to_learn_from, fit_affinity
from ..affinity._neighbors import NeighborAffinity
from ..affinity._protocol import BaseAffinity
from .batches import Batches
from .neighbor_relevance import NeighborRelevance
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
    """

    affinity: Any
    y: Any
    levels: np.ndarray
    members: np.ndarray
    one_scale: bool

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


def check_two_rows(hasher: Any, X: Any) -> None:
    """Refuse a single row, which has none to be ranked."""
    if X.shape[0] < 2:
        raise ValueError(
            f"{type(hasher).__name__} needs at least two rows to rank. Got n_samples = 1."
        )


def learned_affinity(affinity: Any, fitted: Any, X: Any, y: Any) -> BaseAffinity:
    """Return the fitted affinity that is learned from.

    `fitted` is what was learned from the rows before these, such as thresholds of distance, which
    hold for these as well; None where there were none. Nearest rows are found anew.
    """
    learned, rows = affinity_to_learn_from(affinity, X, y), X if y is None else y
    if isinstance(learned, NeighborAffinity):
        return learned.without_database().fit(rows)
    return fit_affinity(learned, rows) if fitted is None else fitted


def learned_relevance(
    affinity: BaseAffinity,
    rows: Any,
    random_state: np.random.RandomState,
    n_jobs: int | None = None,
) -> Relevance:
    """Return the relevance of rows that a fitted affinity compares: of pairs, or nearest rows."""
    if isinstance(affinity, NeighborAffinity):
        return NeighborRelevance(affinity, rows, random_state, n_jobs)
    return PairRelevance(affinity, rows, n_jobs)
