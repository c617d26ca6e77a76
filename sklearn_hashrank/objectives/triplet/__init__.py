"""Sums over the triplets of a minibatch: a query, a relevant row and an irrelevant one."""

__all__: list[str] = []
