"""Solvers: they know only arrays and callables."""
