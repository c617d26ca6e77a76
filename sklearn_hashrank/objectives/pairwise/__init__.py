"""Sums over the pairs of a minibatch: zones of distances for relevance levels, likelihoods."""

__all__: list[str] = []
