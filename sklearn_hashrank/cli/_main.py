"""Run the ``hashrank`` command: read arguments, show each error in one line, set the exit code."""

import argparse
import contextlib
import difflib
import io
import os
import signal
import sys
import threading
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from .. import __version__
from . import (
    _command_compare,
    _command_encode,
    _command_evaluate,
    _command_explore,
    _command_fit,
    _command_methods,
    _command_search,
    _command_suggest,
    _command_warmup,
)
from ._file_systems import brought_here
from ._messages import say
from ._outputs import check_outputs, check_words

_COMMANDS = (
    _command_suggest,
    _command_compare,
    _command_methods,
    _command_fit,
    _command_encode,
    _command_evaluate,
    _command_search,
    _command_explore,
    _command_warmup,
)
_DESCRIPTION = (
    "Learning to hash: compare methods, and fit, encode, evaluate, search and look on files."
)
_EPILOG = """\
examples:
  hashrank suggest --data train.csv --label-column class --bits 32
  hashrank compare --data digits --methods lsh,itq,talr-ap --bits 12,24,48 --output results
  hashrank fit --data train.csv --label-column class --method talr-ap --bits 32 --output model.npz
  hashrank encode --model model.npz --data items.npy --output codes.npy
  hashrank evaluate --database codes.npy --database-labels labels.npy
  hashrank search --database codes.npy --queries codes.npy -k 10 --output found.npz
  hashrank explore --data digits --model model.npz --output page.html

exit codes: 0 done, 1 some runs failed or an unexpected error, 2 wrong input or usage,
130 interrupted, 143 terminated
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the ``hashrank`` command.

    Parameters
    ----------
    arguments : sequence of str, default=None
        What follows the command's name; None: that of this process.

    Returns
    -------
    exit_code : int
        0 done, 1 some runs failed or an unexpected error, 2 wrong input, 130 interrupted by Ctrl-C,
        143 by SIGTERM.

    Examples
    --------
    >>> from sklearn_hashrank.cli import main
    >>> main(["encode", "--model", "nothing.npz", "--data", "X.npy", "--output", "codes.npy"])
    2
    """
    words = list(sys.argv[1:] if arguments is None else arguments)
    options = argparse.Namespace(debug=False)
    with _interrupted_by_sigterm() as signals:
        try:
            options = _parse(words)
            with warnings.catch_warnings():
                warnings.showwarning = _each_once()
                check_words(words)
                check_outputs(options)
                with _any_character(sys.stdout), _any_character(sys.stderr), brought_here(options):
                    return options.run(options, words) or 0
        except BrokenPipeError:  # the reader of our output has seen enough
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return 0
        except (Exception, KeyboardInterrupt) as error:
            if options.debug:
                raise
            line, exit_code = _explain(error)
            say(line)
            return 128 + signals[0] if signals else exit_code


@contextlib.contextmanager
def _interrupted_by_sigterm() -> Iterator[list[int]]:
    """Let SIGTERM, which clusters send, end a command as Ctrl-C does; give what came."""
    came: list[int] = []

    def interrupt(number: int, frame: Any) -> None:
        came.append(number)
        signal.signal(number, signal.SIG_DFL)  # the next one ends the process at once
        raise KeyboardInterrupt

    is_main = threading.current_thread() is threading.main_thread()
    if not is_main or signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL:
        yield came  # somebody else handles it
        return
    signal.signal(signal.SIGTERM, interrupt)
    try:
        yield came
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)


def _parse(words: list[str]) -> argparse.Namespace:
    """Read the arguments; what is not understood is refused with what may be meant."""
    parser, commands = _parser()
    if words and not words[0].startswith("-") and words[0] not in commands:
        parser.error(f"unknown command {words[0]!r}.{_meant(words[0], commands)}")
    options, unknown = parser.parse_known_args(words)
    for word in unknown:
        if word.startswith("-"):
            command = next(commands[each] for each in words if each in commands)
            known = command._option_string_actions
            parser.error(f"unknown option {word!r}.{_meant(word.partition('=')[0], known)}")
        before = words[: words.index(word)]
        option = next((each for each in reversed(before) if each.startswith("-")), None)
        hint = f" {option} takes one value; lists have commas and no spaces." if option else ""
        parser.error(f"nothing takes the argument {word!r}.{hint}")
    return options


def _meant(word: str, known: Iterable[str]) -> str:
    near = difflib.get_close_matches(word, known, n=1)
    return f" Did you mean {near[0]!r}?" if near else f" There are {', '.join(sorted(known))}."


def _parser() -> tuple[argparse.ArgumentParser, dict[str, argparse.ArgumentParser]]:
    """The parser, and those of the commands by name."""
    parser = argparse.ArgumentParser(
        "hashrank",
        description=_DESCRIPTION,
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"hashrank {__version__}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for module in _COMMANDS:
        module.add_command(commands)
    for command in commands.choices.values():
        command.formatter_class = argparse.RawDescriptionHelpFormatter
        command.add_argument("--debug", action="store_true", help="show the traceback of an error")
    return parser, commands.choices


def _each_once() -> Callable[..., None]:
    """Write each warning to standard error, the first time it comes."""
    shown = set()

    def show(message: Warning | str, *_: Any, **__: Any) -> None:
        line = " ".join(str(message).split())
        if line not in shown:
            shown.add(line)
            say(f"warning: {line}")

    return show


@contextlib.contextmanager
def _any_character(stream: Any) -> Iterator[None]:
    """Write characters that the encoding of a stream lacks as escapes, for a while."""
    if not isinstance(stream, io.TextIOWrapper) or stream.closed:
        yield
        return
    before = stream.errors
    stream.reconfigure(errors="backslashreplace")
    try:
        yield
    finally:
        stream.reconfigure(errors=before)


def _explain(error: Exception | KeyboardInterrupt) -> tuple[str, int]:
    """Put an error into one line, and find the exit code that belongs to it."""
    match error:
        case KeyboardInterrupt():
            return str(error) or "interrupted; no file is written in part", 130
        case ValueError() | OSError():
            return f"error: {_one_line(error)}", 2
        case MemoryError():
            return f"error: this does not fit into memory: {_one_line(error)}", 2
    line = f"unexpected error: {type(error).__name__}: {_one_line(error)}"
    return f"{line} (--debug shows where)", 1


def _one_line(error: Exception) -> str:
    if isinstance(error, OSError) and error.strerror and error.filename is not None:
        return f"{error.filename}: {error.strerror}"
    return " ".join(str(error).split()) or type(error).__name__
