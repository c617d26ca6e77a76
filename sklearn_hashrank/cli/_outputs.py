"""Check the files and folders of ``--output`` before anything is read or computed."""

import os
from collections.abc import Iterable, Sequence
from pathlib import Path

from .._files.atomic import check_output
from ..comparison._comparison import WRITTEN_FILES
from . import _file_systems
from ._errors import UsageError


def check_output_file(
    path: str, suffixes: Sequence[str], inputs: Iterable[str | None], option: str = "--output"
) -> None:
    """Check the name of an output file, which must not be one of the inputs."""
    if suffixes and Path(path).suffix.lower() not in suffixes:
        raise UsageError(f"{option} {path} must end in {' or '.join(suffixes)}.")
    if os.path.isdir(path):
        raise UsageError(f"{option} {path} is a folder: it must name a file.")
    if not Path(path).absolute().parent.is_dir():
        raise UsageError(f"{option} {path}: there is no such folder.")
    _check(path, inputs, option)


def names_folder(path: str) -> bool:
    """Whether an output is a folder: one that exists, or a name without a suffix."""
    return path.endswith("/") or not Path(path).suffix or _file_systems.is_folder(path)


def check_shard_folder(path: str, inputs: Iterable[str | None]) -> None:
    """Check a folder of codes, which is made later if it does not exist."""
    if _file_systems.is_file(path):
        raise UsageError(f"--output {path} is a file: it must name a folder.")
    for given in filter(None, inputs):
        places = {place.rstrip("/") for place in (given, given.rpartition(":")[0])}
        is_same = os.path.isdir(path) and any(
            os.path.isdir(place) and os.path.samefile(path, place) for place in places
        )
        if is_same or path.rstrip("/") in places:
            raise UsageError(f"--output {path} is the folder that is read from. Choose another.")
        for place in filter(None, places):
            if _is_below(path, place):  # the codes would be read as features the next time
                raise UsageError(
                    f"--output {path} is in the folder that is read from, {place}. Choose another."
                )
    if not _file_systems.is_url(path) and not Path(path).absolute().parent.is_dir():
        raise UsageError(f"--output {path}: there is no folder to make it in.")


def _is_below(path: str, place: str) -> bool:
    """Whether a path is in a folder, at any depth."""
    if _file_systems.is_url(path) or _file_systems.is_url(place):
        return path.startswith(place + "/")
    return os.path.isdir(place) and Path(path).resolve().is_relative_to(Path(place).resolve())


def check_output_folder(path: str, inputs: Iterable[str | None]) -> Path:
    """Check a folder for reports, which is made later if it does not exist."""
    if _file_systems.is_url(path):
        raise UsageError(f"--output {path}: reports are written to a folder of this machine.")
    folder = Path(path)
    if folder.exists() and not folder.is_dir():
        raise UsageError(f"{path} is a file: --output must name a folder.")
    if folder.is_dir():
        given = list(inputs)
        for name in WRITTEN_FILES.values():
            _check(str(folder / name), given)
    return folder


def check_words(words: Iterable[str]) -> None:
    """Refuse arguments that are not UTF-8, because reports and messages could not show them."""
    for word in words:
        try:
            word.encode()
        except UnicodeEncodeError as error:
            raise UsageError(f"{word!a} is not UTF-8. Rename the file or the folder.") from error


def _check(path: str, inputs: Iterable[str | None], option: str = "--output") -> None:
    files = [
        given if os.path.exists(given) else given.rpartition(":")[0]  # without a column's name
        for given in inputs
        if given is not None
    ]
    for place in filter(os.path.isdir, files):
        if path.lower().endswith(".parquet") and os.path.samefile(
            Path(path).absolute().parent, place
        ):
            raise UsageError(
                f"{option} {path} is in the folder that is read from, {place}. "
                "Put the output elsewhere."
            )
    try:
        check_output(path, files)
    except ValueError as error:
        raise UsageError(f"{option} {error}") from error
