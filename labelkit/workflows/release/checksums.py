"""SHA256SUMS: which files a release has and what is in them, in the form ``sha256sum -c`` reads."""

from __future__ import annotations

import hashlib
from pathlib import Path

from labelkit.errors import FormatError

SUMS = "SHA256SUMS"


def sha256(path: Path) -> str:
    """Return the SHA-256 of a file as 64 hex digits."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def files_of(folder: Path) -> list[str]:
    """Return every file below a folder but the sums themselves, with slashes, sorted."""
    found = (path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())
    return sorted(name for name in found if name != SUMS)


def write_sums(folder: Path) -> None:
    """Write the sums of all files."""
    lines = [f"{sha256(folder / name)}  {name}\n" for name in files_of(folder)]
    (folder / SUMS).write_text("".join(lines), encoding="utf-8", newline="\n")


def read_sums(folder: Path) -> dict[str, str]:
    """Return the stated sum by file.

    Raises:
        FormatError: the file is missing or a line of it is no sum.
    """
    path = folder / SUMS
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        raise FormatError(
            f"{path} cannot be read; give the folder of a release, as `labelkit export` writes it"
        ) from None
    sums = {}
    for number, line in enumerate(lines, start=1):
        stated, gap, name = line.partition("  ")
        if not gap or len(stated) != 64:
            raise FormatError(f"{path}:{number}: not a checksum and a file name; fetch it again")
        sums[name] = stated
    return sums
