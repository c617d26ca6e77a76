"""Write a file under a temporary name, and rename it when it is complete."""

import contextlib
import errno
import os
import stat
from collections.abc import Iterable, Iterator
from typing import IO, Any

_DISK_IS_FULL = (errno.ENOSPC, errno.EFBIG, getattr(errno, "EDQUOT", errno.ENOSPC))
_NAME_CHARACTERS = 40  # of the name to be, in the name of the draft: file systems take 255 bytes


class Draft:
    """A file that is being written, beside the one whose place it takes when it is complete.

    Its name is the target's, sixteen random bytes and ``.partial``, so that no other thread,
    process or user has it. A target that is a symbolic link stays one: the draft lies beside the
    file that the link leads to, and replaces that file. The folder must exist. A file that is
    replaced keeps its permissions; it must be a regular one that may be written to.
    """

    def __init__(self, path: Any):
        self._given = os.fsdecode(path)
        self.target = os.path.realpath(self._given)
        self._mode = self._check_target()
        folder, name = os.path.split(self.target)
        random = os.urandom(16).hex()
        self.path = os.path.join(folder, f"{name[:_NAME_CHARACTERS]}.{random}.partial")

    def open(self, mode: str, **options: Any) -> IO[Any]:
        """Make the file, which must not exist; `mode` and options are those of :func:`open`."""
        flags = os.O_RDWR | os.O_CREAT | os.O_EXCL  # with O_EXCL no symbolic link is followed
        flags |= getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
        try:
            descriptor = os.open(self.path, flags, 0o666)  # less the umask, as by open()
        except FileExistsError:
            raise
        except OSError as error:
            raise self.error(error.errno) from error
        try:
            if self._mode not in (None, stat.S_IMODE(os.fstat(descriptor).st_mode)):
                os.chmod(descriptor if os.chmod in os.supports_fd else self.path, self._mode)
            return open(descriptor, mode, **options)
        except BaseException:
            with contextlib.suppress(OSError):  # open() may have closed it
                os.close(descriptor)
            raise

    def publish(self) -> None:
        """Give the draft, which is written and closed, the name of the target."""
        os.replace(self.path, self.target)
        sync_folder(os.path.dirname(self.target))

    def discard(self) -> None:
        """Remove the draft if it is there."""
        with contextlib.suppress(OSError):
            os.unlink(self.path)

    def _check_target(self) -> int | None:
        """Permissions of a file that is replaced; say why it cannot be."""
        if self._given.endswith(os.sep) or os.path.isdir(self.target):
            raise self.error(errno.EISDIR)
        if os.path.islink(self.target):
            raise self.error(errno.ELOOP)
        try:
            mode = os.stat(self.target).st_mode
        except FileNotFoundError:
            folder = os.path.dirname(self.target)
            if not os.path.isdir(folder):
                raise OSError(errno.ENOENT, "there is no such folder", folder) from None
            return None
        if not stat.S_ISREG(mode):
            raise OSError(errno.EINVAL, "is not a regular file", self._given)
        if not os.access(self.target, os.W_OK):
            raise self.error(errno.EACCES)
        return stat.S_IMODE(mode) & 0o777

    def error(self, number: int | None) -> OSError:
        """Error of the system that names the file the caller knows."""
        return OSError(number, os.strerror(number or errno.EIO), self._given)


@contextlib.contextmanager
def write_file(path: Any, mode: str = "wb", **options: Any) -> Iterator[IO[Any]]:
    """Open a file that appears under its name when it is complete, or not at all.

    What is written goes into a :class:`Draft`. At the end of the ``with`` block it is on the disk,
    and renamed in one step. Where the block, or the disk, fails, the draft is removed, and a file
    that was there before stays as it was. Only a process that is killed leaves a draft behind.
    """
    draft = Draft(path)
    is_ours = True
    try:
        try:
            file = draft.open(mode, **options)
        except FileExistsError:
            is_ours = False
            raise
        with file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        draft.publish()
    except BaseException as error:
        if is_ours:
            draft.discard()
        if isinstance(error, OSError) and error.filename is None and error.errno in _DISK_IS_FULL:
            raise draft.error(error.errno) from error
        raise


def check_output(path: Any, inputs: Iterable[Any] = ()) -> None:
    """Say before long work that a file could not be written, or would replace its own input."""
    if os.path.exists(path):
        for given in inputs:
            if os.path.exists(given) and os.path.samefile(path, given):
                raise ValueError(
                    f"{os.fspath(path)} is the file that is read from, {os.fspath(given)}. Give "
                    "the output another name."
                )
    draft = Draft(path)
    if not os.access(os.path.dirname(draft.target), os.W_OK | os.X_OK):
        raise PermissionError(errno.EACCES, "its folder cannot be written to", os.fspath(path))


def sync_folder(folder: str) -> None:
    """Bring the names in a folder onto the disk, on systems that can."""
    with contextlib.suppress(OSError):  # the file is complete under its name already
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
