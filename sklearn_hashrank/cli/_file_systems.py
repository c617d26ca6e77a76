"""Files by their addresses: on this machine, or on any file system that fsspec knows."""

import contextlib
import glob
import os
import posixpath
import re
import shutil
import tempfile
from argparse import Namespace
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Any

from ._errors import UsageError, need_extra
from ._messages import forget_copies, name_copy

_ADDRESS = re.compile(r"[A-Za-z][\w+.:-]*://")
_HERE = "file://"


class Input(str):
    """An option that names something to read: a file, a folder, a pattern or an address."""


class Output(str):
    """An option that names a file, or for some commands a folder, to write."""

    suffixes: tuple[str, ...] = ()
    may_be_folder = False

    def names_folder(self) -> bool:
        """Whether it is a folder: one that exists, or a name without a suffix."""
        if not self.may_be_folder:
            return False
        return self.endswith("/") or not PurePosixPath(self).suffix or is_folder(self)

    def places(self) -> list["Output"]:
        """What is written."""
        return [self]


def is_url(path: Any) -> bool:
    """Whether a path is an address such as ``s3://bucket/items.parquet``."""
    return isinstance(path, str) and _ADDRESS.match(path) is not None


def local_path(path: str) -> str:
    """The path of an address on this machine, such as ``file://a``; others stay as they are."""
    if not is_url(path):
        return path
    if path.startswith(_HERE):
        return path[len(_HERE) :]
    protocol, place = address(path)
    return place if protocol == "file" else path


def address(url: str) -> tuple[str, str]:
    """One spelling of an address: its protocol, without those of caches, and the path."""
    files, place = file_system(url)
    while hasattr(files, "fs"):
        files = files.fs
    protocol = files.protocol if isinstance(files.protocol, str) else files.protocol[0]
    return protocol, posixpath.normpath("/" + place.lstrip("/"))


def file_system(url: str) -> tuple[Any, str]:
    """The file system of an address, and the path in it."""
    try:
        import fsspec
    except ImportError as error:
        raise need_extra("fsspec", f"reading {url}") from error
    try:
        files, place = fsspec.core.url_to_fs(url)
    except (ImportError, ValueError) as error:
        raise UsageError(f"{url}: {error}") from error
    return files, place


def is_file(path: str) -> bool:
    """Whether there is a file of this name."""
    if not is_url(path):
        return os.path.isfile(path)
    files, place = file_system(path)
    return bool(files.isfile(place))


def is_folder(path: str) -> bool:
    """Whether there is a folder of this name."""
    if not is_url(path):
        return os.path.isdir(path)
    files, place = file_system(path)
    return bool(files.isdir(place))


def has_pattern(path: str) -> bool:
    """Whether a path names files by ``*``, ``?`` or ``[``, and none is called so itself."""
    is_pattern = any(mark in path for mark in "*?[")
    return is_pattern and (is_url(path) or not os.path.lexists(path))


def find_files(path: str, suffix: str) -> list[str]:
    """Find the files below a folder, or those that a pattern such as ``parts/*.parquet`` names.

    They come in order of their names. As for Spark and pyarrow, files and folders whose names
    begin with ``_`` or ``.`` are no data.
    """
    is_pattern = has_pattern(path)
    root = re.split(r"[*?[]", path)[0] if is_pattern else path.rstrip("/") + "/"
    of_folders = "(^|/)" if not root or root.endswith("/") else "/"  # where names begin behind it
    if is_url(path):
        files, place = file_system(path)
        names = files.glob(place) if is_pattern else files.find(place)
        found = [files.unstrip_protocol(name) for name in names]
        root = files.unstrip_protocol(file_system(root)[1]) if is_url(root) else root
    else:
        pattern = path if is_pattern else os.path.join(glob.escape(path), "**", "*")
        found = [name for name in glob.glob(pattern, recursive=True) if os.path.isfile(name)]
    return sorted(
        name
        for name in found
        if name.lower().endswith(suffix) and not re.search(of_folders + "[._]", name[len(root) :])
    )


@contextlib.contextmanager
def brought_here(options: Namespace) -> Iterator[None]:
    """Copy inputs that have addresses to a temporary folder, for a while.

    Parquet files, folders and patterns are read where they are.
    """
    forget_copies()  # of an earlier command, whose error has been shown
    with tempfile.TemporaryDirectory(prefix="hashrank-") as folder:
        for name, value in vars(options).items():
            setattr(options, name, _all_here(value, os.path.join(folder, name)))
        yield


def _all_here(value: Any, folder: str) -> Any:
    if isinstance(value, Input):
        return _brought_here(value, folder)
    if isinstance(value, (list, tuple)):
        return type(value)(_all_here(each, f"{folder}{i}") for i, each in enumerate(value))
    return value


def _brought_here(given: Input, folder: str) -> Input:
    path = local_path(given)
    if not is_url(path):
        return Input(path)
    file, colon, name = path.rpartition(":")
    if "/" in name or not is_url(file):
        file, colon, name = path, "", ""
    if PurePosixPath(file).suffix.lower() in (".parquet", "") or has_pattern(file):
        return Input(path)
    os.makedirs(folder)
    local = os.path.join(folder, PurePosixPath(file).name)
    files, place = file_system(file)
    if not files.isfile(place):
        raise UsageError(f"{file}: no such file.")
    name_copy(local, file)
    with files.open(place, "rb") as source, open(local, "wb") as target:
        shutil.copyfileobj(source, target)
    return Input(local + colon + name)


@contextlib.contextmanager
def written_file(path: str) -> Iterator[str]:
    """Give the name under which a file is to be written here, and bring it to its address then.

    It appears there when the block is done. Where the block fails, nothing does.
    """
    path = local_path(path)
    if not is_url(path):
        yield path
        return
    with tempfile.TemporaryDirectory() as folder:
        draft = os.path.join(folder, path.rpartition("/")[2])
        yield draft
        files, place = file_system(path)
        with files.transaction, open(draft, "rb") as source, files.open(place, "wb") as target:
            shutil.copyfileobj(source, target)


@contextlib.contextmanager
def written_folder(path: str) -> Iterator[str]:
    """Give the name of a new folder here, which takes its place when the block is done.

    At an address, its files appear one after the other.
    """
    path = local_path(path).rstrip("/")
    beside = None if is_url(path) else Path(path).absolute().parent
    with tempfile.TemporaryDirectory(".partial", ".hashrank-", beside) as place:
        draft = os.path.join(place, "folder")  # which has the permissions that a folder gets
        os.mkdir(draft)
        yield draft
        if is_url(path):
            files, target = file_system(path)
            files.put(draft + "/", target + "/", recursive=True)
            return
        if os.path.isdir(path):  # an empty one
            os.rmdir(path)
        os.rename(draft, path)
