"""Writes files either completely or not at all."""

from __future__ import annotations

import os
import re
import secrets
import stat
import time
from pathlib import Path

LEFT_OVER_AFTER = 3600.0
"""A temporary file of this age, in seconds, is left over from a process that was killed while it wrote."""


def write_whole(path: Path, data: bytes) -> None:
    """Write a temporary file and rename it, so that a failure leaves the file at ``path`` as it was.

    A file that is replaced keeps its permissions, and temporary files left over beside it are removed.
    """
    target = Path(os.path.realpath(path))
    beside = target.with_name(f".{target.name}.{secrets.token_hex(4)}.tmp")
    try:
        with beside.open("xb") as file:
            if target.is_file():
                beside.chmod(stat.S_IMODE(target.stat().st_mode))  # before there is anything to read in it
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        beside.replace(target)
    except OSError as error:
        raise type(error)(error.errno, error.strerror, str(target)) from None  # name the target, not the temporary file
    finally:
        beside.unlink(missing_ok=True)
    _remove_left_over(target)


def _remove_left_over(target: Path) -> None:
    """Remove old temporary files of the target; failing at that is no failure of the write."""
    name = re.compile(re.escape(f".{target.name}.") + r"[0-9a-f]{8}\.tmp")
    before = time.time() - LEFT_OVER_AFTER
    with os.scandir(target.parent) as entries:
        for entry in entries:
            if name.fullmatch(entry.name):
                try:
                    if entry.stat(follow_symlinks=False).st_mtime < before:
                        os.unlink(entry.path)
                except OSError:
                    continue
