"""What every protocol is given, and how its episode begins. A protocol adds the order of asks."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field

from labelkit.domain.message import Message
from labelkit.domain.trace import Trace
from labelkit.rollout.dialogue import Dialogue, Forcing, Playing
from labelkit.rollout.protocol import Asks, Decoding, Row, ToolMode


@dataclass(frozen=True, slots=True, kw_only=True)
class Played(ABC):
    """The settings of a protocol.

    ``max_turns`` 0 takes the protocol's own cap. ``version`` is raised with any change of what
    is sent or of how a reply is read.
    """

    tool_mode: ToolMode = "native"
    decoding: Decoding = field(default_factory=Decoding)
    forcing: Forcing = "required"
    max_turns: int = 0
    name: str = ""
    version: str = "1"

    @abstractmethod
    async def play(self, client: Asks, row: Row) -> Trace:
        """Play one episode to its end; a failed request is a state of the row."""

    def begin(
        self,
        client: Asks,
        row: Row,
        *,
        messages: Sequence[Message] | None = None,
        in_text: bool = False,
    ) -> Dialogue:
        """Return the dialogue of a new episode."""
        how = Playing(
            name=self.name,
            parser=f"{self.name}/{self.version}",
            tool_mode=self.tool_mode,
            decoding=self.decoding,
            forcing=self.forcing,
        )
        return Dialogue(client, row, how, messages=messages, in_text=in_text)


def with_system(messages: Sequence[Message], text: str) -> list[Message]:
    """Return messages whose system text ends with ``text``; one is made where there is none."""
    own = next((m.content for m in messages if m.role == "system"), None)
    return with_system_text(messages, f"{own}\n\n{text}" if own else text)


def with_system_text(messages: Sequence[Message], text: str) -> list[Message]:
    """Return messages whose first system message says ``text``; "" takes none out."""
    for place, message in enumerate(messages):
        if message.role == "system":
            changed = message.model_copy(update={"content": text})
            return [*messages[:place], changed, *messages[place + 1 :]]
    return [Message(role="system", content=text), *messages] if text else list(messages)
