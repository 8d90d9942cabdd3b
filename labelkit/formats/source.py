"""The file itself, before any format: is it there, is it text, what does it begin with.

Everything that makes a file unreadable as a whole is said here, once for all formats, in one
sentence that names the file, what was expected and the next step.
"""

from __future__ import annotations

import codecs
import zipfile
from pathlib import Path

from labelkit.errors import FormatError
from labelkit.formats.archive import Archive
from labelkit.formats.reader import Head

HEAD_BYTES = 65536

_ZIP = b"PK\x03\x04"
_PACKED = {
    b"\x1f\x8b": ("gzip", "unpack it with `gunzip` first"),
    _ZIP: ("a zip archive", "unpack it first and name a file inside"),
    b"\x28\xb5\x2f\xfd": ("zstandard", "unpack it with `unzstd` first"),
    b"BZh": ("bzip2", "unpack it with `bunzip2` first"),
    b"\xfd7zXZ": ("xz", "unpack it with `unxz` first"),
    b"SQLite format 3": ("an SQLite database", "name a trace or task file"),
}
_KNOWN_MEMBERS = ("header.json", "_journal/start.json")
_WIDE = (
    (codecs.BOM_UTF32_LE, "UTF-32"),
    (codecs.BOM_UTF32_BE, "UTF-32"),
    (codecs.BOM_UTF16_LE, "UTF-16"),
    (codecs.BOM_UTF16_BE, "UTF-16"),
)


def read_head(path: Path) -> Head:
    """Return the beginning of the file.

    Raises:
        FormatError: the path is missing, a folder, unreadable, empty, packed, binary or not UTF-8.
    """
    data = _first_bytes(path)
    if not data.strip(b"\x00 \t\r\n\xef\xbb\xbf"):
        raise FormatError(f"{path} is empty; expected JSON or JSON Lines with at least one record")
    if data.startswith(_ZIP) and zipfile.is_zipfile(path):
        with Archive(path) as archive:
            names = archive.names()
        if any(name in names for name in _KNOWN_MEMBERS):
            return Head(path=path, text="", members=tuple(names), kind="zip")
    if data.startswith(b"PAR1"):
        return Head(path=path, text="", kind="parquet")
    for magic, (kind, mend) in _PACKED.items():
        if data.startswith(magic):
            raise FormatError(f"{path} is {kind}, expected plain JSON or JSON Lines; {mend}")
    wide = _wide_encoding(data)
    if wide is not None:
        raise FormatError(
            f"{path} is {wide}, expected UTF-8; convert it with "
            f"`iconv -f {wide} -t UTF-8 {path.name} > utf8-{path.name}`"
        )
    if _is_binary(data):
        raise FormatError(f"{path} is a binary file, expected JSON or JSON Lines in UTF-8")
    bad = _wrong_encoding(data)
    if bad is not None:
        raise FormatError(
            f"{path} is not UTF-8 (byte 0x{data[bad]:02x} at offset {bad}); if it is Latin-1, "
            f"convert it with `iconv -f LATIN1 -t UTF-8 {path.name} > utf8-{path.name}`"
        )
    return Head(path=path, text=data.decode("utf-8-sig", errors="replace"))


def _first_bytes(path: Path) -> bytes:
    try:
        if not (path.is_file() or path.is_dir()) and path.exists():
            raise FormatError(
                f"{path} is a pipe or a device, and files are read more than once; write what "
                "comes out of it to a file and name that"
            )
        with path.open("rb") as file:
            return file.read(HEAD_BYTES)
    except FileNotFoundError:
        raise FormatError(f"{path} does not exist; name a trace or task file") from None
    except IsADirectoryError:
        empty = not any(path.iterdir())
        mend = "is a folder without files" if empty else "is a folder; name a file inside it"
        raise FormatError(f"{path} {mend}") from None
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise FormatError(f"{path} cannot be read ({reason}); check its name and rights") from None


def _wide_encoding(data: bytes) -> str | None:
    """Name UTF-16 or UTF-32 by its mark, or UTF-16 without a mark by zeros in every second byte."""
    for mark, name in _WIDE:
        if data.startswith(mark):
            return name
    sample = data[:64]
    if len(sample) >= 4:
        for offset, name in ((1, "UTF-16LE"), (0, "UTF-16BE")):
            if not any(sample[offset::2]) and all(sample[1 - offset :: 2]):
                return name
    return None


def _is_binary(data: bytes) -> bool:
    """Whether control characters rule out text. A raw NUL inside JSON is a damaged record only."""
    if data.removeprefix(codecs.BOM_UTF8).lstrip()[:1] in {b"{", b"["}:
        return False
    control = sum(byte < 32 and byte not in {9, 10, 12, 13, 27} for byte in data[:4096])
    return b"\x00" in data or control > len(data[:4096]) // 20


def _wrong_encoding(data: bytes) -> int | None:
    """Return the offset of the first bad byte when *no* non-ASCII line of the head is UTF-8.

    One damaged line among good ones is a broken record, not a wrongly encoded file.
    """
    first_bad: int | None = None
    start = 0
    lines = data.split(b"\n")
    for number, line in enumerate(lines):
        cut = number == len(lines) - 1 and len(data) == HEAD_BYTES
        if not line.isascii():
            bad = _first_bad_byte(line, cut=cut)
            if bad is None:
                return None
            if first_bad is None:
                first_bad = start + bad
        start += len(line) + 1
    return first_bad


def _first_bad_byte(line: bytes, *, cut: bool) -> int | None:
    try:
        line.decode("utf-8", errors="surrogatepass")
    except UnicodeDecodeError as error:
        # The head may end in the middle of a character.
        return None if cut and error.start >= len(line) - 3 else error.start
    return None
