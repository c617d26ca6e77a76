"""Kinds of values that options take."""

from argparse import ArgumentTypeError

ALL = 0  # where "all" may stand for a number


def words(text: str) -> list[str]:
    """Words between commas."""
    return [word.strip() for word in text.split(",") if word.strip()]


def lengths(text: str) -> list[int]:
    """Numbers above zero between commas."""
    return [positive(word) for word in words(text)]


def positive(text: str) -> int:
    """Return an int, at least 1."""
    return _at_least(text, 1)


def not_negative(text: str) -> int:
    """Return an int, at least 0."""
    return _at_least(text, 0)


def jobs(text: str) -> int:
    """Return an int but 0, as joblib takes it: how many, or -1 for one of each processor."""
    try:
        number = int(text)
    except ValueError:
        number = 0
    if number == 0:
        raise ArgumentTypeError(f"{text!r} is not an int other than 0")
    return number


def number_or_all(text: str) -> int:
    """Return an int, at least 1, or `ALL`."""
    return ALL if text == "all" else positive(text)


def _at_least(text: str, least: int) -> int:
    try:
        number = int(text)
    except ValueError:
        number = least - 1
    if number < least:
        raise ArgumentTypeError(f"{text!r} is not an int >= {least}")
    return number
