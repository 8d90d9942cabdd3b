"""Where an export is written before it has its name, and what a killed one left there.

A working place is a hidden folder beside the target with a mark in it. The mark is locked as long
as the export runs; the system gives the lock back when the process ends, however it ends. So a
place whose mark nobody holds is surely a leftover and may go. Anything else stays: a folder without
our mark, one of another machine, one that is being written, and all where files cannot be locked.
"""

from __future__ import annotations

import json
import os
import shutil
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import mkdtemp
from typing import IO, Any

try:
    import fcntl
except ImportError:  # no such locks on Windows; leftovers stay there
    fcntl = None  # type: ignore[assignment]

MARK = "labelkit-unfinished.json"

_KIND = "labelkit unfinished export"
_RANDOM = 8
_LONGEST_MARK = 10_000


@contextmanager
def working_place(out: Path) -> Iterator[Path]:
    """Yield an empty folder beside ``out``, on the same disk; it is gone after the block.

    Raises:
        OSError: the disk does not take it.
    """
    out.parent.mkdir(parents=True, exist_ok=True)
    place = Path(mkdtemp(prefix=f".{out.name}-", dir=out.parent))
    try:
        with _marked(place, out.name):
            yield place
    finally:
        shutil.rmtree(place, ignore_errors=True)


def clear_leftovers(out: Path) -> tuple[str, ...]:
    """Remove what killed exports to ``out`` left beside it; return the names of those folders."""
    try:
        found = sorted(p for p in out.parent.iterdir() if _may_be_place(p, out.name))
    except OSError:  # nothing there, or not readable: whoever writes there says so
        return ()
    return tuple(place.name for place in found if _clear(place, out.name))


def _may_be_place(path: Path, name: str) -> bool:
    random = path.name.removeprefix(f".{name}-")
    return len(random) == _RANDOM and len(path.name) == len(name) + _RANDOM + 2


def _clear(place: Path, name: str) -> bool:
    if fcntl is None or place.is_symlink():
        return False
    try:
        with (place / MARK).open("r+", encoding="utf-8") as file:
            if not _is_ours(file, name):
                return False
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(place)
    except OSError:  # no mark, held by a running export, or not ours to remove
        return False
    return True


def _is_ours(file: IO[str], name: str) -> bool:
    try:
        said: Any = json.loads(file.read(_LONGEST_MARK))
    except ValueError:
        return False
    return bool(said == _said(name))


def _said(name: str) -> dict[str, str]:
    return {"kind": _KIND, "out": os.fsencode(name).hex(), "host": socket.gethostname()}


@contextmanager
def _marked(place: Path, name: str) -> Iterator[None]:
    """Hold the mark. It gets its name once it is locked: nobody finds it unlocked meanwhile."""
    early = place / f"{MARK}.new"
    with early.open("w", encoding="utf-8") as file:
        json.dump(_said(name), file)
        file.flush()
        if fcntl is not None:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:  # a disk without locks: unmarked, so that nobody clears it away
                yield
                return
            early.rename(place / MARK)
        yield
