"""The plain agent loop: tools are free in every turn, until the model answers or the cap is met."""

from __future__ import annotations

from dataclasses import dataclass

from labelkit.domain.trace import Trace
from labelkit.models.client import Client
from labelkit.rollout.dialogue import Choice, converse
from labelkit.rollout.played import Played
from labelkit.rollout.protocol import Row


@dataclass(frozen=True, slots=True, kw_only=True)
class Agent(Played):
    """Auto in every turn."""

    name: str = "agent"
    max_turns: int = 20

    async def play(self, client: Client, row: Row) -> Trace:
        """Play one episode."""
        dialogue = self.begin(client, row)
        choices: list[Choice] = ["auto"] * self.max_turns
        await converse(dialogue, choices)
        return dialogue.trace()
