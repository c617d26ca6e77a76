"""Ranking-based supervised hashing: the estimator, its statistics and its supervision."""

from ._estimator import RSHHasher

__all__ = ["RSHHasher"]
