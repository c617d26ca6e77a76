"""Opening files to read them, and one error for whatever a parser finds in them."""

import errno
import os
import stat
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, Any

_LONGEST_REASON = 200  # characters of a parser's message, which may quote the file


class MalformedFileError(ValueError):
    """A file that is not of the format it should be; its message is one line that names it."""


@contextmanager
def reading(
    path: Any, message: str, passing: type[Exception] = MalformedFileError
) -> Iterator[None]:
    """Turn whatever a parser raises into one error that names the file.

    Parsers meet malformed files with errors of many types. Errors of the system, such as that of
    a missing file, pass; errors of the type `passing` have a message for the user already. The
    message is the name of the file and `message`, with the parser's reason in place of ``{}``.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # such as numpy's of headers by Python 2
            yield
    except (MalformedFileError, passing):
        raise
    except MemoryError as error:
        raise MalformedFileError(f"{os.fspath(path)}: does not fit into memory.") from error
    except Exception as error:  # every parser has errors of its own
        if isinstance(error, OSError) and error.errno is not None:
            raise
        reason = " ".join(str(error).split())[:_LONGEST_REASON] or type(error).__name__
        said = message.replace("{}", reason.rstrip("."))
        raise MalformedFileError(f"{os.fspath(path)}{said}") from error


def open_regular(path: Any) -> IO[bytes]:
    """Open a file to read it, if it is a regular one: reading from a pipe could wait for ever."""
    mode = os.stat(path).st_mode
    if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):  # open() refuses folders
        raise OSError(errno.EINVAL, "is not a regular file", os.fspath(path))
    return open(path, "rb")
