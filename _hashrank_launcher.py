"""Entry point of ``hashrank``, outside of the package so that Ctrl-C is handled while it loads."""

import os
import signal
import sys
from types import FrameType


def main() -> int:
    """Import the package, which takes about a second, and run the command."""
    handler = signal.getsignal(signal.SIGINT)
    if handler is signal.default_int_handler:  # background jobs ignore Ctrl-C, and still do
        signal.signal(signal.SIGINT, _end)
    from sklearn_hashrank.cli import main as run

    signal.signal(signal.SIGINT, handler)
    return run()


def _end(number: int, frame: FrameType | None) -> None:
    """End at once: an exception could be taken for a failed import by a library that tries one."""
    sys.stderr.write("hashrank: interrupted\n")
    sys.stderr.flush()
    os._exit(130)
