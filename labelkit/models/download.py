"""Fetching one large file so that it is whole or not there at all.

The bytes go into a part file named after the expected hash; a broken download is taken up where
it stopped; only a file with the right SHA-256 is moved into place. It knows nothing of models.
"""

from __future__ import annotations

import errno
import hashlib
import http.client
import os
import re
import shutil
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO

from labelkit.errors import EndpointError, InputError

Progress = Callable[[int, int | None], None]
"""Called with the bytes that are there and the bytes in all (None when the server did not say)."""

_CHUNK = 1 << 20
_TIMEOUT_S = 60.0


def fetch(
    url: str,
    sha256: str,
    destination: Path,
    *,
    progress: Progress | None = None,
    timeout_s: float = _TIMEOUT_S,
) -> Path:
    """Download ``url`` to ``destination`` and return it; nothing is done when it is there already.

    Args:
        url: an http or https address.
        sha256: the expected hash, 64 hex digits.
        destination: the file to be; its folder is created.
        progress: told about every chunk.
        timeout_s: longest silence of the server, in seconds.

    Raises:
        InputError: when the address is not http(s) or the hash no SHA-256.
        EndpointError: not found, refused, broken off, no space, or other bytes than pinned.
    """
    scheme = urllib.parse.urlsplit(url).scheme
    if scheme not in {"http", "https"}:
        raise InputError(f"{url!r} is no http or https address; give the address of a file")
    wanted = sha256.lower()
    if not re.fullmatch(r"[0-9a-f]{64}", wanted):
        raise InputError(f"{sha256!r} is not a SHA-256: expected 64 hexadecimal digits")
    if destination.is_file() and _hash_of(destination) == wanted:
        return destination
    part = destination.with_name(f"{destination.name}.{wanted[:12]}.part")
    try:
        destination.parent.mkdir(parents=True, exist_ok=True)
        _download(url, part, progress, timeout_s)
        _check(url, part, wanted)
        part.replace(destination)
    except OSError as error:
        raise _disk_error(error, destination) from error
    return destination


def _download(url: str, part: Path, progress: Progress | None, timeout_s: float) -> None:
    """Fill the part file, going on where an earlier try stopped."""
    there = part.stat().st_size if part.exists() else 0
    request = urllib.request.Request(url)  # noqa: S310 - the scheme was checked
    if there:
        request.add_header("Range", f"bytes={there}-")
    try:
        reply = urllib.request.urlopen(request, timeout=timeout_s)  # noqa: S310
    except urllib.error.HTTPError as error:
        with error:
            if error.code == 416 and there:
                return  # nothing left to send: the hash decides whether that is true
            raise EndpointError(_refusal(url, error.code)) from error
    except (OSError, http.client.HTTPException) as error:
        reason = getattr(error, "reason", error)
        raise EndpointError(
            f"{url} cannot be reached ({reason}); check the address and the network"
        ) from error
    with reply:
        going_on = there > 0 and reply.status == 206 and _starts_at(reply, there)
        if there and reply.status == 206 and not going_on:
            part.unlink()
            raise EndpointError(f"{url} sent another range than was asked for; run it again")
        start = there if going_on else 0
        total = _total(reply, start)
        _check_space(part, start, total)
        with part.open("ab" if going_on else "wb") as file:
            _copy(url, reply, file, start, total, progress)
            file.flush()
            os.fsync(file.fileno())


def _copy(
    url: str, reply: Any, file: BinaryIO, start: int, total: int | None, progress: Progress | None
) -> None:
    """Copy the reply to the file; a reply that ends early is an error, its bytes are kept."""
    done = start
    if progress:
        progress(done, total)
    while True:
        try:
            chunk = reply.read(_CHUNK)
        except http.client.IncompleteRead as error:
            file.write(error.partial)
            raise EndpointError(_broken_off(url, done + len(error.partial), total)) from error
        except (OSError, http.client.HTTPException) as error:
            raise EndpointError(_broken_off(url, done, total)) from error
        if not chunk:
            break
        file.write(chunk)
        done += len(chunk)
        if progress:
            progress(done, total)
    if total is not None and done < total:
        raise EndpointError(_broken_off(url, done, total))


def _check(url: str, part: Path, wanted: str) -> None:
    """Compare the hash; wrong bytes are deleted, for they could never be completed."""
    found = _hash_of(part)
    if found != wanted:
        part.unlink()
        raise EndpointError(
            f"{url} is not the pinned file: its SHA-256 is {found}, expected {wanted}; "
            "nothing was kept, check the address and the hash"
        )


def _starts_at(reply: Any, start: int) -> bool:
    """Whether a partial reply begins where our part file ends."""
    found = re.match(r"bytes (\d+)-", reply.headers.get("Content-Range", ""))
    return found is not None and int(found[1]) == start


def _total(reply: Any, start: int) -> int | None:
    """Bytes of the whole file, or None when the server does not say."""
    length = reply.headers.get("Content-Length", "")
    return start + int(length) if length.isdigit() else None


def _check_space(part: Path, start: int, total: int | None) -> None:
    """Refuse before the first byte when the disk cannot hold the rest."""
    free = shutil.disk_usage(part.parent).free
    if total is not None and total - start > free:
        raise OSError(errno.ENOSPC, "no space left")


def _hash_of(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _refusal(url: str, status: int) -> str:
    if status == 404:
        return f"there is no file at {url} (404); check the address"
    if status in {401, 403}:
        return f"{url} may not be fetched ({status}); it may need a licence to be accepted first"
    return f"{url} answered {status}; try again later or check the address"


def _broken_off(url: str, done: int, total: int | None) -> str:
    of = f" of {total:,}" if total is not None else ""
    return (
        f"the download of {url} broke off after {done:,}{of} bytes; "
        "run the same command again, it goes on from there"
    )


def _disk_error(error: OSError, destination: Path) -> EndpointError:
    if error.errno == errno.ENOSPC:
        return EndpointError(
            f"no space left for {destination}; free some, then run the same command again"
        )
    return EndpointError(f"{destination} cannot be written: {error.strerror or error}")
