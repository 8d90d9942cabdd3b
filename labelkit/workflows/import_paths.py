"""Which files a path means for an import: the path itself, or all files below a folder.

Nothing below a folder is passed over in silence but what is hidden. Links are followed, each real
folder is entered once, so a link that leads back to a folder above it ends nothing. What is no file
(a pipe, a link to nothing) is told instead of read: a pipe would be waited for without end.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from labelkit.errors import FormatError
from labelkit.formats.provider_pairs import request_of
from labelkit.workflows.release.load import is_release


@dataclass(frozen=True)
class Found:
    """A path to read, or what is wrong with it; ``named`` whether the user named it himself."""

    path: Path
    named: bool
    error: FormatError | None = None


def files_below(paths: Iterable[Path], file_format: str | None) -> Iterator[Found]:
    """Yield each file once, in the order of the paths and, below a folder, of names.

    A response that is read together with its request is left out below a folder, unless
    ``file_format`` names another way to read it.
    """
    for path in paths:
        if task_set_at(path) is not None or not is_folder(path) or is_release(path):
            yield Found(path, named=True)
            continue
        inside = sorted(_walk(path), key=lambda found: found.path)
        if not inside:
            yield Found(path, named=True)  # the reader says what is wrong with it
        pairs = file_format in {None, "provider"}
        yield from (found for found in inside if not (pairs and request_of(found.path) is not None))


def task_set_at(path: Path) -> Path | None:
    """The folder of a task set that a path means, or None."""
    folder = path.parent if path.name == "tasks.jsonl" else path
    try:
        return folder if (folder / "card.yaml").is_file() else None
    except OSError:  # a name that no file can have; the reader says so
        return None


def is_folder(path: Path) -> bool:
    """Whether a path is a folder; a name that no file can have is none."""
    try:
        return path.is_dir()
    except (OSError, ValueError):
        return False


def _walk(top: Path) -> Iterator[Found]:
    entered = {_key(top.stat())}
    refused: list[Found] = []

    def unlisted(error: OSError) -> None:
        what = f"{error.filename} cannot be listed ({error.strerror}); check its rights"
        refused.append(Found(Path(error.filename), named=False, error=FormatError(what)))

    for folder, below, names in os.walk(top, followlinks=True, onerror=unlisted):
        place = Path(folder)
        below[:] = [name for name in below if _is_new(place / name, entered)]
        for name in names:
            if not name.startswith("."):
                yield _found(place / name)
    yield from refused


def _is_new(folder: Path, entered: set[tuple[int, int]]) -> bool:
    """Whether a folder is to be entered: not hidden, and not by another way before."""
    if folder.name.startswith("."):
        return False
    try:
        real = folder.stat()
    except OSError:
        return True  # cannot be entered, which is told then
    if _key(real) in entered:
        return False
    entered.add(_key(real))
    return True


def _key(found: os.stat_result) -> tuple[int, int]:
    """What a folder is the same by, whatever way leads to it."""
    return found.st_dev, found.st_ino


def _found(path: Path) -> Found:
    try:
        path.stat()
    except OSError as error:
        what = f"{path} leads to no file ({error.strerror}); mend the link or remove it"
        return Found(path, named=False, error=FormatError(what))
    return Found(path, named=False)
