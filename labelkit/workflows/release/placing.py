"""Files and folders that appear whole under the asked name, or not at all.

They are written beside their place and moved. A run that is killed leaves a hidden folder or file
behind, never half a release that somebody could take for a whole one.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import NamedTemporaryFile, mkdtemp
from typing import IO

from labelkit.errors import InputError


@contextmanager
def whole_folder(out: Path) -> Iterator[Path]:
    """Yield a folder to write into; it becomes ``out`` when the block ends well.

    Raises:
        InputError: ``out`` exists and holds something, or the disk does not take it.
    """
    if _taken(out):
        raise InputError(f"{out} exists already; name a new folder")
    with _told(out):
        out.parent.mkdir(parents=True, exist_ok=True)
        folder = Path(mkdtemp(prefix=f".{out.name}-", dir=out.parent))
        try:
            yield folder
            folder.chmod(0o755)
            if out.exists():
                out.rmdir()
            folder.rename(out)
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            raise


@contextmanager
def whole_file(out: Path) -> Iterator[IO[str]]:
    """Yield a text file to write into; it becomes ``out`` when the block ends well.

    Raises:
        InputError: ``out`` exists, or the disk does not take it.
    """
    if out.exists():
        raise InputError(f"{out} exists already; name a new file")
    with _told(out):
        out.parent.mkdir(parents=True, exist_ok=True)
        with NamedTemporaryFile(
            "w",
            prefix=f".{out.name}-",
            dir=out.parent,
            encoding="utf-8",
            newline="\n",
            delete=False,
        ) as file:
            written = Path(file.name)
            try:
                yield file
                file.close()
                written.chmod(0o644)
                written.rename(out)
            except BaseException:
                written.unlink(missing_ok=True)
                raise


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
