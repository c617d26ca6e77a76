"""Name the extra to install where an optional package is missing."""

from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def needed(command: str) -> Iterator[None]:
    """Say, where an import within fails, what installs it."""
    try:
        yield
    except ImportError as error:
        raise ImportError(
            f"{error.name} is needed, which is not installed. It comes with: {command}"
        ) from error
