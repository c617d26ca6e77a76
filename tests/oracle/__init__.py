"""Slow, literal versions of every formula."""
