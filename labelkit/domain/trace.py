"""One rollout of one task by one model under one condition, addressed by its content."""

from __future__ import annotations

from enum import StrEnum
from functools import cached_property
from typing import Any, Literal

from pydantic import Field

from labelkit.digest import digest
from labelkit.domain.frozen import Frozen
from labelkit.domain.message import Message
from labelkit.domain.task import Tag


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

    @cached_property
    def digest(self) -> str:
        """Content address over everything but ``source``."""
        return digest(self.model_dump(exclude={"source"}))
