"""One episode while it is being played: what was said, what was sent, what the tools answered.

Every protocol is a short order of asks on this class, so that retries, ids, broken arguments,
emulated calls, usage and row states are handled once. ``messages`` is the trace: all that was
said, in order. ``history`` is what the next request holds: a call that nobody answered stays out
of it, because servers refuse a conversation with an open call.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from labelkit.domain.completion import Completion
from labelkit.domain.message import Message, ToolCall
from labelkit.domain.trace import Trace, TraceError
from labelkit.models.request import ChatRequest
from labelkit.rollout.emulation import (
    EMULATION_VERSION,
    THEN_ANSWER,
    THEN_GO_ON,
    action_messages,
    action_schema,
    read_action,
    result_lines,
)
from labelkit.rollout.environment import Episode, offered_tools
from labelkit.rollout.protocol import (
    Asks,
    Decoding,
    Row,
    ToolMode,
    build_trace,
    reply_message,
    wire_message,
    wire_tools,
)

Choice = Literal["auto", "none", "required"]
Forcing = Literal["required", "named"]
HARNESS = "harness"
"""Name of messages that the protocol itself puts in; nobody said them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Playing:
    """How a protocol plays: its name and parser, tool calls native or emulated, decoding.

    ``forcing``: how a call is demanded; ``named`` is for endpoints that know no ``required``.
    """

    name: str
    parser: str
    tool_mode: ToolMode = "native"
    decoding: Decoding = field(default_factory=Decoding)
    forcing: Forcing = "required"


@dataclass(frozen=True, slots=True)
class Turn:
    """One reply. ``calls`` wait for their results; ``wire`` is the reply as it is sent back."""

    message: Message
    wire: dict[str, Any]
    calls: tuple[ToolCall, ...] = ()
    failed: bool = False
    cut: bool = False

    @property
    def over(self) -> bool:
        """Whether nothing can follow: no reply, a cut one, or one without a call."""
        return self.failed or self.cut or not self.calls


class Dialogue:
    """The state of one episode.

    Attributes:
        messages: the trace so far.
        history: wire messages of the next request.
        episode: the world.
        flags: what a reader of the trace should know, in order of appearance.
        extra: further facts for the trace.
        ended: whether nothing more can be asked: a dead or cut reply, or no turn left.
    """

    def __init__(
        self,
        client: Asks,
        row: Row,
        how: Playing,
        *,
        messages: Sequence[Message] | None = None,
        in_text: bool = False,
    ) -> None:
        """Begin with the task's messages, or with ``messages`` in their place.

        ``in_text``: the protocol has calls written as text and reads them itself; no tools are
        declared and nothing is emulated.
        """
        self._client, self._row, self._how = client, row, how
        self.tools = offered_tools(row.task)
        self.emulated = not in_text and how.tool_mode == "emulated" and bool(self.tools)
        self._in_text = in_text
        self._wire_tools = [] if in_text else wire_tools(row.task)
        self._hinted = not row.late_hint
        self._results_open = False
        self._error: TraceError | None = None
        self._completions: list[Completion] = []
        self.episode = Episode(row.task, repeat=row.repeat, clean=row.clean)
        self.messages: list[Message] = list(row.task.messages if messages is None else messages)
        made = [call.id for message in self.messages for call in message.tool_calls]
        self._seen = {name for name in made if name}
        self.history = self._opening()
        self.ended = False
        self.flags: dict[str, None] = {}
        self.extra: dict[str, Any] = {}

    def _opening(self) -> list[dict[str, Any]]:
        if self.emulated:
            return action_messages(self.messages, self.tools)
        return [wire_message(message) for message in self.messages]

    # -- asking --------------------------------------------------------------------------------

    async def ask(
        self,
        choice: Choice,
        *,
        history: list[dict[str, Any]] | None = None,
        attempt: int = 0,
        speaker: str | None = None,
        keep: bool = True,
        parallel: bool | None = None,
    ) -> Turn:
        """Send one request and return the reply, which becomes a message of the trace.

        Args:
            choice: whether the reply may, must or must not call a tool.
            history: other messages than the episode's; then no tools are declared at all.
            attempt: number of the try; a further try draws with another seed.
            speaker: name on the message, for protocols with several agents.
            keep: whether the reply enters the trace.
            parallel: whether several calls may come in one reply; None does not say.
        """
        tools = None if history is not None else self._tools_for(choice)
        emulating = self.emulated and history is None
        request: dict[str, Any] = {"messages": list(history or self._closed_history(choice))}
        if emulating and self._asks_for_action(choice):
            allowed = () if choice == "none" else self.tools
            schema = action_schema(allowed, answer=choice != "required")
            request.update(schema=schema, schema_name="action")
        elif tools and not emulating:
            request.update(tools=tools, tool_choice=self._wire_choice(choice))
            request["parallel_tool_calls"] = parallel
        completion = await self._client.complete(self._request(request, attempt))
        turn = self._read_action(completion, choice) if emulating else self._read(completion)
        if speaker and not turn.failed:
            named = turn.message.model_copy(update={"name": speaker})
            turn = Turn(named, turn.wire, turn.calls, turn.failed, turn.cut)
        if keep and not turn.failed:
            self.messages.append(turn.message)
        return turn

    def _tools_for(self, choice: Choice) -> list[dict[str, Any]] | None:
        """The declared tools; none for ``none`` at an endpoint that takes no ``tool_choice``."""
        if choice == "none" and "tool_choice" in self._client.capabilities.dropped:
            return None
        return self._wire_tools or None

    def _asks_for_action(self, choice: Choice) -> bool:
        """Whether an emulated reply is bound to the form of an action.

        An answer after one call is asked for in plain words. After several calls a small model
        goes on writing calls, so the form of the answer is bound as well.
        """
        return choice != "none" or len(self._completions) > 1

    def _request(self, fields: dict[str, Any], attempt: int) -> ChatRequest:
        decoding = self._how.decoding
        seed = None if decoding.seed is None else decoding.seed + attempt
        return ChatRequest(
            max_tokens=decoding.max_tokens,
            temperature=decoding.temperature,
            seed=seed,
            repeat=self._row.repeat,
            parser_version=self._how.parser,
            **fields,
        )

    def _wire_choice(self, choice: Choice) -> str | dict[str, Any]:
        if choice != "required" or self._how.forcing == "required":
            return choice
        expected = self._row.task.reference.expected_calls
        names = [call.name for call in expected] + [tool.name for tool in self.tools]
        return {"type": "function", "function": {"name": names[0]}}

    def _closed_history(self, choice: Choice) -> list[dict[str, Any]]:
        """The history; emulated results end with what is to follow them."""
        if self._results_open:
            last = self.history[-1]
            then = THEN_ANSWER if choice == "none" else THEN_GO_ON
            self.history[-1] = {**last, "content": f"{last['content']}\n{then}"}
            self._results_open = False
        return self.history

    def _read(self, completion: Completion) -> Turn:
        if not self._in_text:
            message = reply_message(completion, self._seen)
        else:
            message = Message(
                role="assistant", content=completion.text, reasoning=completion.reasoning
            )
        return self._turn(completion, message, wire_message(message))

    def _read_action(self, completion: Completion, choice: Choice) -> Turn:
        """An emulated reply is a call or an answer; a cut one is text, whatever it began as.

        So is one that calls where no call was allowed: it was asked for in plain text.
        """
        text = completion.text or ""
        action = read_action(text)
        wire = {"role": "assistant", "content": text}
        no_call = completion.failure or completion.finish_reason == "length" or choice == "none"
        if no_call or isinstance(action, str):
            said = action if isinstance(action, str) else text
            message = Message(role="assistant", content=said, reasoning=completion.reasoning)
            return self._turn(completion.model_copy(update={"text": said}), message, wire)
        number = len(self.episode.answered) + 1
        named = action.model_copy(update={"id": f"call_{number}"})
        message = Message(role="assistant", tool_calls=(named,), reasoning=completion.reasoning)
        # The call is no text of the answer.
        return self._turn(completion.model_copy(update={"text": None}), message, wire)

    def _turn(self, completion: Completion, message: Message, wire: dict[str, Any]) -> Turn:
        self._completions.append(completion)
        for name in completion.sent.get("dropped", ()):
            self.flag(f"dropped:{name}")
        failed = completion.failure is not None
        cut = completion.finish_reason == "length"
        return Turn(message, wire, message.tool_calls, failed, cut)

    # -- what follows a reply ------------------------------------------------------------------

    def answer(self, turn: Turn, *, run: int | None = None, why: str = "") -> list[Message]:
        """Answer the calls of a reply from the world; returns the results.

        ``run`` executes only so many of them and refuses the others with the reason ``why``.
        """
        limit = len(turn.calls) if run is None else run
        results = [
            self.episode.answer(call) if place < limit else self.episode.refuse(call, why)
            for place, call in enumerate(turn.calls)
        ]
        self.messages.extend(results)
        self.history.append(turn.wire)
        if self._in_text:
            observed = "\n".join(f"Observation: {result.content}" for result in results)
            self.history.append({"role": "user", "content": observed})
        elif self.emulated:
            self.history.append({"role": "user", "content": result_lines(results)})
            self._results_open = True
        else:
            self.history.extend(wire_message(result) for result in results)
        self._hint()
        return results

    def _hint(self) -> None:
        """Tell the hint of the arm once, after the first error that was seen."""
        if not self._hinted and self.episode.troubled:
            self._hinted = True
            self.note(self._row.late_hint)
            self.flag("hinted")

    def rewrite(
        self,
        turn: Turn,
        *,
        content: str | None,
        thought: str = "",
        calls: tuple[ToolCall, ...] = (),
    ) -> Message:
        """Put a reply that was not kept into the trace as a parser read it.

        The row's state follows ``content``; a ``thought`` is reasoning, never an answer.
        """
        reasoning = "\n".join(filter(None, (turn.message.reasoning, thought))) or None
        read = {"content": content, "tool_calls": calls, "reasoning": reasoning}
        message = turn.message.model_copy(update=read)
        self.messages.append(message)
        self._completions[-1] = self._completions[-1].model_copy(update={"text": content})
        return message

    def say(self, message: Message) -> None:
        """Let the user speak again, after the model has answered."""
        self.messages.append(message)
        self.history.append({"role": message.role, "content": message.content or ""})

    def note(self, text: str) -> None:
        """Say something for the harness: sent as a user's message, never taken for one."""
        told = Message(role="system", name=HARNESS, content=text, extra={"sent_as": "user"})
        self.messages.append(told)
        last = self.history[-1] if self.history else None
        if last is not None and last["role"] == "user":
            # Many templates demand that user and assistant take turns.
            self.history[-1] = {**last, "content": f"{last['content']}\n{text}"}
        else:
            self.history.append({"role": "user", "content": text})

    def drop_tools(self, flag: str) -> None:
        """Declare no tools from here on: the endpoint does not keep to ``none``."""
        self._wire_tools = []
        self.flag(flag)

    def flag(self, name: str) -> None:
        """Note a fact for the reader of the trace."""
        self.flags[name] = None

    def fail(self, kind: str, message: str) -> None:
        """End the episode as an infrastructure error: the row says nothing about the model."""
        self._error = TraceError(kind=kind, message=message)

    # -- the end -------------------------------------------------------------------------------

    def trace(self) -> Trace:
        """Return the trace as it stands."""
        extra: dict[str, Any] = {
            "protocol": self._how.name,
            "requests": len(self._completions),
            "decoding": asdict(self._how.decoding),
            **self.extra,
        }
        if self.emulated:
            extra["emulation"] = EMULATION_VERSION
        if self.flags:
            extra["flags"] = list(self.flags)
        return build_trace(
            self._row,
            self.messages,
            self._completions,
            tool_mode="emulated" if self.emulated or self._in_text else "native",
            extra=extra,
            error=self._error,
        )

    @property
    def last_empty(self) -> bool:
        """Whether the last reply came, and held neither text nor a call."""
        last = self._completions[-1]
        return last.failure is None and not last.tool_calls and not (last.text or "").strip()


async def converse(dialogue: Dialogue, choices: Sequence[Choice]) -> None:
    """Ask once per choice and answer every call, until a reply has none.

    A call that comes although none was allowed is only attempted: tools are dropped and the next
    choice asks again. Flags: ``calls_after_none``, ``suspect_server_filter`` (an empty answer
    under ``none``: some servers delete call-shaped text), ``turn_cap`` (calls to the end).
    """
    for choice in choices:
        turn = await dialogue.ask(choice)
        if turn.over:
            if choice == "none" and not turn.cut and dialogue.last_empty:
                dialogue.flag("suspect_server_filter")
            dialogue.ended = turn.failed or turn.cut
            dialogue.history.append(turn.wire)
            return
        if choice == "none":
            dialogue.drop_tools("calls_after_none")
        else:
            dialogue.answer(turn)
    dialogue.ended = True
    if choices and choices[-1] != "none":
        dialogue.flag("turn_cap")
