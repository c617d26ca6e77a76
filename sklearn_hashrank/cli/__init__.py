"""The ``hashrank`` command, thin over the library."""

from ._main import main

__all__ = ["main"]
