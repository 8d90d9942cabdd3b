"""The desks beside a trace: keys, buttons, note, quotes; an act is sent until it is stored.

A desk sends ``act`` (a choice with its request id) and keeps ``draft`` as its state. The page
stores what it got and names the request id in ``acks``; until then the desk sends it again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import streamlit as st

from app.colours import as_css
from app.components import handed, source

_CSS = source("base.css", "desk.css") + as_css()
_ASKING = ("text.js", "marked.js", "desk.js", "asking.js")
_annotate = st.components.v2.component(
    "labelkit_annotate",
    html='<div class="lk"></div>\n',
    css=_CSS,
    js=source(*_ASKING, "annotate.js"),
)
_adjudicate = st.components.v2.component(
    "labelkit_adjudicate",
    html='<div class="lk"></div>\n',
    css=_CSS,
    js=source("text.js", "marked.js", "body.js", "desk.js", "asking.js", "adjudicate.js"),
)

Said = Mapping[str, Any]
"""What a desk sent: ``request_id`` or ``seq``, ``key``, ``trace_id``, ``ms`` and what was said."""


def annotate_desk(
    data: Mapping[str, Any],
    *,
    key: str,
    on_act: Callable[[], None],
    on_draft: Callable[[], None],
) -> tuple[Said | None, Said | None]:
    """Show the annotator's desk.

    Returns:
        The act and the draft of this run. The callbacks have handled them already, but for one
        case: a server that was started anew knows no callbacks yet when the page sends again.
    """
    result = _annotate(key=key, data=handed(data), on_act_change=on_act, on_draft_change=on_draft)
    return result.act, result.draft


def adjudicate_desk(
    data: Mapping[str, Any], *, key: str, on_act: Callable[[], None]
) -> Said | None:
    """Show the adjudicator's desk; returns the act of this run, see ``annotate_desk``."""
    result = _adjudicate(key=key, data=handed(data), on_act_change=on_act)
    act: Said | None = result.act
    return act
