"""A trace as the text it is stored as, with the few fields that filters need.

Importing a file does nothing with a trace but address and store it, so a reader that can write the
canonical text directly need not build a ``Trace`` of hundreds of validated values first. Text and
digest are exactly those of the trace; a test holds the two together.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any, NamedTuple

import orjson

from labelkit.domain.task import Tag
from labelkit.domain.trace import RowState, Trace

_OPEN = ("error", "extra", "tags", "usage")


class TraceText(NamedTuple):
    """One trace, written. ``text`` is what ``Trace.canonical`` returns, in UTF-8.

    ``digest`` is the content address over everything but ``source``, taken when the text is made:
    by whoever reads, who may be one of several processes, and not by the one that writes.
    """

    text: bytes
    digest: str
    model: str
    state: RowState
    task_set: str | None
    task_id: str | None
    condition: str
    repeat: int
    tags: dict[str, Tag]
    source: str

    @classmethod
    def of(cls, trace: Trace) -> TraceText:
        """Write a trace down."""
        text = trace.canonical().encode("utf-8")
        return cls(
            text,
            _address(text),
            trace.model,
            trace.state,
            trace.task_set,
            trace.task_id,
            trace.condition,
            trace.repeat,
            trace.tags,
            trace.source,
        )

    def canonical(self) -> str:
        """Return the canonical JSON of everything but ``source``."""
        return self.text.decode("utf-8")

    def trace(self) -> Trace:
        """Return the trace itself, validated."""
        made = Trace.model_validate(json.loads(self.text) | {"source": self.source})
        made.__dict__["digest"] = self.digest
        return made


def write_trace(fields: Mapping[str, Any], messages: bytes, source: str) -> TraceText | None:
    """Write a trace from its fields, or return None where only the exact writer may.

    Args:
        fields: every field of ``Trace`` but messages and source, by name, as ``Trace`` takes them.
        messages: the canonical JSON of the list of messages.
        source: where the trace was read.
    """
    said = orjson.Fragment(messages)
    row = {**fields, "state": fields["state"].value}
    try:
        for name in _OPEN:
            if row[name]:
                row[name] = orjson.Fragment(_exactly(row[name]))
        # Keys in order without a sort, which the fragments could not be part of.
        text = orjson.dumps({name: row.get(name, said) for name in _ORDER})
    except (TypeError, UnicodeError):  # a lone surrogate
        return None
    return TraceText(
        text,
        _address(text),
        fields["model"],
        fields["state"],
        fields["task_set"],
        fields["task_id"],
        fields["condition"],
        fields["repeat"],
        fields["tags"],
        source,
    )


def _address(text: bytes) -> str:
    return hashlib.sha256(text).hexdigest()


_ORDER = tuple(sorted(set(Trace.model_fields) - {"source"}))


def _exactly(value: Any) -> bytes:
    """Write a field of free form the way ``labelkit.digest`` does, numbers included."""
    plain = value if isinstance(value, dict) else value.model_dump()
    text = json.dumps(
        plain, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False
    )
    return text.encode("utf-8")
