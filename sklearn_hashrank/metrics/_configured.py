"""A measure with its options: from keywords, or from one word such as ``ndcg@100:gain=linear``."""

import ast
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from .._utils.notation import split_notation
from ._measure import COMMON_PARAMETERS, Function, Measure, TieOrder, among, refuse
from ._registry import get_measure

_EXAMPLE = "ndcg@100:gain=linear"
_OTHER_EXAMPLE = "nDCG@10 or AP(rel=2)@100"

# The names of ir_measures: a name of ours, and the options that differ from our defaults.
_OF_IR_MEASURES: dict[str, tuple[str, dict[str, Any]]] = {
    "AP": ("ap", {}),
    "MAP": ("ap", {}),
    "nDCG": ("ndcg", {"gain": "linear"}),
    "NDCG": ("ndcg", {"gain": "linear"}),
    "P": ("precision", {}),
    "Precision": ("precision", {}),
    "R": ("recall", {}),
    "Recall": ("recall", {}),
    "RR": ("rr", {}),
    "MRR": ("rr", {}),
    "Rprec": ("rprec", {}),
    "RPrec": ("rprec", {}),
    "Success": ("hit_rate", {}),
    "RBP": ("rbp", {}),
    "Bpref": ("bpref", {}),
    "BPref": ("bpref", {}),
}
_THEIR_OPTIONS = {"cutoff": "k", "rel": "level", "p": "p", "dcg": "gain"}
_THEIR_GAINS = {"log2": "linear", "exp-log2": "exponential"}
_THEIR_FORM = re.compile(r"\s*([A-Za-z]+)\s*(\(.*\))?\s*(?:@\s*([^@:]*?)\s*)?$")


@dataclass(frozen=True, eq=False)
class ConfiguredMeasure:
    """A measure with options that :func:`configure_measure` has checked.

    Parameters
    ----------
    measure : Measure
        What is evaluated.
    cut : int or None
        The first `cut` places count, or the ties within this radius.
    ties : {"expected", "optimistic", "pessimistic", "docid"}
        The mean, the maximum or the minimum over all orders of tied items, or their order by id.
    zero_division : float
        The value of a query that nothing is relevant to.
    level : float or None
        The lowest level that is relevant. None: every level above 0.
    options : mapping of str to str or float
        All further options of the measure.
    given : mapping of str to object
        All keywords as they were given.
    """

    measure: Measure
    cut: int | None
    ties: TieOrder
    zero_division: float
    level: float | None
    options: Mapping[str, str | float]
    given: Mapping[str, Any]


def configure_measure(
    measure: str | Function | Measure | ConfiguredMeasure, **options: Any
) -> ConfiguredMeasure:
    """Find a measure and check its options. Every evaluation passes here, once.

    Parameters
    ----------
    measure : str, callable, Measure or ConfiguredMeasure
        What `get_measure` finds, or a notation with options. A measure that has its options
        takes no others.
    **options : int, float or str
        `k` or `radius`, `ties`, `zero_division`, `level`, and further options of the measure.

    Returns
    -------
    configured : ConfiguredMeasure

    Raises
    ------
    ValueError
        If a value, or the name of the measure, is not accepted.
    TypeError
        If the measure has no option of a given name.
    """
    if isinstance(measure, ConfiguredMeasure):
        if options:
            raise TypeError(f"{measure.measure.name} has its options already. Got {options}.")
        return measure
    if isinstance(measure, str):
        found, own = parse_measure(measure)
        twice = sorted(own.keys() & options.keys())
        if twice:
            raise TypeError(f"measure {measure!r} has {twice[0]} already. Got {options}.")
        options = own | options
    else:
        found = get_measure(measure)
    for name, value in options.items():
        if name not in found.keywords:
            accepted = ", ".join(map(repr, found.parameters))
            raise TypeError(f"{found.name} has no parameter {name!r}. It accepts {accepted}.")
        if not found.keywords[name].accepts(value):
            refuse(name, found.name, found.keywords[name].accepted, value)
    values = {name: keyword.default for name, keyword in found.keywords.items()} | options
    cut, ties = values.pop(found.cut, None), values.pop("ties")
    zero_division, level = float(values.pop("zero_division")), values.pop("level", None)
    cut = None if cut is None else int(cut)
    level = None if level is None else float(level)
    return ConfiguredMeasure(found, cut, ties, zero_division, level, values, options)


def parse_measure(notation: str) -> tuple[Measure, dict[str, Any]]:
    """Return the measure and the options that ``"ap@5000:normalize=retrieved"`` stands for.

    Parameters
    ----------
    notation : str
        A name of the measure; ``@`` and an int, where only the first `k` places or a Hamming
        `radius` count; and ``:option=value`` for each further option. Or a measure as ir_measures
        writes it: ``"nDCG@10"``, ``"AP(rel=2)"``, ``"RBP(p=0.5)"``. Behind that may stand what it
        has no words for, `ties` and `zero_division`: ``"nDCG@10:ties=docid"``.

    Returns
    -------
    measure : Measure
    options : dict of str to object
        For `configure_measure`, which checks them.
    """
    theirs = _match_theirs(notation)
    if theirs is not None:
        return _parse_theirs(notation, *theirs.groups())
    name, options = split_notation(notation, "measure", _EXAMPLE)
    theirs = _match_theirs(name)
    if theirs is not None:
        if not set(options) <= set(COMMON_PARAMETERS):
            raise ValueError(
                f"measure {notation!r}: {theirs[1]} is a name of ir_measures, whose options stand "
                f"in brackets, as in {_OTHER_EXAMPLE}."
            )
        measure, given = _parse_theirs(name, *theirs.groups())
        return measure, given | options
    name, at, cut = (part.strip() for part in name.partition("@"))
    if name in _OF_IR_MEASURES:
        raise ValueError(
            f"measure {notation!r}: {name} is a name of ir_measures, which is written as in "
            f"{_OTHER_EXAMPLE}."
        )
    measure = get_measure(name)
    if at:
        if measure.cut in options:
            raise ValueError(
                f"measure {notation!r} gives {measure.cut} twice, by @ and by {measure.cut}=."
            )
        options = {measure.cut: _int_after_at(notation, cut, _EXAMPLE)} | options
    return measure, options


def _match_theirs(notation: str) -> re.Match[str] | None:
    found = _THEIR_FORM.match(notation)
    return found if found is not None and found[1] in _OF_IR_MEASURES else None


def _int_after_at(notation: str, cut: str, example: str) -> int:
    if not cut.isascii() or not cut.isdecimal():
        raise ValueError(
            f"measure {notation!r}: an int must follow the @, as in {example}. Got {cut!r}."
        )
    return int(cut)


def _parse_theirs(
    notation: str, name: str, brackets: str | None, cut: str | None
) -> tuple[Measure, dict[str, Any]]:
    """Translate a notation of ir_measures; its NDCG has linear gains."""
    ours, defaults = _OF_IR_MEASURES[name]
    measure, options = get_measure(ours), dict(defaults)
    try:
        call = ast.parse(f"f{brackets or '()'}", mode="eval").body
        assert isinstance(call, ast.Call)
        given = {str(each.arg): ast.literal_eval(each.value) for each in call.keywords}
        names = [each.arg for each in call.keywords]
        is_call = not call.args and None not in names
    except (ValueError, SyntaxError, MemoryError, RecursionError, AssertionError):
        is_call = False
    if not is_call:
        raise ValueError(
            f"measure {notation!r}: the brackets must hold name=value, as in {_OTHER_EXAMPLE}."
        )
    if len(given) < len(names):
        raise ValueError(f"measure {notation!r} gives an option twice.")
    if cut is not None:
        if "cutoff" in given:
            raise ValueError(f"measure {notation!r} gives cutoff twice, by @ and by cutoff=.")
        given["cutoff"] = _int_after_at(notation, cut, _OTHER_EXAMPLE)
    for option, value in given.items():
        if option == "judged_only":
            raise ValueError(
                f"measure {notation!r}: judged_only concerns every measure of a run. Remove what "
                "is not judged by RetrievalHistogram.from_run(..., unjudged='remove')."
            )
        if option not in _THEIR_OPTIONS:
            raise ValueError(
                f"measure {notation!r}: an option must be {among(_THEIR_OPTIONS)}. "
                f"Got {option!r} instead."
            )
        if option == "dcg":
            if value not in _THEIR_GAINS:
                raise ValueError(
                    f"measure {notation!r}: dcg must be {among(_THEIR_GAINS)}. Got {value!r}."
                )
            value = _THEIR_GAINS[value]
        options[_THEIR_OPTIONS[option]] = value
    return measure, options
