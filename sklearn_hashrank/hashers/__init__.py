"""The hashers: one module for each method, or a folder where it needs several modules."""

__all__ = []
