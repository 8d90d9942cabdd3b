"""Protocols by name. A new protocol is one file beside this one and one line in the table below."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping

from labelkit.errors import InputError
from labelkit.rollout.agent import Agent
from labelkit.rollout.dialogue import Forcing
from labelkit.rollout.feasibility import Feasibility
from labelkit.rollout.live_loop import LiveLoop
from labelkit.rollout.one_action import OneActionPerRound
from labelkit.rollout.planner_executor import PlannerExecutor
from labelkit.rollout.protocol import Decoding, RolloutProtocol, ToolMode
from labelkit.rollout.react_text import ReactText
from labelkit.rollout.replay import Replay
from labelkit.rollout.two_step import TwoStep

USUAL = "two_step"
"""The protocol of task sets that name none."""

SINGLE_TURN = frozenset({"replay"})
"""Protocols whose episode is one request: only these can be played by batch files."""

_PROTOCOLS: Mapping[str, Callable[..., RolloutProtocol]] = {
    "two_step": TwoStep,
    "live_loop": LiveLoop,
    "replay": Replay,
    "feasibility": Feasibility,
    "planner_executor": PlannerExecutor,
    "one_action_per_round": OneActionPerRound,
    "react_text": ReactText,
    "agent": Agent,
}


def protocol_names() -> tuple[str, ...]:
    """Names of all protocols."""
    return tuple(_PROTOCOLS)


def protocol(
    name: str,
    *,
    tool_mode: ToolMode = "native",
    decoding: Decoding | None = None,
    forcing: Forcing = "required",
    max_turns: int | None = None,
) -> RolloutProtocol:
    """Return the protocol with this name; ``-`` and ``_`` are the same.

    Raises:
        InputError: when there is none; names the known ones and the nearest guess.
    """
    chosen = _PROTOCOLS[known_protocol(name)]
    turns = {} if max_turns is None else {"max_turns": max_turns}
    return chosen(tool_mode=tool_mode, decoding=decoding or Decoding(), forcing=forcing, **turns)


def known_protocol(name: str) -> str:
    """Return the name as the table has it.

    Raises:
        InputError: when there is no such protocol.
    """
    found = name.strip().lower().replace("-", "_")
    if found in _PROTOCOLS:
        return found
    near = difflib.get_close_matches(found, _PROTOCOLS, n=1)
    guess = f"did you mean {near[0]!r}? " if near else ""
    raise InputError(f"there is no protocol {name!r}; {guess}protocols: {', '.join(_PROTOCOLS)}")
