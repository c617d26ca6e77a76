"""The ``hashrank`` command: options, files and exit codes; the library does the work."""

from ._main import main

__all__ = [
    "main",
]
