"""Exact neighbours by Hamming distance."""

from ._hamming import HammingNeighbors

__all__ = ["HammingNeighbors"]
