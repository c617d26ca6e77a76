"""Bring files that options name by addresses to this machine while a command runs."""

import contextlib
import os
import sys
import tempfile
from argparse import Namespace
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import Any

from . import _file_systems

_OUTPUTS = ("output", "run_output", "per_query", "neighbors_output")
_READ_IN_PLACE = (".parquet", "")  # folders have no suffix


class Staging:
    """The files of a command that are elsewhere, and what they are called here.

    Parquet files, folders and patterns are read where they are, block by block. Other inputs are
    copied to a temporary folder. Outputs are written to it, and copied when the command is done, so
    that they appear complete or not at all. What is printed shows the addresses.
    """

    def __init__(self) -> None:
        self._names: dict[str, str] = {}

    def shown(self, text: str) -> str:
        """Text with addresses in place of the names of copies."""
        for local, url in self._names.items():
            text = text.replace(local, url)
        return text

    @contextlib.contextmanager
    def files_of(self, options: Namespace) -> Iterator[None]:
        """Replace the addresses in options by files of this machine, for a while."""
        with contextlib.ExitStack() as stack:
            for option, value in vars(options).items():
                places = value if isinstance(value, list) else [value]
                if any(map(_file_systems.is_url, places)):
                    bring = self._output if option in _OUTPUTS else self._input
                    new = [bring(place, stack) for place in places]
                    setattr(options, option, new if isinstance(value, list) else new[0])
            if self._names:
                stack.enter_context(contextlib.redirect_stdout(_Shown(sys.stdout, self)))
                stack.enter_context(contextlib.redirect_stderr(_Shown(sys.stderr, self)))
            yield

    def _input(self, place: Any, stack: contextlib.ExitStack) -> Any:
        if not _file_systems.is_url(place) or not _file_systems.is_url(
            _file_systems.without_protocol(place)
        ):
            return _file_systems.without_protocol(place) if isinstance(place, str) else place
        file, array = _split(place)
        if _kind(file) in _READ_IN_PLACE or _file_systems.has_pattern(file):
            return place
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        local = os.path.join(folder, PurePosixPath(file).name)
        self._names[local] = file
        _file_systems.download(file, local)
        return local + array

    def _output(self, place: Any, stack: contextlib.ExitStack) -> Any:
        place = _file_systems.without_protocol(place)
        if not _file_systems.is_url(place) or not _kind(place):
            return place  # a folder is written to shard by shard
        local = stack.enter_context(_file_systems.local_output(place))
        self._names[local] = place
        return local


class _Shown:
    """A stream that shows the addresses of files in place of the names of copies."""

    def __init__(self, stream: Any, staging: Staging):
        self._stream, self._staging = stream, staging

    def write(self, text: str) -> int:
        """Write text."""
        return int(self._stream.write(self._staging.shown(text)))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def _split(place: str) -> tuple[str, str]:
    """The address of a file, and the name of an array or a column in it, with its colon."""
    file, colon, name = place.rpartition(":")
    return (file, colon + name) if "/" not in name and _file_systems.is_url(file) else (place, "")


def _kind(file: str) -> str:
    return PurePosixPath(file).suffix.lower()
