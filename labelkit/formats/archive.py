"""Members of a zip archive as bytes, zstandard included, within a bound that no bomb passes.

Python's own zip reader knows no zstandard, which newer Inspect logs are packed with. Only reading
by name happens here: nothing is ever unpacked to a path that the archive names.
"""

from __future__ import annotations

import struct
import zipfile
import zlib
from pathlib import Path
from typing import Self

import zstandard

from labelkit.errors import FormatError
from labelkit.formats.reader import BrokenRecordError

MOST_BYTES = 1 << 30
"""No member may be larger than this when it is unpacked."""

_ZSTANDARD = 93
_LOCAL_HEADER = struct.Struct("<26xHH")


class Archive:
    """An open zip archive; a context manager.

    Raises:
        FormatError: when opened, if the file is no readable archive.
    """

    def __init__(self, path: Path) -> None:
        try:
            self._zip = zipfile.ZipFile(path)
        except (zipfile.BadZipFile, OSError) as error:
            raise FormatError(f"{path} is a damaged zip archive ({error}); copy it again") from None
        self._path = path

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._zip.close()

    def names(self) -> list[str]:
        """Return the members' names in the order they were written."""
        return self._zip.namelist()

    def read(self, name: str) -> bytes:
        """Return one member, unpacked.

        Raises:
            BrokenRecordError: it is missing, damaged, too large or packed in an unknown way.
        """
        try:
            info = self._zip.getinfo(name)
            if info.file_size > MOST_BYTES:
                raise BrokenRecordError("the member is larger than 1 GiB when it is unpacked")
            if info.compress_type == _ZSTANDARD:
                return self._zstandard(info)
            with self._zip.open(info) as member:
                data = member.read(MOST_BYTES + 1)
        except KeyError:
            raise BrokenRecordError("the archive has no such member") from None
        except (
            zipfile.BadZipFile,
            NotImplementedError,
            RuntimeError,
            OSError,
            EOFError,
            struct.error,
            zlib.error,
            zstandard.ZstdError,
        ) as error:
            raise BrokenRecordError(f"the member cannot be unpacked ({error})") from None
        if len(data) > MOST_BYTES:
            raise BrokenRecordError("the member is larger than 1 GiB when it is unpacked")
        return data

    def _zstandard(self, info: zipfile.ZipInfo) -> bytes:
        """Unpack a member whose method the standard library does not know."""
        with self._path.open("rb") as file:
            file.seek(info.header_offset)
            name_size, extra_size = _LOCAL_HEADER.unpack(file.read(_LOCAL_HEADER.size))
            file.seek(name_size + extra_size, 1)
            packed = file.read(info.compress_size)
        with zstandard.ZstdDecompressor().stream_reader(packed, read_across_frames=True) as stream:
            return stream.read(MOST_BYTES + 1)
