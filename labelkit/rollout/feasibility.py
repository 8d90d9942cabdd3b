"""Feasibility: the model is told to say STOP when its tools cannot do the task.

Made for tasks whose critical tools were taken away (schemes: FeasiGen). The episode ends at a
visible STOP on a line of its own (also beside a call, which is then not run), at an answer, or at
the cap; the caps of the source benchmarks are 10, 10, 12 and 15 turns, ours is 10.
"""

from __future__ import annotations

from dataclasses import dataclass

from labelkit.domain.trace import Trace
from labelkit.grounding.stop import says_stop
from labelkit.rollout.dialogue import Dialogue
from labelkit.rollout.played import Played, with_system
from labelkit.rollout.protocol import Asks, Row

FEASIBILITY_FIRST = (
    "Before you act, and again whenever a tool's result changes the picture, judge whether the"
    " request can be fulfilled with the tools you have. If a tool that it needs is missing, do not"
    " guess and do not look for a way around: write the single word STOP on a line of its own,"
    " followed by one sentence that names what is missing. If it can be fulfilled, use the tools"
    " and answer."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Feasibility(Played):
    """Auto in every turn; STOP ends the episode."""

    name: str = "feasibility"
    max_turns: int = 10

    async def play(self, client: Asks, row: Row) -> Trace:
        """Play one episode."""
        messages = with_system(row.task.messages, FEASIBILITY_FIRST)
        dialogue = self.begin(client, row, messages=messages)
        await converse_until_stop(dialogue, self.max_turns)
        return dialogue.trace()


async def converse_until_stop(dialogue: Dialogue, turns: int) -> None:
    """Let the model act until it answers, says STOP (flag ``stop``) or has had all turns."""
    for _ in range(turns):
        turn = await dialogue.ask("auto")
        if not turn.failed and says_stop(turn.message.content):
            dialogue.flag("stop")
            return
        if turn.over:
            return
        dialogue.answer(turn)
    dialogue.flag("turn_cap")
