"""The two-step protocol: one reply that may call tools, then one reply that may not.

Made for single-turn tool-use tasks (schemes.md, section 1). All tools are offered with
``tool_choice`` auto at temperature 0. When the reply holds calls, every one is answered from the
task's script, and one more request with the same tools and ``tool_choice`` none brings the
answer; otherwise the first reply is the answer. There are never more than two requests.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from labelkit.domain.completion import Completion
from labelkit.domain.message import Message, ToolCall
from labelkit.domain.trace import Trace
from labelkit.models.client import Client
from labelkit.models.request import ChatRequest
from labelkit.rollout.emulation import (
    EMULATION_VERSION,
    action_messages,
    action_schema,
    read_action,
    result_messages,
)
from labelkit.rollout.environment import Episode
from labelkit.rollout.protocol import (
    Decoding,
    Row,
    ToolMode,
    build_trace,
    reply_message,
    wire_message,
    wire_tools,
)

PARSER = "two_step/1"


@dataclass(frozen=True, slots=True, kw_only=True)
class TwoStep:
    """The two-step protocol with native or emulated tool calls."""

    tool_mode: ToolMode = "native"
    decoding: Decoding = field(default_factory=Decoding)
    name: str = "two_step"

    async def play(self, client: Client, row: Row) -> Trace:
        """Play one episode; a failed request ends it as ``infra_error``, never as a label."""
        if self.tool_mode == "emulated" and row.task.tools:
            return await self._play_emulated(client, row)
        return await self._play_native(client, row)

    async def _play_native(self, client: Client, row: Row) -> Trace:
        tools = wire_tools(row.task) or None
        messages = list(row.task.messages)
        first = await client.complete(
            self._request(
                row,
                messages=[wire_message(m) for m in messages],
                tools=tools,
                tool_choice="auto" if tools else None,
            )
        )
        if first.failure is None:
            messages.append(reply_message(first))
        if first.failure or not first.tool_calls or first.finish_reason == "length":
            return self._trace(row, messages, [first])
        episode = Episode(row.task)
        messages.extend(episode.answer(call) for call in messages[-1].tool_calls)
        second = await client.complete(
            self._request(
                row,
                messages=[wire_message(m) for m in messages],
                tools=tools,
                tool_choice="none" if tools else None,
            )
        )
        if second.failure is None:
            messages.append(reply_message(second))
        return self._trace(row, messages, [first, second])

    async def _play_emulated(self, client: Client, row: Row) -> Trace:
        messages = list(row.task.messages)
        asked = action_messages(row.task)
        first = await client.complete(
            self._request(
                row, messages=asked, schema=action_schema(row.task.tools), schema_name="action"
            )
        )
        if first.failure is not None:
            return self._trace(row, messages, [first])
        text = first.text or ""
        action = read_action(text)
        if first.finish_reason == "length" or not isinstance(action, ToolCall):
            said = text if isinstance(action, ToolCall) else action
            messages.append(Message(role="assistant", content=said, reasoning=first.reasoning))
            return self._trace(row, messages, [first.model_copy(update={"text": said})])
        episode = Episode(row.task)
        result = episode.answer(action)
        messages += [
            Message(role="assistant", tool_calls=(action,), reasoning=first.reasoning),
            result,
        ]
        second = await client.complete(
            self._request(row, messages=[*asked, *result_messages(text, [result])])
        )
        if second.failure is None:
            messages.append(reply_message(second))
        return self._trace(row, messages, [first, second])

    def _request(self, row: Row, **fields: object) -> ChatRequest:
        return ChatRequest(
            max_tokens=self.decoding.max_tokens,
            temperature=self.decoding.temperature,
            seed=self.decoding.seed,
            repeat=row.repeat,
            parser_version=PARSER,
            **fields,  # type: ignore[arg-type]
        )

    def _trace(self, row: Row, messages: list[Message], completions: list[Completion]) -> Trace:
        extra: dict[str, object] = {"protocol": self.name, "requests": len(completions)}
        mode: ToolMode = "emulated" if self.tool_mode == "emulated" and row.task.tools else "native"
        if mode == "emulated":
            extra["emulation"] = EMULATION_VERSION
        flags = _flags(completions)
        if flags:
            extra["flags"] = flags
        return build_trace(row, messages, completions, tool_mode=mode, extra=extra)


def _flags(completions: list[Completion]) -> list[str]:
    """What a reader of the trace should know about how its last reply came about."""
    last = completions[-1]
    flags = []
    if len(completions) == 2 and last.failure is None:
        if last.tool_calls:
            flags.append("calls_after_none")
        if not (last.text or "").strip() and not last.tool_calls:
            # Some servers delete call-shaped text from the answer when tool_choice is none.
            flags.append("suspect_server_filter")
    return flags
