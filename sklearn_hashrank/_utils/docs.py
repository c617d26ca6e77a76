"""Texts of docstrings that several functions or classes share."""

import re
import textwrap
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

_Documented = TypeVar("_Documented", bound=Callable[..., Any])


def documented_by(
    fragments: Mapping[str, str], indent: int = 0
) -> Callable[[_Documented], _Documented]:
    """Make a decorator that writes shared texts into docstrings.

    A line that holds nothing but ``{name}`` is replaced by the text of this name, at the
    indentation of the line. So ``help()`` and the reference show whole docstrings.

    Parameters
    ----------
    fragments : mapping of str to str
        The texts by name. Blank lines at their ends do not count.
    indent : int, default=0
        Spaces that all lines of a text but the first have in front of them.

    Returns
    -------
    documented : callable
        The decorator, for functions and classes.
    """
    texts = {
        name: textwrap.dedent(" " * indent + text).strip("\n") for name, text in fragments.items()
    }
    places = re.compile(r"^( *)\{(" + "|".join(map(re.escape, texts)) + r")\}$", re.MULTILINE)

    def documented(thing: _Documented) -> _Documented:
        """Write the shared texts into a docstring."""
        text = thing.__doc__ or ""
        thing.__doc__ = places.sub(lambda place: textwrap.indent(texts[place[2]], place[1]), text)
        return thing

    return documented
