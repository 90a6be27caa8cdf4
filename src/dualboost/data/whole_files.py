"""Writes files either completely or not at all."""

from __future__ import annotations

import os
import secrets
from pathlib import Path


def write_whole(path: Path, data: bytes) -> None:
    """Write a temporary file and rename it, so that a failure leaves the file at ``path`` as it was."""
    target = Path(os.path.realpath(path))
    beside = target.with_name(f".{target.name}.{secrets.token_hex(4)}.tmp")
    try:
        with beside.open("xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        beside.replace(target)
    except OSError as error:
        raise type(error)(error.errno, error.strerror, str(target)) from None  # name the target, not the temporary file
    finally:
        beside.unlink(missing_ok=True)
