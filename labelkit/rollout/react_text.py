"""ReAct in plain text: thoughts and actions are written, one parser reads them for every model.

Made for error-handling tasks (schemes: WildAgtEval). The first ``Action:`` at the start of a
line counts; what follows it is cut off, before the model reads its own invention of an
observation. An action that cannot be read is told back once, as an observation, and counted; the
next one ends the episode. At most fifteen steps for one user turn. A text without an action is
the answer; so is what follows ``Answer:`` at the start of a line.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass

from labelkit.digest import canonical_json
from labelkit.domain.message import ToolCall
from labelkit.domain.trace import Trace
from labelkit.grounding.visible import strip_reasoning
from labelkit.rollout.dialogue import Dialogue, Turn
from labelkit.rollout.emulation import tool_lines
from labelkit.rollout.environment import offered_tools
from labelkit.rollout.played import Played, with_system
from labelkit.rollout.protocol import Asks, Row

FORMAT = (
    "You can call these tools:\n{tools}\n"
    "Write in this form, one step at a time:\n"
    "Thought: what you consider\n"
    'Action: {{"tool": NAME, "arguments": {{...}}}}\n'
    "Then wait: the result follows as a line that begins with Observation. When you are done,"
    " write\n"
    "Answer: what you tell the user"
)
_ACTION = re.compile(r"^[ \t]*Action:\s*(?:```(?:json)?\s*)?", re.MULTILINE)
_ANSWER = re.compile(r"^[ \t]*Answer:[ \t]*", re.MULTILINE)
_OBSERVATION = re.compile(r"^[ \t]*Observation:", re.MULTILINE)
_DECODER = json.JSONDecoder()
_FEEDBACK = (
    'the action could not be read ({why}); write Action: {{"tool": NAME, "arguments": {{...}}}}'
)


@dataclass(frozen=True, slots=True)
class Step:
    """What one reply says: a call, an answer, or an action that cannot be read (``fault``).

    ``kept`` is the text up to the end of the action, ``rest`` what followed it.
    """

    thought: str = ""
    call: ToolCall | None = None
    answer: str | None = None
    fault: str = ""
    kept: str = ""
    rest: str = ""

    @property
    def flags(self) -> tuple[str, ...]:
        """What was wrong with the text after the action that counts."""
        found = {
            "text_after_action": bool(self.rest),
            "multiple_actions": _ACTION.search(self.rest) is not None,
            "hallucinated_observation": _OBSERVATION.search(self.rest) is not None,
        }
        return tuple(name for name, holds in found.items() if holds)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReactText(Played):
    """Thought, action, observation as text."""

    name: str = "react_text"
    max_turns: int = 15

    async def play(self, client: Asks, row: Row) -> Trace:
        """Play one episode."""
        dialogue = self._begin(client, row)
        await self._turn(dialogue)
        for message in row.task.later_turns:
            if dialogue.ended:
                break
            dialogue.say(message)
            await self._turn(dialogue)
        return dialogue.trace()

    async def _turn(self, dialogue: Dialogue) -> None:
        """Let the model act until it answers one user turn."""
        for _ in range(self.max_turns):
            turn = await dialogue.ask("none", keep=False)
            dialogue.ended = turn.failed or turn.cut
            if turn.failed:
                return
            step = read_step(turn.message.content or "")
            if turn.cut or step.answer is not None:
                dialogue.rewrite(turn, content=turn.message.content if turn.cut else step.answer)
                dialogue.history.append(turn.wire)
                return
            for flag in step.flags:
                dialogue.flag(flag)
            if step.call is not None:
                _run(dialogue, turn, step.call, step)
            elif not _tell_fault(dialogue, turn, step):
                return
        dialogue.ended = True
        dialogue.flag("turn_cap")

    def _begin(self, client: Asks, row: Row) -> Dialogue:
        tools = "\n".join(tool_lines(offered_tools(row.task))) or "(none)"
        messages = with_system(row.task.messages, FORMAT.format(tools=tools))
        return self.begin(client, row, messages=messages, in_text=True)


def _tell_fault(dialogue: Dialogue, turn: Turn, step: Step) -> bool:
    """Tell the model once that its action cannot be read; False when it was told before."""
    faults = dialogue.extra.get("parse_errors", 0) + 1
    dialogue.extra["parse_errors"] = faults
    dialogue.rewrite(turn, content=step.kept)
    if faults > 1:
        dialogue.flag("unreadable_action")
        dialogue.ended = True
        return False
    dialogue.history.append({"role": "assistant", "content": step.kept})
    dialogue.note("Observation: " + _FEEDBACK.format(why=step.fault))
    return True


def read_step(text: str) -> Step:
    """Return what a reply says; reasoning blocks are no part of it."""
    visible = strip_reasoning(text)
    found = _ACTION.search(visible)
    if found is None:
        answer = _ANSWER.search(visible)
        return Step(answer=visible[answer.end() :].strip() if answer else visible)
    done = _ANSWER.search(visible, 0, found.start())
    if done is not None:
        return Step(answer=visible[done.end() : found.start()].strip())
    thought = visible[: found.start()].strip()
    try:
        value, end = _DECODER.raw_decode(visible, found.end())
    except (ValueError, RecursionError):
        line_end = visible.find("\n", found.end())
        end = len(visible) if line_end < 0 else line_end
        value = None
    call, fault = _read_value(value)
    rest = visible[end:].removeprefix("\n```").strip()
    return Step(thought, call, fault=fault, kept=visible[:end], rest=rest)


def _read_value(value: object) -> tuple[ToolCall | None, str]:
    """The call that an action's JSON means, or what is wrong with it."""
    if not isinstance(value, dict):
        return None, "no JSON object follows Action:"
    name, arguments = value.get("tool", value.get("name")), value.get("arguments", {})
    if not isinstance(name, str) or not name:
        return None, 'the key "tool" is missing'
    if not isinstance(arguments, dict):
        return None, '"arguments" is no object'
    return ToolCall(name=name, arguments=canonical_json(arguments)), ""


def _run(dialogue: Dialogue, turn: Turn, call: ToolCall, step: Step) -> None:
    """Run a written call: in the trace it is an ordinary one, on the wire it stays text."""
    number = len(dialogue.episode.answered) + 1
    named = call.model_copy(update={"id": f"call_{number}"})
    said = dialogue.rewrite(turn, content=None, thought=step.thought, calls=(named,))
    dialogue.answer(Turn(said, {"role": "assistant", "content": step.kept}, (named,)))
