"""Where the data folders are, so that nobody else has to know how labelkit was installed.

A name is looked up in the working folder first, then in the packaged folders. A path always
works. This module finds folders; it reads nothing inside them.
"""

from __future__ import annotations

import difflib
import os
from pathlib import Path
from typing import Literal

from labelkit.errors import InputError

Kind = Literal["rubrics", "datasets"]

_PACKAGE = Path(__file__).resolve().parents[1]
_MARKS: dict[Kind, str] = {"rubrics": "rubric.yaml", "datasets": "card.yaml"}
_NOUNS: dict[Kind, str] = {"rubrics": "rubric", "datasets": "task set"}


def packaged(kind: Kind) -> Path:
    """Return the folder that travels with labelkit: inside a wheel, or beside the package."""
    inside = _PACKAGE / "share" / kind
    return inside if inside.is_dir() else _PACKAGE.parent / kind


def app_folder() -> Path:
    """Return the folder of the review pages: inside a wheel, or beside the package.

    Raises:
        InputError: when this installation came without them.
    """
    inside = _PACKAGE / "share" / "app"
    folder = inside if inside.is_dir() else _PACKAGE.parent / "app"
    if not (folder / "main.py").is_file():
        raise InputError(
            f"this installation of labelkit has no review pages (no {folder / 'main.py'});"
            " install labelkit again from its wheel or its repository"
        )
    return folder


def names(kind: Kind) -> tuple[str, ...]:
    """Return every name that ``find`` knows here, sorted."""
    found: set[str] = set()
    for folder in (Path(kind), packaged(kind)):
        if folder.is_dir():
            found.update(p.parent.name for p in folder.glob(f"*/{_MARKS[kind]}"))
    return tuple(sorted(found))


def find(kind: Kind, name_or_path: str | Path) -> Path:
    """Return the folder of a rubric or task set.

    Raises:
        InputError: when there is none; names the known ones and the nearest guess.
    """
    try:
        found = _found(kind, name_or_path)
    except (OSError, ValueError):
        found = None
    if found is None:
        raise InputError(_unknown(kind, str(name_or_path)))
    return found


def _found(kind: Kind, name_or_path: str | Path) -> Path | None:
    mark = _MARKS[kind]
    path = Path(name_or_path)
    text = os.fspath(name_or_path)
    if text and not isinstance(name_or_path, Path) and path.name == text and text[0] != ".":
        for folder in (Path(kind), packaged(kind)):
            if (folder / text / mark).is_file():
                if (path / mark).is_file():
                    raise InputError(_two_of_one_name(kind, text, folder))
                return folder / text
    if path.is_file() and path.name == mark:
        return path.parent
    return path if text and (path / mark).is_file() else None


def _two_of_one_name(kind: Kind, text: str, other: Path) -> str:
    where = kind if other == Path(kind) else "those that come with labelkit"
    return (
        f"two {_NOUNS[kind]}s are called {text!r}: the folder {text} here and one among {where};"
        f" write ./{text} to name the folder, or rename it to use the other"
    )


def _unknown(kind: Kind, text: str) -> str:
    if what := _in_its_place(kind, text):
        return (
            f"no {_NOUNS[kind]} {text!r} found: {what}; give the path of a folder that holds a"
            f" {_MARKS[kind]}"
        )
    known = names(kind)
    near = difflib.get_close_matches(text, known, n=1)
    guess = f"did you mean {near[0]!r}? " if near else ""
    listed = ", ".join(known) or "none"
    return (
        f"no {_NOUNS[kind]} {text!r} found; {guess}known here: {listed};"
        f" or give the path of a folder that holds a {_MARKS[kind]}"
    )


def _in_its_place(kind: Kind, text: str) -> str:
    """Say what stands at a path that is no rubric or task set; "" where nothing does."""
    try:
        path = Path(text)
        if not text or not path.exists():
            return ""
        return f"this {'folder holds no' if path.is_dir() else 'file is no'} {_MARKS[kind]}"
    except (OSError, ValueError):
        return ""
