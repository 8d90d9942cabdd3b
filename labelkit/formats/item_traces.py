"""Rated items as traces: what a table of judgements is about, when it is about texts.

Collections of judgements ship the texts that were judged. A text, or two answers beside each
other, is no rollout of a model, but it is what people labelled; so it becomes a small trace, with
the texts as messages and ``source: ratings`` among its tags, and can be labelled by others too.
"""

from __future__ import annotations

from collections.abc import Mapping

from labelkit.domain.message import Message
from labelkit.domain.task import Tag
from labelkit.domain.trace import RowState, Trace
from labelkit.formats.reader import ReadOptions

SOURCE_TAG: dict[str, Tag] = {"source": "ratings"}


def item_trace(
    said: str,
    *,
    asked: str | None = None,
    task_set: str,
    task_id: str,
    source: str,
    options: ReadOptions,
    model: str | None = None,
    tags: Mapping[str, Tag] | None = None,
) -> Trace:
    """Return the trace of an item: what was asked (where there was something) and what was said."""
    messages = [Message(role="user", content=asked)] if asked is not None else []
    return Trace(
        model=options.model or model or "unknown",
        messages=(*messages, Message(role="assistant", content=said)),
        state=RowState.OK,
        task_set=options.task_set or task_set,
        task_id=task_id,
        condition=options.condition or "",
        tags={**SOURCE_TAG, **(tags or {})},
        source=source,
    )


def two_answers(first: str, second: str) -> str:
    """Return two answers as one text, each under its number, as raters of pairs saw them."""
    return f"Response 1:\n{first}\n\nResponse 2:\n{second}"
