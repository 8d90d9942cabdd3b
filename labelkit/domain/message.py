"""A conversation in the OpenAI chat shape, kept without loss.

Real traces hold arguments as strings or dicts, null content beside tool calls, lists of parts,
reused call ids and provider fields nobody foresaw. A message keeps what was said; what it *means*
(executed or only attempted, visible or reasoning) is decided in ``labelkit.grounding``.
"""

from __future__ import annotations

from typing import Any

from pydantic import Field

from labelkit.domain.frozen import Frozen


class ToolCall(Frozen):
    """A call as the model stated it.

    ``arguments`` is the argument *text*. Importers turn a dict into canonical JSON and leave a
    string exactly as it was, also when it is not valid JSON.
    """

    name: str
    arguments: str = "{}"
    id: str | None = None


class Message(Frozen):
    """One message.

    ``content`` is the text (None where the source had null); a list of parts is kept in ``parts``
    and its text parts joined into ``content``. ``reasoning`` is text that the provider returned
    apart from the answer. ``extra`` holds every other field of the source, untouched.
    """

    role: str
    content: str | None = None
    parts: tuple[dict[str, Any], ...] = ()
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str | None = None
    name: str | None = None
    reasoning: str | None = None
    extra: dict[str, Any] = Field(default_factory=dict)
