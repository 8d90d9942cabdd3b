"""The world of one episode: answers a model's calls from the task's own script.

Data only: no task carries code, and nothing here reaches outside. Every episode gets a fresh
world, so that one rollout can never change what another one sees. Now a script is a list of
fixed returns; what the runner issue adds (matching by arguments and by call count, faults,
effects) belongs behind ``Episode.answer``.
"""

from __future__ import annotations

from labelkit.digest import canonical_json
from labelkit.domain.message import Message, ToolCall
from labelkit.domain.task import Task


class Episode:
    """The tools of one task during one rollout. ``calls`` are those answered, in order."""

    def __init__(self, task: Task) -> None:
        self._returns = task.environment.returns
        self.calls: list[ToolCall] = []

    def answer(self, call: ToolCall) -> Message:
        """Return the tool message for one call; the call counts as executed.

        The first return written for this tool wins, then the first one written for every tool.
        A call that the script has no answer for gets an error that names it, never an exception.
        """
        self.calls.append(call)
        return Message(
            role="tool",
            name=call.name,
            tool_call_id=call.id,
            content=self._payload(call.name),
        )

    def _payload(self, name: str) -> str:
        for wanted in (name, None):
            for scripted in self._returns:
                if scripted.tool == wanted:
                    return scripted.payload
        return canonical_json({"error": f"unknown tool: {name}"})
