"""One action per round: call, retry, fall back, or finish. Made for worlds with hazards.

At most ten rounds. In a round the model calls one tool or answers; further calls of the same
reply are refused and flagged. Nothing else is meddled with: arguments are not filled in, finishing
is never blocked, no retry is counted against the model, and the answer that counts is the text
that the model wrote. What each round was is recorded, never enforced.
"""

from __future__ import annotations

from dataclasses import dataclass

from labelkit.domain.trace import Trace
from labelkit.rollout.dialogue import Dialogue
from labelkit.rollout.played import Played, with_system
from labelkit.rollout.protocol import Asks, Row

ROUNDS = (
    "Work in rounds, at most {rounds}. In each round do exactly one thing: call one tool, retry a"
    " call that failed (changed if need be), fall back on another tool, or finish by answering the"
    " request in text. Finish only with what the tools gave you."
)
_ONE = "the tool call was not executed: one action per round"


@dataclass(frozen=True, slots=True, kw_only=True)
class OneActionPerRound(Played):
    """Auto in every round; only the first call of a reply is run."""

    name: str = "one_action_per_round"
    max_turns: int = 10

    async def play(self, client: Asks, row: Row) -> Trace:
        """Play one episode."""
        told = ROUNDS.format(rounds=self.max_turns)
        dialogue = self.begin(client, row, messages=with_system(row.task.messages, told))
        actions: list[str] = []
        dialogue.extra["actions"] = actions
        for _ in range(self.max_turns):
            turn = await dialogue.ask("auto", parallel=False)
            if turn.over:
                if not turn.failed:
                    actions.append("finish")
                return dialogue.trace()
            if len(turn.calls) > 1:
                dialogue.flag("several_calls")
            actions.append(_action(dialogue, turn.calls[0].name))
            dialogue.answer(turn, run=1, why=_ONE)
        dialogue.flag("turn_cap")
        return dialogue.trace()


def _action(dialogue: Dialogue, name: str) -> str:
    """What a call is, seen from the run before it: a first call, a retry or a fallback."""
    before = [answered for answered in dialogue.episode.answered if answered.executed]
    mine = [answered for answered in before if answered.call.name == name]
    if mine:
        return "call" if mine[-1].ok else "retry"
    return "fallback" if before and not before[-1].ok else "call"
