"""The web server around the pages: what the browser may load, and when the server ends.

Streamlit sends no content security policy. This one lets the pages talk to their own server and
to nobody else, so that even a mistake in a page cannot make a trace's text reach out. Started by
``labelkit app`` as ``streamlit run serve.py``, never imported by a page.
"""

from __future__ import annotations

import base64
import contextlib
import gc
import hashlib
import os
import re
import signal
import sys
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import streamlit as st
from starlette.middleware import Middleware
from starlette.types import ASGIApp, Message, Receive, Scope, Send

# What pages load, all but their components: better now than before somebody's first view. The
# library of charts is left to the first page that draws: annotators need none, and it takes 66 MB.
import labelkit.workflows.agreement_words  # noqa: F401
import labelkit.workflows.number_rows  # noqa: F401
import labelkit.workflows.review.adjudicate  # noqa: F401
import labelkit.workflows.review.annotate  # noqa: F401
import labelkit.workflows.review.judge_quality  # noqa: F401
import labelkit.workflows.review.overview  # noqa: F401
import labelkit.workflows.review.packing  # noqa: F401
import labelkit.workflows.review.samples  # noqa: F401
from app.gate import ROUTES, Gate
from app.opened import the_store
from labelkit.workflows.browse import Fault
from labelkit.workflows.review.live import made_ready

HERE = Path(__file__).resolve().parent
OWNED = "LABELKIT_APP_OWNED"
"""Set by the command that started this server and holds the other end of its standard input."""

_INLINE = re.compile(r"<script>(.*?)</script>", re.DOTALL)


def script_hashes() -> str:
    """The hashes of the inline scripts in Streamlit's own page, which nothing else may have."""
    page = Path(st.__file__).parent / "static" / "index.html"
    digests = (
        hashlib.sha256(script.encode()).digest()
        for script in _INLINE.findall(page.read_text(encoding="utf-8"))
    )
    return " ".join(f"'sha256-{base64.b64encode(digest).decode()}'" for digest in digests)


POLICY = "; ".join(
    (
        "default-src 'self'",
        f"script-src 'self' 'unsafe-eval' blob: {script_hashes()}",
        "style-src 'self' 'unsafe-inline'",
        "img-src 'self' data: blob:",
        "font-src 'self' data:",
        "connect-src 'self' data: blob:",
        "worker-src 'self' blob:",
        "frame-src 'none'",
        "object-src 'none'",
        "base-uri 'self'",
        "form-action 'self'",
        "frame-ancestors 'none'",
    )
)
HEADERS = (
    (b"content-security-policy", POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"permissions-policy", b"camera=(), microphone=(), geolocation=()"),
)


class SafeHeaders:
    """Adds the headers to every response."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on."""

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message.get("headers", ()), *HEADERS]
            await send(message)

        await self._app(scope, receive, with_headers)


def leave_with_parent() -> None:
    """End the server when whoever started it is gone: its end of our standard input closes."""
    while os.read(sys.stdin.fileno(), 4096):
        pass
    os.kill(os.getpid(), signal.SIGTERM)


def get_ready() -> None:
    """Do once what the first view of a page would wait for; a broken store is for pages to say."""
    with contextlib.suppress(Fault):
        made_ready(the_store())


@asynccontextmanager
async def lifespan(_app: Any) -> AsyncIterator[None]:
    """Watch the parent while the server runs."""
    # What was loaded stays: the collector need not look at it again after every run of a page.
    gc.collect()
    gc.freeze()
    if os.environ.get(OWNED):
        threading.Thread(target=leave_with_parent, daemon=True).start()
    threading.Thread(target=get_ready, daemon=True).start()
    yield


app = st.App(
    HERE / "main.py",
    routes=ROUTES,
    middleware=[Middleware(SafeHeaders), Middleware(Gate)],
    lifespan=lifespan,
)
