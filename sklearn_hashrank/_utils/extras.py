"""How to install this package and its extras, for messages and for the documentation.

The package is on no index yet, so that both install it from a clone. Afterwards `PACKAGE` is its
name, and `WHERE` is empty.
"""

from collections.abc import Iterator
from contextlib import contextmanager

PACKAGE = "."
WHERE = "in a clone of sklearn-hashrank"


def install_command(extra: str = "") -> str:
    """Return what to type for the package, or for an extra."""
    return f'pip install "{PACKAGE}[{extra}]"' if extra else f"pip install {PACKAGE}"


def how_to_install(extra: str) -> str:
    """Return what to type, and where, for messages."""
    return f"{install_command(extra)} {WHERE}".strip()


@contextmanager
def needed(command: str) -> Iterator[None]:
    """Say, where an import within fails, what installs it."""
    try:
        yield
    except ImportError as error:
        raise ImportError(
            f"{error.name} is needed, which is not installed. It comes with: {command}"
        ) from error
