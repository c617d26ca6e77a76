"""Helpers for the whole package: threads, callbacks, checks and types."""
