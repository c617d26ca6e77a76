"""Sums over the triplets of a minibatch: a query, a relevant row and an irrelevant one."""

from ._triplet_likelihood import DTSH

__all__ = ["DTSH"]
