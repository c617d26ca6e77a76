"""Messages to the user, on standard error."""

import sys
from typing import Any

from .._utils.text import plain

_COPIES: dict[str, str] = {}  # of inputs that have addresses: the address of each copy


def note(text: str) -> None:
    """Print what is no error."""
    say(f"note: {text}")


def say(text: str) -> None:
    """Print a line, in which copies of inputs have the addresses that the user gave."""
    for copy, address in _COPIES.items():
        text = text.replace(copy, address)
    print(f"hashrank: {plain(text)}", file=sys.stderr)


def print_progress(done: Any, n_done: int, n_total: int) -> None:
    """Print how far long work is."""
    print(f"[{n_done}/{n_total}] {done}", file=sys.stderr, flush=True)


def name_copy(path: str, address: str) -> None:
    """Call a copy by its address in messages."""
    _COPIES[path] = address


def forget_copies() -> None:
    """Call paths by their names again."""
    _COPIES.clear()
