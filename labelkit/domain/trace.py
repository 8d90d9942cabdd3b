"""One rollout of one task by one model under one condition, addressed by its content."""

from __future__ import annotations

import json
from enum import StrEnum
from functools import cached_property
from typing import Any, Literal

from pydantic import Field
from pydantic_core import PydanticSerializationError, to_json

from labelkit.digest import canonical_json, digest_text
from labelkit.domain.frozen import Frozen
from labelkit.domain.message import Message
from labelkit.domain.task import Tag, Task


class RowState(StrEnum):
    """What became of the rollout itself. A row state is never a label.

    Only ``ok``, ``no_text`` and ``truncated`` rows may carry a behaviour label; an
    ``infra_error`` row says nothing about the model.
    """

    OK = "ok"
    NO_TEXT = "no_text"
    TRUNCATED = "truncated"
    INFRA_ERROR = "infra_error"

    @property
    def labelled(self) -> bool:
        """Whether a row in this state may carry a behaviour label."""
        return self is not RowState.INFRA_ERROR


class TraceError(Frozen):
    """Why a rollout died: the kind, the HTTP status and what the endpoint said."""

    kind: str
    message: str = ""
    status: int | None = None
    attempts: int | None = None


class Usage(Frozen):
    """Tokens of one or several requests. None means the endpoint did not say; it is never 0."""

    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    reasoning_tokens: int | None = None
    cached_tokens: int | None = None


class Trace(Frozen):
    """One rollout.

    ``tool_mode`` tells how the model's calls came about: ``native`` (the server's tool parser),
    ``emulated`` (a schema-constrained action), or None when an import does not say. ``source``
    (where it was read) is no part of the digest, so the same rollout imported from two places is
    one trace; task, model, condition and repeat are part of it, so two equal answers stay two.
    """

    model: str
    messages: tuple[Message, ...]
    state: RowState
    task_set: str | None = None
    task_id: str | None = None
    condition: str = ""
    repeat: int = Field(default=0, ge=0)
    finish_reason: str | None = None
    error: TraceError | None = None
    usage: Usage | None = None
    tool_mode: Literal["native", "emulated"] | None = None
    tags: dict[str, Tag] = Field(default_factory=dict)
    extra: dict[str, Any] = Field(default_factory=dict)
    source: str = ""

    def canonical(self) -> str:
        """Return the canonical JSON of everything but ``source``: what the digest is made of.

        The plain definition is ``_plain``. Nearly every trace gets the same text faster, because
        its messages hold nothing but texts; a test holds the two together.
        """
        try:
            return self._quick()
        except (PydanticSerializationError, UnicodeError, TypeError):
            # A lone surrogate, which changes how the whole text is written, or an open field that
            # holds more than JSON.
            return self._plain()

    def _plain(self) -> str:
        return canonical_json(self.model_dump(exclude={"source"}))

    def _quick(self) -> str:
        """Put the text together: keys in order by hand, long texts by pydantic's own writer."""
        before = {
            "condition": self.condition,
            "error": self.error and self.error.model_dump(),
            "extra": self.extra,
            "finish_reason": self.finish_reason,
        }
        after = {
            "model": self.model,
            "repeat": self.repeat,
            "state": self.state.value,
            "tags": self.tags,
            "task_id": self.task_id,
            "task_set": self.task_set,
            "tool_mode": self.tool_mode,
            "usage": self.usage and self.usage.model_dump(),
        }
        messages = ",".join([_message_text(message) for message in self.messages])
        head, tail = _ENCODE(before), _ENCODE(after)
        text = f'{head[:-1]},"messages":[{messages}],{tail[1:]}'
        text.encode("utf-8")
        return text

    @cached_property
    def digest(self) -> str:
        """Content address over everything but ``source``."""
        return digest_text(self.canonical())


_ENCODE = json.JSONEncoder(
    sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False
).encode
"""As in ``labelkit.digest``, without its care for lone surrogates."""


def _message_text(message: Message) -> str:
    """Return the canonical JSON of one message, its keys in order."""
    fields = {
        "content": message.content,
        "extra": message.extra,
        "name": message.name,
        "parts": message.parts,
        "reasoning": message.reasoning,
        "role": message.role,
        "tool_call_id": message.tool_call_id,
        "tool_calls": [
            {"arguments": call.arguments, "id": call.id, "name": call.name}
            for call in message.tool_calls
        ],
    }
    # pydantic's writer escapes texts like Python's but knows other numbers and sorts no keys.
    return _ENCODE(fields) if message.extra or message.parts else to_json(fields).decode("utf-8")


def tags_of(trace: Trace, task: Task | None) -> dict[str, Tag]:
    """Return the tags of a row: the task's, overlaid by the trace's own.

    Rule, judge and report all ask here, so that a row is in one subset for everybody.
    """
    return {**task.tags, **trace.tags} if task is not None else dict(trace.tags)
