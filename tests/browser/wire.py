"""What passes between a page and its server: heard, held back, or cut by a test."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from playwright.sync_api import Page, Response, WebSocket, WebSocketRoute

from tests.browser.conftest import PATIENCE_S

STREAM = re.compile(r".*/_stcore/stream")


@dataclass
class Line:
    """The websocket of a page. ``deaf``: what the server says is lost; ``dead``: no new one."""

    page: Page
    deaf: bool = False
    dead: bool = False
    ends: list[tuple[WebSocketRoute, WebSocketRoute]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.page.route_web_socket(STREAM, self._join)

    def _join(self, ours: WebSocketRoute) -> None:
        if self.dead:
            ours.close()
            return
        theirs = ours.connect_to_server()
        self.ends.append((ours, theirs))
        ours.on_message(theirs.send)
        theirs.on_message(lambda message: None if self.deaf else ours.send(message))

    def cut(self) -> None:
        """Cut both ends, as a network does."""
        ours, theirs = self.ends[-1]
        theirs.close()
        ours.close()


@dataclass
class Heard:
    """Everything that a page receives: bodies of answers and frames of websockets."""

    page: Page
    parts: list[bytes] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.page.on("response", self._answered)
        self.page.on("websocket", self._opened)

    def _answered(self, response: Response) -> None:
        if response.request.resource_type in {"document", "fetch", "xhr"} and response.ok:
            self.parts.append(response.body())

    def _opened(self, socket: WebSocket) -> None:
        socket.on(
            "framereceived",
            lambda data: self.parts.append(data.encode() if isinstance(data, str) else data),
        )

    def __contains__(self, text: str) -> bool:
        return text.encode() in b"".join(self.parts)


def eventually(page: Page, condition: Callable[[], bool]) -> None:
    """Wait until a fact outside the page holds, and let the page go on meanwhile."""
    deadline = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < deadline, "it never came about"
        page.wait_for_timeout(30)
