"""Entry point of ``hashrank``, outside of the package so that Ctrl-C is handled while it loads."""

import os
import signal
import sys
from types import FrameType


def main() -> int:
    """Import the package, which takes about a second, and run the command."""
    end_at_interrupt()
    from sklearn_hashrank.cli import main as run

    if signal.getsignal(signal.SIGINT) is _end:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    return run()


def end_at_interrupt() -> None:
    """Let Ctrl-C end the process without a traceback; background jobs ignore it, and still do."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _end)


def _end(number: int, frame: FrameType | None) -> None:
    """End at once: an exception could be taken for a failed import by a library that tries one."""
    sys.stderr.write("hashrank: interrupted\n")
    sys.stderr.flush()
    os._exit(130)
