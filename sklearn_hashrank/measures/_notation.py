"""Measures with their options in one word."""

from typing import Any

from .._utils.notation import split_notation
from ._measure import Measure
from ._registry import get_measure

_EXAMPLE = "ndcg@100:gain=linear"


def parse_measure(notation: str) -> tuple[Measure, dict[str, Any]]:
    """Return the measure and the options that ``"ap@5000:normalize=retrieved"`` stands for.

    Parameters
    ----------
    notation : str
        A name of the measure; ``@`` and an int, where only the first `k` places or a Hamming
        `radius` count; and ``:option=value`` for each further option.

    Returns
    -------
    measure : Measure
    options : dict of str to object
        For `configure_measure`, which checks them.
    """
    name, options = split_notation(notation, "measure", _EXAMPLE)
    name, at, cut = (part.strip() for part in name.partition("@"))
    measure = get_measure(name)
    if at:
        if not cut.isascii() or not cut.isdecimal():
            raise ValueError(
                f"measure {notation!r}: an int must follow the @, as in {_EXAMPLE}. Got {cut!r}."
            )
        if measure.cut in options:
            raise ValueError(
                f"measure {notation!r} gives {measure.cut} twice, by @ and by {measure.cut}=."
            )
        options = {measure.cut: int(cut)} | options
    return measure, options
