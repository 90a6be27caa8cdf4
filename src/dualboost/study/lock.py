"""One run at a time in a folder of results: two would make every fit twice, and cut off what the other is writing.

The lock is the operating system's, which takes it back when a process ends, however that ends: none can be left behind.
"""

from __future__ import annotations

import os
import platform
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ..errors import DualBoostWarning, InvalidParameterError

LOCK = ".lock"
"""The file that is locked. It says who holds the lock, and stays: a file removed could be locked by two."""
PLACE = 1 << 20
"""The byte that is locked on Windows, where a locked byte cannot be read: behind those that say who holds the lock."""


@contextmanager
def only_run(folder: Path) -> Iterator[None]:
    """Hold the lock of the folder; refused while another run, of this process or another, holds it."""
    path = folder / LOCK
    descriptor = _opened(path)
    try:
        if not _acquired(descriptor, path):
            raise InvalidParameterError(
                f"{folder} is in use by another run{_holder(path)}: wait until it ends, or choose another folder."
            )
        os.ftruncate(descriptor, 0)
        os.write(descriptor, f"process {os.getpid()} on {platform.node()}".encode())
        yield
    finally:
        os.close(descriptor)


def _opened(path: Path) -> int:
    """The file, which processes that this one starts do not inherit, so that none of them keeps the lock."""
    try:
        return os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
    except OSError as error:
        raise InvalidParameterError(f"{path.parent} cannot be a folder for results: {error.strerror}.") from error


def _acquired(descriptor: int, path: Path) -> bool:
    try:
        _lock(descriptor)
    except (BlockingIOError, PermissionError):
        return False
    except OSError as error:
        warnings.warn(
            f"{path} cannot be locked ({error.strerror}): make sure that no other run uses that folder.",
            DualBoostWarning,
            stacklevel=5,
        )
    return True


def _lock(descriptor: int) -> None:
    """Lock without waiting; BlockingIOError or PermissionError if another holds the lock."""
    if sys.platform == "win32":
        import msvcrt

        os.lseek(descriptor, PLACE, os.SEEK_SET)
        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        os.lseek(descriptor, 0, os.SEEK_SET)
    else:
        import fcntl

        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)


def _holder(path: Path) -> str:
    """Who holds the lock, in words, if that can be read."""
    try:
        found = path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
    return f" ({found})" if found else ""
