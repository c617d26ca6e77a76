"""Losses of whole rankings, and the ranking that violates a margin most."""

from ._ranking_loss import LOSSES, RankingLoss, count_relevant

__all__ = ["LOSSES", "RankingLoss", "count_relevant"]
