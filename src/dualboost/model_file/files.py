"""Reads and writes model files: they are written completely or not at all, and refused if they are too large."""

from __future__ import annotations

import gzip
import os
import stat
import zlib
from pathlib import Path

from ..data.whole_files import write_whole
from ..errors import ModelFormatError
from .layout import LARGEST_TEXT

GZIP_START = b"\x1f\x8b"
GZIP_HEADER = 16 + zlib.MAX_WBITS
"""The argument that makes zlib expect the header of a gzip file."""


def write_file(path: str | os.PathLike[str], content: str) -> None:
    """Write a model file, compressed if its name ends with ".gz"."""
    data = content.encode()
    write_whole(Path(path), gzip.compress(data, mtime=0) if os.fspath(path).endswith(".gz") else data)


def read_file(path: str | os.PathLike[str]) -> str:
    """The text of a model file, compressed or not."""
    if not stat.S_ISREG(os.stat(path).st_mode):
        raise ModelFormatError("the path is not that of a file")
    with open(path, "rb") as file:
        return decode(file.read(LARGEST_TEXT + 1))


def decode(data: bytes) -> str:
    """The text of a file's bytes."""
    _require_size(data)
    if data.startswith(GZIP_START):
        data = _decompress(data)
    if not data.strip():
        raise ModelFormatError("the file is empty")
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise ModelFormatError(f"the file is not text in UTF-8: {error}") from None


def _decompress(data: bytes) -> bytes:
    stream = zlib.decompressobj(GZIP_HEADER)
    try:
        content = stream.decompress(data, LARGEST_TEXT + 1)
    except zlib.error as error:
        raise ModelFormatError(f"the file's gzip stream is damaged: {error}") from None
    _require_size(content)
    if not stream.eof:
        raise ModelFormatError("the file's gzip stream is cut off")
    if stream.unused_data:
        raise ModelFormatError("the file goes on after its gzip stream")
    return content


def _require_size(data: bytes) -> None:
    if len(data) > LARGEST_TEXT:
        raise ModelFormatError(f"the file holds more than {LARGEST_TEXT} bytes, the most that a model may have")
