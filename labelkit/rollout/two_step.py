"""The two-step protocol: one reply that may call tools, then one reply that may not.

Made for single-turn tool-use tasks (schemes.md, section 1). All tools are offered with
``tool_choice`` auto at temperature 0. When the reply holds calls, every one is answered from the
task's script, and one more request with the same tools and ``tool_choice`` none brings the
answer; otherwise the first reply is the answer. There are never more than two requests.
"""

from __future__ import annotations

from dataclasses import dataclass

from labelkit.domain.trace import Trace
from labelkit.rollout.dialogue import converse
from labelkit.rollout.played import Played
from labelkit.rollout.protocol import Asks, Row


@dataclass(frozen=True, slots=True, kw_only=True)
class TwoStep(Played):
    """The two-step protocol with native or emulated tool calls."""

    name: str = "two_step"
    version: str = "1"

    async def play(self, client: Asks, row: Row) -> Trace:
        """Play one episode; a failed request ends it as ``infra_error``, never as a label."""
        dialogue = self.begin(client, row)
        await converse(dialogue, ("auto", "none"))
        return dialogue.trace()
