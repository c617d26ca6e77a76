"""Files by their addresses: on this machine, or on any file system that fsspec knows."""

import contextlib
import glob
import hashlib
import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

from .._files.reading import open_regular
from ._errors import UsageError, need_extra

_ADDRESS = re.compile(r"[A-Za-z][\w+.:-]*://")
_HERE = "file://"
_END_SIZE = 1 << 16
_VERSIONS = {
    *("etag", "md5", "md5hash", "checksum", "generation", "version_id", "last_modified"),
    *("lastmodified", "mtime", "modified", "updated", "created"),
}  # what file systems call what changes with a file


def is_url(path: Any) -> bool:
    """Whether a path is an address such as ``s3://bucket/items.parquet``."""
    return isinstance(path, str) and _ADDRESS.match(path) is not None


def without_protocol(path: str) -> str:
    """The path of an address on this machine, ``file://``; others stay as they are."""
    return path[len(_HERE) :] if path.startswith(_HERE) else path


def is_file(path: str) -> bool:
    """Whether there is a file of this name."""
    if not is_url(path):
        return Path(path).is_file()
    files, place = _file_system(path)
    return bool(files.isfile(place))


def is_folder(path: str) -> bool:
    """Whether there is a folder of this name."""
    if not is_url(path):
        return Path(path).is_dir()
    files, place = _file_system(path)
    return bool(files.isdir(place))


def find_files(path: str, suffix: str) -> list[str]:
    """Find the files below a folder, or those that a pattern such as ``parts/*.parquet`` names.

    They come in order of their names. As for Spark and pyarrow, files and folders whose names
    begin with ``_`` or ``.`` are no data.
    """
    is_pattern = has_pattern(path)
    root = re.split(r"[*?[]", path)[0] if is_pattern else path.rstrip("/") + "/"
    of_folders = "(^|/)" if not root or root.endswith("/") else "/"  # where names begin behind it
    if is_url(path):
        files, place = _file_system(path)
        names = files.glob(place) if is_pattern else files.find(place)
        found = [files.unstrip_protocol(name) for name in names]
        root = files.unstrip_protocol(_file_system(root)[1]) if is_url(root) else root
    else:
        pattern = path if is_pattern else os.path.join(glob.escape(path), "**", "*")
        found = [name for name in glob.glob(pattern, recursive=True) if os.path.isfile(name)]
    return sorted(
        name
        for name in found
        if name.lower().endswith(suffix) and not re.search(of_folders + "[._]", name[len(root) :])
    )


def has_pattern(path: str) -> bool:
    """Whether a path names files by ``*``, ``?`` or ``[``, and none is called so itself."""
    is_pattern = any(mark in path for mark in "*?[")
    return is_pattern and (is_url(path) or not os.path.lexists(path))


def open_to_read(path: str) -> IO[bytes]:
    """Open a file on any file system."""
    if not is_url(path):
        return open_regular(path)
    files, place = _file_system(path)
    found: IO[bytes] = files.open(place, "rb")
    return found


@contextlib.contextmanager
def local_output(path: str) -> Iterator[str]:
    """Give the name under which a file is to be written here, and bring it to its address then.

    It appears there when the block is done. Where the block fails, nothing does.
    """
    if not is_url(path):
        yield path
        return
    with tempfile.TemporaryDirectory() as folder:
        draft = os.path.join(folder, path.rpartition("/")[2])
        yield draft
        files, place = _file_system(path)
        with files.transaction, open(draft, "rb") as file, files.open(place, "wb") as target:
            shutil.copyfileobj(file, target, _END_SIZE)


def download(url: str, path: str) -> None:
    """Copy a file from its address to this machine."""
    with open_to_read(url) as file, open(path, "wb") as target:
        shutil.copyfileobj(file, target, _END_SIZE)


def join(folder: str, name: str) -> str:
    """Path of a file in a folder."""
    return f"{folder.rstrip('/')}/{name}" if is_url(folder) else os.path.join(folder, name)


def make_folder(path: str) -> None:
    """Make a folder, and those that it is in, where there is none."""
    if is_url(path):
        files, place = _file_system(path)
        files.makedirs(place, exist_ok=True)
    else:
        os.makedirs(path, exist_ok=True)


def state_of(path: str) -> list[Any]:
    """What differs between files and changes with them: size, times, and what both ends hold.

    The description of a Parquet file, with counts, places and bounds of its columns, is at its end.
    """
    if is_url(path):
        files, place = _file_system(path)
        about = files.info(place)
        size = int(about["size"])
        times = {key: str(about[key]) for key in sorted(about) if key.lower() in _VERSIONS}
    else:
        status = os.stat(path)
        size, times = status.st_size, {"mtime": str(status.st_mtime_ns)}
    with open_to_read(path) as file:
        first = file.read(_END_SIZE)
        file.seek(max(0, size - _END_SIZE))
        last = file.read(_END_SIZE)
    return [size, times, *(hashlib.sha256(part).hexdigest() for part in (first, last))]


def _file_system(url: str) -> tuple[Any, str]:
    try:
        import fsspec
    except ImportError as error:
        raise need_extra("fsspec", f"reading {url}") from error
    try:
        files, place = fsspec.core.url_to_fs(url)
    except (ImportError, ValueError) as error:
        raise UsageError(f"{url}: {error}") from error
    return files, place
