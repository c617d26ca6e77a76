"""Solvers of optimisation problems, which know only arrays and callables."""
