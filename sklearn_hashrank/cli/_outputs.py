"""What a command writes is checked before anything is read: no output replaces an input."""

import fnmatch
import glob
import os
import re
from argparse import Namespace
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from .._files.atomic import check_output
from ..comparison._comparison import WRITTEN_FILES
from ._arguments import flag
from ._errors import UsageError
from ._file_systems import (
    Input,
    Output,
    address,
    find_files,
    has_pattern,
    is_file,
    is_folder,
    is_url,
    local_path,
)


def output(*suffixes: str, may_be_folder: bool = False) -> Callable[[str], Output]:
    """Type of an option that names an output file of one of these kinds, or a folder."""

    def parse(text: str) -> Output:
        path = Output(local_path(text))
        path.suffixes, path.may_be_folder = suffixes, may_be_folder
        return path

    return parse


class Report(Output):
    """A folder for reports, which may hold other files, too."""

    def places(self) -> list[Output]:
        """Files and folders that reports are made of."""
        names = [*WRITTEN_FILES.values(), "runs", "figures"]
        return [Output(os.path.join(self, name)) for name in names]


def check_words(words: Iterable[str]) -> None:
    """Refuse arguments that are not UTF-8, because reports and messages could not show them."""
    for word in words:
        try:
            word.encode()
        except UnicodeEncodeError as error:
            raise UsageError(f"{word!a} is not UTF-8. Rename the file or the folder.") from error


def check_outputs(options: Namespace) -> None:
    """Check every output of a command against every file that its inputs resolve to."""
    inputs = [
        place for given in _instances(vars(options).values(), Input) for place in _read(given)
    ]
    for name, path in vars(options).items():
        if not isinstance(path, Output):
            continue
        try:
            _check_name(path)
            for place in path.places():
                for given in inputs:
                    (_check_pattern if has_pattern(given) else _check_pair)(place, given)
                is_new_report = isinstance(path, Report) and not is_folder(path)
                if not (is_new_report or is_url(place) or path.names_folder() or is_folder(place)):
                    check_output(place)
        except (ValueError, OSError) as error:
            raise UsageError(f"{flag(name)}: {error}") from error


def _instances(values: Iterable[Any], kind: type) -> Iterator[Any]:
    for value in values:
        if isinstance(value, kind):
            yield value
        elif isinstance(value, (list, tuple)):
            yield from _instances(value, kind)


def _read(given: str) -> Iterator[str]:
    """Files and folders that an input may mean: a name, a list with commas, a pattern.

    Behind a colon may be the name of an array or a column.
    """
    for whole in {given, given.rpartition(":")[0]}:
        for part in {whole, *whole.split(",")} - {""}:
            path = local_path(part)
            if not is_url(path) and os.path.lexists(path):
                yield path
                if os.path.isdir(path):  # other names of its files may be elsewhere
                    yield from find_files(path, "")
            elif has_pattern(path):
                yield path
                yield from find_files(path, "") if is_url(path) else glob.glob(path, recursive=True)
            elif is_url(path):
                yield path


def _check_name(path: Output) -> None:
    if isinstance(path, Report):
        if is_url(path):
            raise UsageError(f"{path}: reports are written to a folder of this machine.")
        if Path(path).exists() and not Path(path).is_dir():
            raise UsageError(f"{path} is a file: it must name a folder.")
        return
    is_here = not is_url(path)
    if path.names_folder():
        if is_file(path):
            raise UsageError(f"{path} is a file: it must name a folder.")
        if is_folder(path) and (not is_here or os.listdir(path)):
            raise UsageError(f"{path} is not empty. Remove it, or choose another folder.")
    else:
        if path.suffixes and Path(path).suffix.lower() not in path.suffixes:
            raise UsageError(f"{path} must end in {' or '.join(path.suffixes)}.")
        if is_here and os.path.isdir(path):
            raise UsageError(f"{path} is a folder: it must name a file.")
    if is_here and not Path(path).absolute().parent.is_dir():
        raise UsageError(f"{path}: there is no such folder.")


def _check_pair(path: Output, given: str) -> None:
    if _are_same(path, given):
        raise UsageError(f"{path} is the file that is read from, {given}. Choose another output.")
    if _is_inside(given, path):
        raise UsageError(f"{path} holds {given}, which is read from. Choose another output.")
    if not (path.names_folder() or path.lower().endswith(".parquet")):
        return
    # The files of a folder or a pattern are read the next time, too, if they are of its kind.
    if _is_inside(path, given):
        raise UsageError(f"{path} is in the folder that is read from, {given}. Choose another.")


def _check_pattern(path: Output, pattern: str) -> None:
    """Refuse an output that the pattern of an input would find the next time."""
    place = os.path.join(path, "part-0.parquet") if path.names_folder() else path
    start = re.match(r"([^*?[]*/)?", pattern)[0]  # type: ignore[index]  # it always matches
    wanted = _parts(start or ".") + pattern[len(start) :].split("/")
    if _fits(_parts(place), wanted):
        raise UsageError(f"{path} is named by the pattern that is read, {pattern}. Choose another.")


def _fits(parts: list[str], pattern: list[str]) -> bool:
    """Whether the folders and the file of a path are those of a pattern."""
    if not pattern:
        return not parts
    if pattern[0] == "**":
        return any(_fits(parts[first:], pattern[1:]) for first in range(len(parts) + 1))
    is_first = bool(parts) and fnmatch.fnmatchcase(parts[0], pattern[0])
    return is_first and _fits(parts[1:], pattern[1:])


def _parts(path: str) -> list[str]:
    """The protocol, the folders and the name of a path, in one spelling."""
    protocol, place = address(path) if is_url(path) else ("", os.path.realpath(path))
    return [protocol, *filter(None, place.split("/"))]


def _are_same(path: str, other: str) -> bool:
    if not is_url(path) and not is_url(other) and os.path.exists(path) and os.path.exists(other):
        return os.path.samefile(path, other)  # also through hard links
    return _parts(path) == _parts(other)


def _is_inside(path: str, folder: str) -> bool:
    """Whether a path is in a folder, at any depth."""
    if not is_folder(folder):
        return False
    inside, outside = _parts(path), _parts(folder)
    return inside[: len(outside)] == outside and len(inside) > len(outside)
