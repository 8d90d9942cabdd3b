"""Files and folders that appear whole under the asked name, or not at all.

They are written beside their place and moved. A run that is killed leaves a hidden folder behind,
never half a release that somebody could take for a whole one; the next one clears it away.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from labelkit.errors import InputError
from labelkit.workflows.release.working_place import working_place


@contextmanager
def whole_folder(out: Path) -> Iterator[Path]:
    """Yield a folder to write into; it becomes ``out`` when the block ends well.

    Raises:
        InputError: ``out`` exists and holds something, or the disk does not take it.
    """
    if _taken(out):
        raise InputError(f"{out} exists already; name a new folder")
    with _told(out), working_place(out) as place:
        folder = place / "release"
        folder.mkdir()
        yield folder
        folder.chmod(0o755)
        if out.exists():
            out.rmdir()
        folder.rename(out)


@contextmanager
def whole_file(out: Path) -> Iterator[IO[str]]:
    """Yield a text file to write into; it becomes ``out`` when the block ends well.

    Raises:
        InputError: ``out`` exists, or the disk does not take it.
    """
    if out.exists():
        raise InputError(f"{out} exists already; name a new file")
    with _told(out), working_place(out) as place:
        written = place / "file"
        with written.open("w", encoding="utf-8", newline="\n") as file:
            yield file
        written.chmod(0o644)
        written.rename(out)


def _taken(out: Path) -> bool:
    return out.exists() and (not out.is_dir() or any(out.iterdir()))


@contextmanager
def _told(out: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise InputError(
            f"{out} cannot be written ({error.strerror or error}); nothing was left there; mend "
            "that or name another place"
        ) from None
