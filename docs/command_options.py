"""The page of the reference with every command and option, made from the parser itself."""

import re
from argparse import SUPPRESS, ArgumentParser
from pathlib import Path

from sklearn_hashrank.cli._main import _parser


def write_page(path: Path) -> None:
    """Write the page in reStructuredText."""
    title = "Options of the command line"
    lines = [".. _options:", "", "=" * len(title), title, "=" * len(title), ""]
    lines += [":ref:`cli` explains the commands. This page lists their options.", ""]
    for name, command in _parser()[1].items():
        heading = f"hashrank {name}"
        lines += [heading, "=" * len(heading), ""]
        lines += [_text(" ".join((command.description or "").split())), ""]
        for action in command._actions:
            if action.help not in (None, SUPPRESS) and action.dest != "help":
                lines += [_names(action), f"    {_help(command, action)}"]
        lines.append("")
    content = "\n".join(lines)
    if not path.exists() or path.read_text("utf-8") != content:
        path.write_text(content, "utf-8")


def _names(action) -> str:
    value = "" if action.nargs == 0 else f" {action.metavar or action.dest.upper()}"
    return ", ".join(f"``{name}{value}``" for name in action.option_strings or [action.dest])


def _help(command: ArgumentParser, action) -> str:
    return _text(" ".join(command._get_formatter()._expand_help(action).split()))


def _text(words: str) -> str:
    return re.sub(r"([*`|_\\:])", r"\\\1", words)
