"""Fields that rows of every chat-like format share: state, error, usage, tags, numbers.

A failed request must never look like an answer, so the row state is derived here for all formats
alike: stated errors and filtered replies are ``infra_error`` whatever text stands beside them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from labelkit.digest import canonical_json
from labelkit.domain.message import Message
from labelkit.domain.task import Tag
from labelkit.domain.trace import RowState, TraceError, Usage
from labelkit.formats.reader import Notes
from labelkit.grounding.visible import visible_answer

_CUT = frozenset({
    "length", "max_tokens", "model_length", "max_steps", "max_output_tokens",
    "model_context_window_exceeded",
})  # fmt: skip
_FILTERED = frozenset({
    "content_filter", "content-filter", "safety", "prohibited_content", "blocklist", "spii",
    "recitation",
})  # fmt: skip
_USAGE_DETAIL = (
    ("reasoning_tokens", "completion_tokens_details"),
    ("cached_tokens", "prompt_tokens_details"),
)


def row_state(
    messages: Sequence[Message], finish_reason: str | None, error: TraceError | None
) -> tuple[RowState, TraceError | None]:
    """Return what became of the rollout, and the error an unusable finish reason stands for."""
    reason = (finish_reason or "").lower()
    if error is None and reason in _FILTERED:
        error = TraceError(kind="filtered", message="the reply was stopped by a content filter")
    if error is None and reason == "error":
        error = TraceError(kind="other_error", message="the finish reason is `error`")
    if error is not None:
        return RowState.INFRA_ERROR, error
    if reason in _CUT:
        return RowState.TRUNCATED, None
    return (RowState.OK if visible_answer(messages) else RowState.NO_TEXT), None


def read_error(raw: Any) -> TraceError | None:
    """Return the stated error: null, false, an empty text or object mean none."""
    if not raw:
        return None
    if not isinstance(raw, dict):
        text = raw if isinstance(raw, str) else canonical_json(raw)
        return TraceError(kind="other_error", message=text)
    kind = raw.get("kind") or raw.get("type") or raw.get("code") or "other_error"
    status = raw.get("status", raw.get("status_code"))
    message = raw.get("message")
    return TraceError(
        kind=kind if isinstance(kind, str) else canonical_json(kind),
        message=message if isinstance(message, str) else canonical_json(raw),
        status=count(status),
        attempts=count(raw.get("attempts")),
    )


def count(raw: Any) -> int | None:
    """Return a whole number that is not negative, or None."""
    if isinstance(raw, bool) or not isinstance(raw, int | float) or raw < 0 or raw != raw // 1:
        return None
    return int(raw)


def read_usage(raw: Any, extra: dict[str, Any]) -> Usage | None:
    """Return the tokens; a usage that says more than ``Usage`` can keep stays in ``extra`` too."""
    if raw is None:
        return None
    if not isinstance(raw, dict):
        extra["usage"] = raw
        return None
    fields = {key: count(raw.get(key)) for key in Usage.model_fields}
    for key, holder in _USAGE_DETAIL:
        detail = raw.get(holder)
        if fields[key] is None and isinstance(detail, dict):
            fields[key] = count(detail.get(key))
    total = (fields["prompt_tokens"] or 0) + (fields["completion_tokens"] or 0)
    kept = {"total_tokens", *(key for key, value in fields.items() if value is not None)}
    if set(raw) - kept or raw.get("total_tokens", total) != total:
        extra["usage"] = raw
    return None if all(value is None for value in fields.values()) else Usage(**fields)


def read_tags(row: dict[str, Any], extra: dict[str, Any]) -> dict[str, Tag]:
    """Return tags from ``tags`` and the plain values of ``metadata``; the rest goes to ``extra``.

    A list of tags becomes ``{tag: True}``. A tag wins over metadata of the same name.
    """
    tags: dict[str, Tag] = {}
    for field in ("tags", "metadata"):
        raw = row.get(field)
        if isinstance(raw, list) and all(isinstance(name, str) for name in raw):
            raw = dict.fromkeys(raw, True)
        if not isinstance(raw, dict):
            if raw is not None:
                extra[field] = raw
            continue
        rest = {k: v for k, v in raw.items() if k in tags or not is_tag(v)}
        tags |= {k: v for k, v in raw.items() if k not in rest}
        if rest:
            extra[field] = rest
    return tags


def is_tag(value: Any) -> bool:
    """Whether a JSON value can be a tag: text, a truth value or a finite number."""
    if isinstance(value, float):
        return math.isfinite(value)
    return isinstance(value, str | bool | int)


def text_or_none(value: Any) -> str | None:
    """Return a text as it is, anything else as None."""
    return value if isinstance(value, str) else None


def text_field(row: dict[str, Any], key: str, extra: dict[str, Any]) -> str | None:
    """Return a text field; a number becomes its text, anything else goes to ``extra``."""
    value = row.get(key)
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, int | float) and not isinstance(value, bool):
        return str(value)
    extra[key] = value
    return None


def model_name(stated: str | None, found: str | None, notes: Notes) -> str:
    """Return the user's model name, else the file's, else ``unknown`` with a finding."""
    if stated or found:
        return stated or found or ""
    notes.lost("no model is named, now `unknown`; name it with --model")
    return "unknown"


def repeat_of(raw: Any, extra: dict[str, Any], key: str, notes: Notes) -> int:
    """Return the repeat number; what is no count goes to ``extra`` under ``key``."""
    if raw is None:
        return 0
    value = count(raw)
    if value is None:
        extra[key] = raw
        notes.lost(f"`{key}` is not a count, now 0")
        return 0
    return value
