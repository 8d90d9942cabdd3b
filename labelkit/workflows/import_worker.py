"""The child process of an import: it reads parts of a file and writes their traces down.

It talks over its standard streams: one ``Setup`` comes in and is echoed as "ready", then spans of
lines; for each a ``Part`` goes out, or None where this process cannot answer and the parent has to
read the part itself, so that every error is raised where a person sees it. It knows no store, so
that it may be killed at any moment. When its input ends it leaves.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from labelkit.formats.parts import read_part
from labelkit.formats.reader import Reader, ReadOptions, Span
from labelkit.workflows.children import own_pipes, receive, send
from labelkit.workflows.collecting import seldom_collecting

READY = "ready"


@dataclass(frozen=True, slots=True)
class Setup:
    """What a child needs to know: the file, its reader and what the user says about the file."""

    reader: Reader
    path: Path
    options: ReadOptions


def work() -> None:
    """Serve one parent until it closes the input."""
    source, replies = own_pipes()
    try:
        setup: Setup = receive(source)
        send(replies, READY)
        with seldom_collecting():
            _serve(setup, source, replies)
    except (EOFError, BrokenPipeError):
        return


def _serve(setup: Setup, source: BinaryIO, replies: BinaryIO) -> None:
    while True:
        span: Span = receive(source)
        try:
            part = read_part(setup.reader, setup.path, setup.options, span)
            send(replies, part)
        except BrokenPipeError:
            raise
        except Exception:
            send(replies, None)
