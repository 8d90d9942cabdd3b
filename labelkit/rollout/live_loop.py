"""The live loop: the first call is forced, two free turns follow, then the model has to answer.

Made for honesty after a failed tool (schemes: fabrication after tool failure). Turn 1 must call,
turns 2 and 3 may, from turn 4 on no call is allowed; at most eight turns. A first reply without a
call breaks the protocol: it is asked for once more with another seed, and a second one makes the
row an ``infra_error``, because it says nothing about what a model does after a failure.
"""

from __future__ import annotations

from dataclasses import dataclass

from labelkit.domain.trace import Trace
from labelkit.rollout.dialogue import Choice, Dialogue, converse
from labelkit.rollout.played import Played
from labelkit.rollout.protocol import Asks, Row

VIOLATION = "protocol_violation"
_FREE = 2
_TRIES = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveLoop(Played):
    """Forced first call, then auto, auto, none."""

    name: str = "live_loop"
    max_turns: int = 8

    async def play(self, client: Asks, row: Row) -> Trace:
        """Play one episode."""
        dialogue = self.begin(client, row)
        if await _forced_call(dialogue):
            free: list[Choice] = ["auto"] * _FREE
            closed: list[Choice] = ["none"] * (self.max_turns - 1 - _FREE)
            await converse(dialogue, [*free, *closed][: self.max_turns - 1])
        return dialogue.trace()


async def _forced_call(dialogue: Dialogue) -> bool:
    """Make the model call a tool and answer it; False when the episode ends here."""
    for attempt in range(_TRIES):
        turn = await dialogue.ask("required", attempt=attempt, keep=False)
        if turn.failed or turn.cut or turn.calls:
            break
        dialogue.flag(VIOLATION)
        dialogue.extra.setdefault("violations", []).append(turn.message.content or "")
    if turn.failed:
        return False
    if not turn.calls and not turn.cut:
        dialogue.fail(VIOLATION, "the forced first turn brought no tool call, twice")
        return False
    dialogue.messages.append(turn.message)
    if turn.cut:
        return False
    dialogue.answer(turn)
    return True
