"""The notation of methods and measures: a name, ``@k`` for measures, ``:parameter=value`` each."""

import ast
from typing import Any


def split_notation(notation: str, what: str, example: str) -> tuple[str, dict[str, Any]]:
    """Return the name and the parameters of a notation such as ``"talr-ap:alpha=3"``.

    Parameters
    ----------
    notation : str
        Values are read as Python literals, and as plain strings where that fails.
    what, example : str
        What it stands for and one that is right, for errors.

    Returns
    -------
    name : str
    parameters : dict of str to object
    """
    name, *overrides = (part.strip() for part in notation.split(":"))
    parameters: dict[str, Any] = {}
    for override in overrides:
        parameter, equals, value = (part.strip() for part in override.partition("="))
        if not equals or not parameter or not value:
            raise ValueError(
                f"{what} {notation!r}: {override!r} must read parameter=value, as in {example}."
            )
        if parameter in parameters:
            raise ValueError(f"{what} {notation!r} gives {parameter} twice.")
        parameters[parameter] = _literal(value)
    return name, parameters


def split_cut(name: str, notation: str, what: str, example: str) -> tuple[str, int | None]:
    """Return what stands before an ``@``, and the int behind it; None if there is no ``@``.

    Parameters
    ----------
    name : str
        The name of a notation, as `split_notation` returns it.
    notation, what, example : str
        All of it, what it stands for and one that is right, for errors.
    """
    name, at, cut = (part.strip() for part in name.partition("@"))
    if not at:
        return name, None
    if not cut.isascii() or not cut.isdecimal():
        raise ValueError(
            f"{what} {notation!r}: an int must follow the @, as in {example}. Got {cut!r}."
        )
    return name, int(cut)


def _literal(value: str) -> Any:
    try:
        return ast.literal_eval(value)
    except (ValueError, SyntaxError, MemoryError, RecursionError):  # the last two if nested deeply
        return value
