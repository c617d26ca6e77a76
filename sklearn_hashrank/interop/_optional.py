"""Packages that are imported only when they are asked for."""

import importlib
from typing import Any


def import_optional(name: str, package: str) -> Any:
    """Import a module, or say which package it comes with."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise ImportError(
            f"{name} is needed, which is not installed. It comes with `pip install {package}`."
        ) from error
