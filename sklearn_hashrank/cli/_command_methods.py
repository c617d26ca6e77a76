"""``hashrank methods``: list the names of methods, or the parameters of one."""

import inspect
import re
from argparse import Namespace
from typing import Any

from ..comparison._method_table import (
    GROUPS,
    METHODS,
    find_method,
    method_from_name,
    parameters_to_set,
)
from ._arguments import add_parser

_MARKUP = (
    (re.compile(r":\w+:`~[\w.]*\.(\w+)`"), r"\1"),
    (re.compile(r":\w+:`([\w.]+)`"), r"\1"),
    (re.compile(r"``(.+?)``|`(.+?)`"), r"\1\2"),
    (re.compile(r" \[\d+\]_"), ""),
)
_END_OF_SENTENCE = re.compile(r"(?<=\.)\s")


def add_command(commands: Any) -> None:
    purpose = "list the methods in groups, with a line about each, or the parameters of one"
    parser = add_parser(commands, "methods", purpose, _run)
    parser.add_argument(
        "name", nargs="?", metavar="NAME", help="a method, whose parameters are listed"
    )


def _run(options: Namespace, arguments: list[str]) -> None:
    if options.name is None:
        _list_methods()
    else:
        _list_parameters(options.name)


def _list_methods() -> None:
    width = max(map(len, METHODS))
    for group, text in GROUPS.items():
        print(f"{group}: {text}")
        for name, method in METHODS.items():
            if method.group == group:
                print(f"  {name:{width}} {'*' if method.needs_y else ' '} {method.line}")
    print("compare also takes faiss:FACTORY, and hashers with :distance=asymmetric or =decoded")
    print("* refuses rows without labels")


def _list_parameters(notation: str) -> None:
    hasher = method_from_name(notation)
    lines = _first_sentences(type(hasher))
    if hasattr(getattr(hasher, "objective", None), "get_params"):
        lines |= _first_sentences(type(hasher.objective))  # its parameters are set by their names
    shown = {f"{name}={value!r}": name for name, value in parameters_to_set(hasher).items()}
    width = max(map(len, shown), default=0)
    method = find_method(notation.partition(":")[0].strip())
    print(f"{notation}: {method.line}")
    for text, name in shown.items():
        print(f"  {text:{width}}  {lines.get(name, '')}".rstrip())
    how = f"Set them as in {notation}:parameter=value." if shown else "It has no parameters to set."
    print(f"{how} The class is {type(hasher).__name__}.")


def _first_sentences(of: type) -> dict[str, str]:
    """First sentence about each parameter in the docstring of a class, without markup."""
    _, _, section = (inspect.getdoc(of) or "").partition("\nParameters\n----------\n")
    sentences = {}
    for entry in re.split(r"\n(?=\S)", section.partition("\n\n")[0]):
        names, *description = entry.splitlines()
        sentence = _END_OF_SENTENCE.split(" ".join(map(str.strip, description)))[0]
        for markup, plain in _MARKUP:
            sentence = markup.sub(plain, sentence)
        for name in names.partition(" : ")[0].split(","):
            sentences[name.strip()] = sentence
    return sentences
