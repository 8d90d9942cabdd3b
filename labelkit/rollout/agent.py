"""The plain agent loop: tools are free in every step, until the model answers or the cap is met.

A user who speaks again does so after the answer; the cap counts the steps of one user turn.
"""

from __future__ import annotations

from dataclasses import dataclass

from labelkit.domain.trace import Trace
from labelkit.rollout.dialogue import Choice, converse
from labelkit.rollout.played import Played
from labelkit.rollout.protocol import Asks, Row


@dataclass(frozen=True, slots=True, kw_only=True)
class Agent(Played):
    """Auto in every step."""

    name: str = "agent"
    max_turns: int = 20

    async def play(self, client: Asks, row: Row) -> Trace:
        """Play one episode."""
        dialogue = self.begin(client, row)
        choices: list[Choice] = ["auto"] * self.max_turns
        await converse(dialogue, choices)
        for message in row.task.later_turns:
            if dialogue.ended:
                break
            dialogue.say(message)
            await converse(dialogue, choices)
        return dialogue.trace()
