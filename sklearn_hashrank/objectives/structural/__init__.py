"""Losses of whole rankings, and the ranking that violates a margin most."""

__all__: list[str] = []
