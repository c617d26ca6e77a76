"""The options that several commands share, and the kinds of values that options take."""

import importlib
import os
import re
import sys
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Callable
from typing import Any

from .._features.nearest_rows import METRICS
from ..comparison._columns import MEASURED, name_measures
from ..metrics._configured import ConfiguredMeasure
from ..metrics._registry import list_measures
from ._data import NAMED
from ._errors import UsageError
from ._file_systems import Input

_COMMA = re.compile(r",(?![^(\[]*[)\]])")
ALL = 0  # where "all" may stand for a number


def words(text: str) -> list[str]:
    """Split at commas, except at those inside brackets, as of a tuple."""
    return [word.strip() for word in _COMMA.split(text) if word.strip()]


def method_words(text: str) -> list[str]:
    """Split names of methods, of which factory strings of faiss have commas in them.

    What begins with a capital letter goes on with such a string: no method is written so.
    """
    names: list[str] = []
    for word in words(text):
        is_faiss = names and names[-1].rpartition("=")[2].startswith("faiss:")
        if is_faiss and word[0].isupper():
            names[-1] += f",{word}"
        else:
            names.append(word)
    return names


def add_parser(
    commands: Any, name: str, purpose: str, run: Callable[..., int | None], epilog: str = ""
) -> ArgumentParser:
    parser: ArgumentParser = commands.add_parser(
        name, help=purpose, description=purpose.capitalize() + ".", epilog=epilog
    )
    parser.set_defaults(run=run)
    return parser


def add_data_options(parser: ArgumentParser, required: bool = True) -> None:
    parser.add_argument(
        "--data",
        type=Input,
        required=required,
        metavar="NAME|FILE",
        help=f"{', '.join(NAMED)}; or a .npy, .npz, .mat, .pt, .csv or .parquet file of features, "
        "FILE:NAME for one of its arrays",
    )
    parser.add_argument("--labels", type=Input, metavar="FILE", help="labels, one row per item")
    add_label_column(parser)
    add_id_column(parser)
    parser.add_argument(
        "--exclude-column",
        metavar="NAME",
        action="append",
        default=[],
        help="column of a table to ignore",
    )


def add_label_column(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--label-column",
        metavar="NAME",
        action="append",
        default=[],
        help="column or array of labels; several are a label path, coarse to fine",
    )


def add_id_column(parser: ArgumentParser) -> None:
    parser.add_argument("--id-column", metavar="NAME", help="column of ids (default: id)")


def add_model(parser: ArgumentParser, required: bool = False) -> None:
    parser.add_argument(
        "--model", type=Input, required=required, metavar="FILE", help="model from hashrank fit"
    )


def add_inputs(parser: ArgumentParser, **helps: str) -> None:
    """Add an option for each file to read, with its help."""
    for name, text in helps.items():
        parser.add_argument(flag(name), type=Input, metavar="FILE", help=text)


def add_bits(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--bits", type=positive, default=32, metavar="N", help="code length (default: 32)"
    )


def add_codes(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--codes",
        type=_named_file,
        action="append",
        default=[],
        metavar="NAME=FILE",
        help="codes of the rows from elsewhere, and a name for them",
    )


def add_code_length(parser: ArgumentParser) -> None:
    parser.add_argument("--bits", type=positive, metavar="N", help="code length of packed codes")
    add_threshold(parser)


def add_threshold(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--threshold", type=float, metavar="T", help="value above which a bit is 1, for real codes"
    )


def add_jobs(parser: ArgumentParser, what: str = "threads") -> None:
    parser.add_argument("--n-jobs", type=int, metavar="N", help=f"number of {what} (default: 1)")


def add_rescoring(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--rescore",
        type=positive,
        metavar="K",
        help="number of nearest items to measure after rescoring",
    )


def add_neighbors(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--neighbors",
        type=positive,
        metavar="K",
        help="number of nearest rows that are relevant, in place of labels",
    )
    add_metric(parser)


def add_metric(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--metric", choices=METRICS, help=f"distance of original vectors (default: {METRICS[0]})"
    )


def need(options: Namespace, name: str, *others: str) -> None:
    """Refuse an option that is of no use without one of others."""
    if _is_given(options, name) and not any(_is_given(options, other) for other in others):
        raise UsageError(f"{flag(name)} needs {' or '.join(map(flag, others))}.")


def exclude(options: Namespace, name: str, *others: str) -> None:
    """Refuse an option beside others that say something else of the same."""
    for other in others:
        if _is_given(options, name) and _is_given(options, other):
            raise UsageError(f"{flag(name)} and {flag(other)} exclude each other.")


def _is_given(options: Namespace, name: str) -> bool:
    value = getattr(options, name)
    return value is not None and value is not False and value not in ([], "auto")


def flag(name: str) -> str:
    """The option of a name."""
    return "--run" if name.startswith("run_") else f"--{name.replace('_', '-')}"


def add_measures(parser: ArgumentParser) -> None:
    names = sorted(measure.short_name for measure in list_measures())
    parser.add_argument(
        "--measures",
        type=words,
        default=",".join(MEASURED),
        metavar="NAME,...",
        help=f"{', '.join(names)}; each with @K or @RADIUS and :option=value, as in "
        "ap@5000:normalize=retrieved (default: %(default)s)",
    )
    parser.add_argument(
        "--import",
        dest="modules",
        action="append",
        default=[],
        type=_import,
        metavar="MODULE",
        help="Python module that registers measures",
    )


def check_measures(names: list[str]) -> dict[str, ConfiguredMeasure]:
    """Find the measures that were named, after the modules are imported that may register them."""
    try:
        return name_measures(names)
    except (TypeError, ValueError) as error:
        raise UsageError(f"--measures: {error}") from error


def _import(name: str) -> str:
    if os.getcwd() not in sys.path and "" not in sys.path:
        sys.path.insert(0, os.getcwd())
    try:
        importlib.import_module(name)
    except Exception as error:  # code of a user can raise anything
        text = " ".join(f"{type(error).__name__}: {error}".split())
        raise ArgumentTypeError(f"{name!r} cannot be imported: {text}") from error
    return name


def _named_file(text: str) -> tuple[str, str]:
    name, equals, path = text.partition("=")
    if not (name.strip() and equals and path):
        raise ArgumentTypeError(f"{text!r} must read NAME=FILE")
    return name.strip(), Input(path)


def lengths(text: str) -> list[int]:
    return [positive(word) for word in words(text)]


def positive(text: str) -> int:
    return _at_least(text, 1)


def not_negative(text: str) -> int:
    return _at_least(text, 0)


def number_or_all(text: str) -> int:
    return ALL if text == "all" else positive(text)


def _at_least(text: str, least: int) -> int:
    try:
        number = int(text)
    except ValueError:
        number = least - 1
    if number < least:
        raise ArgumentTypeError(f"{text!r} is not an int >= {least}")
    return number
