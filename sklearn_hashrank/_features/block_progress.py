"""The size of blocks, and progress lines while blocks are encoded."""

from collections.abc import Iterator
from typing import Any

from .._utils.parameters import is_int


def report_progress(
    encoded: Iterator[Any], name: str, n_rows: int | None, verbose: int
) -> Iterator[Any]:
    """Print a line every `verbose` blocks of codes or pairs, and one at the end."""
    number, done, total = 0, 0, "" if n_rows is None else f" of {n_rows:,}"

    def report():
        print(f"[{name}] block {number}: {done:,}{total} rows")

    for number, block in enumerate(encoded, 1):
        done += len(block[0] if isinstance(block, tuple) else block)
        yield block
        if number % verbose == 0:
            report()
    if number % verbose:
        report()


def check_batch_size(batch_size: Any) -> None:
    """Refuse what is neither "auto" nor a positive int."""
    is_auto = isinstance(batch_size, str) and batch_size == "auto"
    if not is_auto and not is_int(batch_size, 1):
        raise ValueError(f"batch_size must be 'auto' or an int >= 1. Got {batch_size!r} instead.")
