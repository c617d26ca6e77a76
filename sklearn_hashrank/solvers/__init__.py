"""Solvers: they know only arrays and callables."""

__all__ = []
