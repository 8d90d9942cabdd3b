"""Replay: the model is handed a transcript that ends in the tool's result and writes the answer.

One request, no live tool. The transcript's calls are the author's expected ones, answered by a
fresh world. It asks less of a model than the live loop does, so its rows are marked (the tag
``protocol``, and the arm's name) and are never to be compared with those of a live loop.
"""

from __future__ import annotations

from dataclasses import dataclass

from labelkit.digest import canonical_json
from labelkit.domain.message import Message, ToolCall
from labelkit.domain.trace import Trace
from labelkit.rollout.dialogue import Turn, converse
from labelkit.rollout.played import Played
from labelkit.rollout.protocol import Asks, Row, wire_message


@dataclass(frozen=True, slots=True, kw_only=True)
class Replay(Played):
    """A single turn after scripted calls; the arguments are the author's."""

    name: str = "replay"

    async def play(self, client: Asks, row: Row) -> Trace:
        """Play one episode."""
        dialogue = self.begin(client, row)
        for number, expected in enumerate(row.task.reference.expected_calls, start=1):
            arguments = canonical_json(expected.arguments)
            call = ToolCall(name=expected.name, arguments=arguments, id=f"replayed_{number}")
            said = Message(role="assistant", tool_calls=(call,), extra={"replayed": True})
            text = canonical_json({"tool": expected.name, "arguments": expected.arguments})
            told = {"role": "assistant", "content": text}
            wire = told if dialogue.emulated else wire_message(said)
            dialogue.messages.append(said)
            dialogue.answer(Turn(said, wire, said.tool_calls))
        await converse(dialogue, ("none",))
        return dialogue.trace()
