"""Name the extra to install where an optional package is missing."""

from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def needed(package: str) -> Iterator[None]:
    """Say, where an import within fails, which package it comes with."""
    try:
        yield
    except ImportError as error:
        raise ImportError(
            f"{error.name} is needed, which is not installed. "
            f"It comes with `pip install {package}`."
        ) from error
