"""The structural hinge loss over whole rankings, and the rankings that attain it."""

import numpy as np

from ... import _kernels
from ..._utils.threads import run_in_threads
from ...metrics._sums import DISCOUNTS

LOSSES = ("ap", "ndcg", "auc")
_PAIRS_AT_A_TIME = 1 << 18  # 2 MB of scores, which stay in the caches from the sort to the sums


class RankingLoss:
    r"""Most violated rankings of some queries over one database.

    A ranking y of the database scores :math:`F(q, y) = \frac{1}{n_+ n_-} \sum_{ij} y_{ij} \langle
    W W^T, q (x_i - x_j)^T \rangle / b` over relevant i and irrelevant j, with :math:`y_{ij} = 1`
    where i stands before j and -1 elsewhere. How far F falls from the true ranking, all relevant
    items first, to another one is :math:`\langle W W^T, q a^T \rangle`, where `a` is a sum of the
    items weighted by how many of the other kind stand on the wrong side. Pairs are never formed.

    Parameters
    ----------
    queries : ndarray of shape (n_queries, n_features)
        Query rows.
    database : ndarray of shape (n_database, n_features)
        The rows that are ranked.
    relevant : ndarray of shape (n_queries, n_database), bool
        Which rows are relevant. For each query there must be a relevant and an irrelevant one
        besides its own.
    own : ndarray of shape (n_queries,), int64
        Position of the query in the database, which is not ranked; -1 where it is not there.
    n_bits : int
        The b of F.
    loss : {"ap", "ndcg", "auc"}
        1 - AP, 1 - NDCG with gain 1 for the relevant, or the share of pairs in wrong order.
    n_jobs : int or None
        Threads over blocks of queries.
    """

    def __init__(
        self,
        queries: np.ndarray,
        database: np.ndarray,
        relevant: np.ndarray,
        own: np.ndarray,
        *,
        n_bits: int,
        loss: str = "ap",
        n_jobs: int | None = None,
    ):
        self.queries = queries
        self.database, self.own, self.n_bits, self.n_jobs = database, own, n_bits, n_jobs
        self._loss = LOSSES.index(loss)
        self._relevant = np.packbits(relevant, axis=1)
        n_relevant, n_irrelevant = count_relevant(relevant, own)
        self._scale = 2.0 / (n_relevant * n_irrelevant * n_bits)
        ranks = np.arange(len(database) + 1.0)
        if loss == "ap":
            self._table = np.concatenate([[0.0], np.cumsum(1 / ranks[1:])])
        elif loss == "ndcg":
            self._table = np.concatenate([[0.0], DISCOUNTS["log2p1"].discount(ranks[1:])])

    def most_violated(self, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Find the ranking of each query with the largest loss + F.

        Parameters
        ----------
        weights : ndarray of shape (n_features, n_columns)
            W.

        Returns
        -------
        directions : ndarray of shape (n_queries, n_features)
            The `a` of each query.
        losses : ndarray of shape (n_queries,)
            The loss of each ranking.
        """
        projected = (self.database @ weights).T
        step = max(1, _PAIRS_AT_A_TIME // len(self.database))
        blocks = [slice(start, start + step) for start in range(0, len(self.queries), step)]
        found = run_in_threads(
            lambda block: self._most_violated(block, weights, projected), blocks, self.n_jobs
        )
        directions, losses = zip(*found)
        return np.concatenate(directions), np.concatenate(losses)

    def violate(self, scores: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Find the ranking of each query with the largest loss + F, where any scores make F.

        Parameters
        ----------
        scores : ndarray of shape (n_queries, n_database)
            Score of every item for every query, in place of ``<W W^T, q x^T> / b``.

        Returns
        -------
        coefficients : ndarray of shape (n_queries, n_database)
            F falls from the true ranking to this one by their product with the scores.
        losses : ndarray of shape (n_queries,)
        """
        step = max(1, _PAIRS_AT_A_TIME // scores.shape[1])
        blocks = [slice(start, start + step) for start in range(0, len(scores), step)]

        def find(block):
            counts, losses = self.count_inversions(block, scores[block] * self.n_bits)
            return counts * (self._scale[block, None] * self.n_bits), losses

        coefficients, losses = zip(*run_in_threads(find, blocks, self.n_jobs))
        return np.concatenate(coefficients), np.concatenate(losses)

    def _most_violated(self, block, weights, projected):
        counts, losses = self.count_inversions(block, (self.queries[block] @ weights) @ projected)
        counts *= self._scale[block, None]
        return counts @ self.database, losses

    def count_inversions(self, block: slice, products: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Count, in the most violated rankings, the items on the wrong side of each item.

        Parameters
        ----------
        block : slice
            Which queries.
        products : ndarray of shape (n_block, n_database)
            ``<W W^T, q x^T>`` of these queries.

        Returns
        -------
        counts : ndarray of shape (n_block, n_database)
            For a relevant item the irrelevant ones before it; for an irrelevant item minus the
            relevant ones behind it.
        losses : ndarray of shape (n_block,)
        """
        n = len(self.database)
        scores = products / self.n_bits
        counts, losses = np.empty_like(scores), np.empty(len(scores))
        order = np.argsort(-scores, axis=1)
        relevant = np.unpackbits(self._relevant[block], axis=1, count=n).view(bool)
        problem = scores, order, relevant, self.own[block]
        if LOSSES[self._loss] == "auc":
            _kernels.violated_rankings.count_auc_inversions(*problem, counts, losses)
        else:
            _kernels.violated_rankings.most_violated_rankings(
                *problem, self._table, self._loss, counts, losses
            )
        return counts, losses


def count_relevant(relevant: np.ndarray, own: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Count the relevant and the irrelevant items of each query, itself left out."""
    rows = np.arange(len(own))
    own_is_relevant = relevant[rows, own] & (own >= 0)
    n_relevant = relevant.sum(axis=1) - own_is_relevant
    return n_relevant, relevant.shape[1] - (own >= 0) - n_relevant
