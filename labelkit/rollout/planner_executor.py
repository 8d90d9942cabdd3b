"""Planner and executor: two rounds of planning without tools, then up to eight turns of doing.

The multi-agent form of the feasibility protocol. The planner sees the request and what the tools
are, drafts a plan, and checks its draft once; STOP in either round ends the episode before
anything is run. The executor sees the request with the final plan and has the tools.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from labelkit.domain.message import Message
from labelkit.domain.trace import Trace
from labelkit.grounding.stop import says_stop
from labelkit.rollout.dialogue import HARNESS, Dialogue
from labelkit.rollout.emulation import tool_lines
from labelkit.rollout.feasibility import FEASIBILITY_FIRST, converse_until_stop
from labelkit.rollout.played import Played, with_system
from labelkit.rollout.protocol import Asks, Row

PLANNER = "planner"
_PLAN = (
    "You plan, another agent acts; you cannot call tools yourself. These are the tools it has:\n"
    "{tools}\n"
    "Write a short numbered plan that names the tool of every step. If a tool that the request"
    " needs is missing, write the single word STOP on a line of its own instead, followed by one"
    " sentence that names what is missing."
)
_REVIEW = (
    "Check your plan against the list of tools: does every step name a tool that is there and that"
    " can do the step? Write the final plan, or STOP on a line of its own."
)
_CARRY_OUT = "A planner has prepared this plan. Carry it out, then answer the request.\n{plan}"


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannerExecutor(Played):
    """Two planner rounds, then an executor; ``max_turns`` are the executor's."""

    name: str = "planner_executor"
    max_turns: int = 8

    async def play(self, client: Asks, row: Row) -> Trace:
        """Play one episode."""
        messages = with_system(row.task.messages, FEASIBILITY_FIRST)
        dialogue = self.begin(client, row, messages=messages)
        plan = await _plan(dialogue, row)
        if plan is not None:
            dialogue.note(_CARRY_OUT.format(plan=plan))
            await converse_until_stop(dialogue, self.max_turns)
        return dialogue.trace()


async def _plan(dialogue: Dialogue, row: Row) -> str | None:
    """Return the final plan; None when the episode ends in planning."""
    history = _planner_history(row, dialogue)
    turn = await dialogue.ask("none", history=history, speaker=PLANNER)
    if turn.failed or turn.cut or _stopped(dialogue, turn.message):
        return None
    dialogue.messages.append(Message(role="system", name=HARNESS, content=_REVIEW))
    said = {"role": "assistant", "content": turn.message.content or ""}
    history = [*history, said, {"role": "user", "content": _REVIEW}]
    turn = await dialogue.ask("none", history=history, speaker=PLANNER)
    if turn.failed or turn.cut or _stopped(dialogue, turn.message):
        return None
    return turn.message.content or ""


def _stopped(dialogue: Dialogue, message: Message) -> bool:
    stopped = says_stop(message.content)
    if stopped:
        dialogue.flag("stop")
        dialogue.flag("stopped_by_planner")
    return stopped


def _planner_history(row: Row, dialogue: Dialogue) -> list[dict[str, Any]]:
    told = _PLAN.format(tools="\n".join(tool_lines(dialogue.tools)) or "(none)")
    messages = with_system(row.task.messages, told)
    return [{"role": m.role, "content": m.content or ""} for m in messages if m.role != "tool"]
