"""Download a file, resume where a download broke off, and check its checksum."""

import contextlib
import hashlib
import logging
import os
import shutil
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from http.client import HTTPException
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import Request, urlopen

from .._files.atomic import Draft

_TIMEOUT = 60  # seconds without a byte
_RANGE_NOT_SATISFIABLE, _PARTIAL_CONTENT, _SERVER_ERROR = 416, 206, 500

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class RemoteFile:
    """A file, and the MD5 checksum that its authors publish."""

    url: str
    md5: str

    @property
    def name(self) -> str:
        """Name of the file without its address."""
        return self.url.rpartition("/")[2]


def download(remote: RemoteFile, folder: Path, n_retries: int, delay: float) -> Path:
    """Download into a folder; OSError if that fails. What arrived stays in a ``.part`` file."""
    folder.mkdir(parents=True, exist_ok=True)
    target = folder / remote.name
    with _resumed(target) as draft:
        _receive_all(remote, Path(draft.path), n_retries, delay)
        draft.publish()
    return target


@contextlib.contextmanager
def _resumed(target: Path) -> Iterator[Draft]:
    """Go on with the ``.part`` file of an earlier download, under a name of our own meanwhile.

    Of several downloads at once one goes on with it, and the others start anew.
    """
    draft, part = Draft(target), target.with_name(f"{target.name}.part")
    if part.is_file() and not part.is_symlink():
        with contextlib.suppress(FileNotFoundError):  # another download has taken it just now
            os.rename(part, draft.path)
    try:
        yield draft
    finally:
        with contextlib.suppress(FileNotFoundError):
            os.replace(draft.path, part)


def _receive_all(remote: RemoteFile, part: Path, n_retries: int, delay: float) -> None:
    while True:
        try:
            logger.info("Downloading %s", remote.url)
            _receive(remote.url, part)
            _check(part, remote)
            return
        except (OSError, HTTPException) as error:
            refused = isinstance(error, HTTPError) and error.code < _SERVER_ERROR
            if refused or n_retries == 0:
                raise OSError(f"could not download {remote.url}: {error}") from error
            logger.info("%s; trying again", error)
        n_retries -= 1
        time.sleep(delay)


def _receive(url: str, part: Path) -> None:
    """Receive what is missing of a file."""
    start = part.stat().st_size if part.exists() else 0
    request = Request(url, headers={"Range": f"bytes={start}-"} if start else {})
    try:
        with urlopen(request, timeout=_TIMEOUT) as response:
            resumed = response.status == _PARTIAL_CONTENT and _first_byte(response.headers) == start
            with part.open("ab" if resumed else "wb") as file:
                before = file.tell()
                shutil.copyfileobj(response, file)
                received = file.tell() - before
                file.flush()
                os.fsync(file.fileno())
            announced = int(response.headers.get("Content-Length", received))
    except HTTPError as error:
        if error.code == _RANGE_NOT_SATISFIABLE and start:
            return  # nothing is missing, or too much is there: the checksum knows
        raise
    if received < announced:
        raise ConnectionError(f"received {received} of {announced} bytes")


def _first_byte(headers: Mapping[str, str]) -> int | None:
    """Where the bytes of a partial response begin: ``Content-Range: bytes 100-199/200``."""
    first = headers.get("Content-Range", "").removeprefix("bytes ").partition("-")[0]
    return int(first) if first.isdecimal() else None


def _check(part: Path, remote: RemoteFile) -> None:
    with part.open("rb") as file:
        found = hashlib.file_digest(file, lambda: hashlib.md5(usedforsecurity=False)).hexdigest()
    if found != remote.md5:
        part.unlink()
        raise OSError(f"its MD5 checksum is {found}, expected {remote.md5}")
