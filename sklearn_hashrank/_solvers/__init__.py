"""Solvers of optimization problems, which know only arrays and callables."""
