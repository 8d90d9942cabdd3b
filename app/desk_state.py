"""What a session remembers of the acts it handled. Losing it costs nothing: acts are repeatable.

An act may arrive twice (the page sends it again until it is acknowledged, and a server that was
started anew gets it once more); the store tells repeats apart by the request id, not this module.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import streamlit as st

from app.components.desk import Said
from labelkit.workflows.browse import Fault

REMEMBERED = 20


class DeskState:
    """Acknowledgements and the last fault of one desk in one session."""

    def __init__(self, name: str) -> None:
        self._key = name
        self._state: dict[str, Any] = st.session_state.setdefault(
            f"{name}_state", {"acks": [], "seq": None, "fault": None, "saved": ""}
        )

    @property
    def acks(self) -> list[str]:
        """Request ids that were handled, newest last."""
        return list(self._state["acks"])

    @property
    def fault(self) -> dict[str, str] | None:
        """Why the last act was refused, under its request id."""
        fault: dict[str, str] | None = self._state["fault"]
        return fault

    @property
    def saved(self) -> str:
        """What the last act did, in words."""
        return str(self._state["saved"])

    def incoming(self, name: str) -> Said | None:
        """What a callback was called for."""
        value = getattr(st.session_state[self._key], name)
        return value or None

    def act(self, said: Said | None, handle: Callable[[Said], str]) -> bool:
        """Handle an act unless this session has; whether it was handled now.

        ``handle`` says in words what it did. A fault is kept and shown beside the desk.
        """
        if not said or said["request_id"] in self._state["acks"]:
            return False
        fault = self._state["fault"]
        if fault and fault["request_id"] == said["request_id"]:
            return False
        try:
            self._state["saved"] = handle(said)
        except Fault as problem:
            self._state["fault"] = {"request_id": said["request_id"], "text": str(problem)}
            return True
        self._state["fault"] = None
        self._state["acks"] = [*self._state["acks"], said["request_id"]][-REMEMBERED:]
        return True

    def draft(self, said: Said | None, handle: Callable[[Said], None]) -> None:
        """Keep a draft unless this session has."""
        if not said or said["seq"] == self._state["seq"]:
            return
        self._state["seq"] = said["seq"]
        try:
            handle(said)
        except Fault as problem:
            self._state["saved"] = f"The draft was not kept: {problem}"
