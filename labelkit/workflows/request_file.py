"""A new file of requests: it is there whole or not at all, whoever writes it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from labelkit.errors import InputError


def refuse_existing(path: Path) -> None:
    """Refuse to write over requests that may be on their way.

    Raises:
        InputError: the file exists.
    """
    if path.exists():
        raise InputError(f"{path} exists already; name a new file for the requests")


@contextmanager
def request_file(path: Path) -> Iterator[BinaryIO]:
    """Open the file beside its place; it comes there at the end, if anything was written.

    Raises:
        InputError: it cannot be written.
    """
    part = path.with_name(f"{path.name}.part")
    try:
        with part.open("wb") as file:
            yield file
            written = file.tell() > 0
        if written:
            part.replace(path)
    except OSError as error:
        raise InputError(
            f"cannot write {path}: {error.strerror}; name a file in a folder that can be written"
        ) from error
    finally:
        part.unlink(missing_ok=True)
