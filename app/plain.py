"""Showing text as the text it is: no markup, no images, no control characters that act.

Everything that may come from a trace, a label, a file name or an error message goes through here
or through a component of ``app.components``.
"""

from __future__ import annotations

import html
import unicodedata
from collections.abc import Sequence
from pathlib import Path

import streamlit as st

ICON = str(Path(__file__).parent / "icon.png")
"""A file of our own: Streamlit's named icons are fetched from elsewhere."""

_SHOWN = 70
_STYLE = """<style>
[data-testid="stApp"] { --lk-link: light-dark(#2F4BC7, #A9B9FF);
  --lk-line: light-dark(#D9DDEA, #343B4D); --lk-ground: light-dark(#FCFCFE, #12151D) }
[data-testid="stHeader"] { height: 3rem; min-height: 3rem; background: var(--lk-ground) }
[data-testid="stMainBlockContainer"] { padding: 3.5rem 2rem 2rem; max-width: 1680px }
[data-testid="stMainBlockContainer"] > [data-testid="stVerticalBlock"] { gap: .7rem }
[data-testid="stElementContainer"]:has(.lk-me) { position: absolute }
[data-testid="stHeading"] h3 { font-size: 1.05rem; padding: .7rem 0 .35rem }
[data-testid="stColumn"]:has(.st-key-desk) { position: sticky; top: 3.2rem;
  align-self: flex-start; max-height: calc(100vh - 7rem); overflow-y: auto; padding-right: .3rem }
.lk-sub { font-size: 1.05rem; font-weight: 600; margin: 0; padding: .7rem 0 .35rem;
  overflow-wrap: anywhere; unicode-bidi: isolate }
.lk-me { position: fixed; top: .75rem; right: 2rem; z-index: 999991; font-size: .88rem;
  display: flex; gap: .8rem; max-width: 40vw }
.lk-me span { opacity: .8; overflow: hidden; text-overflow: ellipsis; white-space: nowrap }
.lk-me a, a.lk-go { color: var(--lk-link) }
.lk-head { display: flex; gap: .9rem; align-items: baseline; flex-wrap: wrap }
.lk-head h1 { font-size: 1.35rem; margin: 0; padding: 0; font-weight: 650 }
.lk-head span { opacity: .78; font-size: .92rem; overflow-wrap: anywhere; unicode-bidi: isolate }
.lk-cards { display: grid; grid-template-columns: repeat(auto-fit, minmax(11rem, 1fr)); gap: .8rem;
  margin: .1rem 0 .3rem }
.lk-cards div { border: 1px solid var(--lk-line); border-radius: 8px;
  padding: .5rem .9rem; min-width: 0; overflow-wrap: anywhere }
.lk-cards span { display: block } .lk-cards .t { font-size: .86rem; opacity: .85 }
.lk-cards .n { font-size: 1.6rem; line-height: 1.3 } .lk-cards .s { font-size: .82rem; opacity: .8 }
.lk-cards .n.why { font-size: 1rem; line-height: 2.08rem; font-style: italic }
.lk-problem, .lk-warning { border-left: 4px solid #C4453D; padding: .5rem .9rem;
  overflow-wrap: anywhere; white-space: pre-wrap; unicode-bidi: isolate;
  background: color-mix(in srgb, #C4453D 8%, var(--lk-ground)) }
.lk-warning { border-color: #C58A1A;
  background: color-mix(in srgb, #C58A1A 10%, var(--lk-ground)) }
.lk-note { opacity: .78; font-size: .92rem; overflow-wrap: anywhere; white-space: pre-wrap;
  unicode-bidi: isolate }
</style>"""


def frame() -> None:
    """Lay out the page: full width, no room wasted at the top."""
    st.html(_STYLE)


def visible(text: str, limit: int = _SHOWN) -> str:
    """Return one short line: control and format characters become U+XXXX, the rest is cut."""
    cut = text if len(text) <= limit else text[: limit - 1] + "\u2026"
    return "".join(
        f"\u27e8U+{ord(c):04X}\u27e9" if unicodedata.category(c)[0] == "C" else c for c in cut
    )


def named(values: Sequence[str | None]) -> list[str]:
    """Return names for a widget's options: visible, and no two alike."""
    names: list[str] = []
    for value in values:
        name = "(none)" if value is None else visible(value) or "(empty)"
        times = sum(known == name or known.startswith(f"{name} #") for known in names)
        names.append(f"{name} #{times + 1}" if times else name)
    return names


def head(title: str, *facts: str) -> None:
    """A page's title with a few facts beside it."""
    spans = "".join(f"<span>{html.escape(visible(fact, 200))}</span>" for fact in facts if fact)
    st.html(f'<div class="lk-head"><h1>{html.escape(title)}</h1>{spans}</div>')


def section(title: str) -> None:
    """A heading inside a page, for titles that others wrote: Streamlit's own read markup."""
    st.html(f'<h3 class="lk-sub">{html.escape(visible(title, 200))}</h3>')


def cards(facts: Sequence[tuple[str, str, str]]) -> None:
    """Numbers to be seen at once: what it is, the number, and what belongs to it."""
    items = "".join(
        f'<div role="listitem"><span class="t">{html.escape(visible(name, 200))}</span>'
        f'<span class="n{" why" if number.startswith("(") else ""}">'
        f"{html.escape(visible(number, 60))}</span>"
        f'<span class="s">{html.escape(visible(more, 200))}</span></div>'
        for name, number, more in facts
    )
    st.html(f'<div class="lk-cards" role="list">{items}</div>')


def signature(name: str) -> None:
    """Say in the corner who is signed in, with the way out."""
    st.html(
        f'<div class="lk-me"><span>{html.escape(visible(name))}</span>'
        '<a href="/logout" target="_self">Sign out</a></div>'
    )


def problem(text: str) -> None:
    """Say what went wrong; the text may quote anything."""
    st.html(f'<div class="lk-problem" role="alert">{html.escape(visible(text, 2000))}</div>')


def warning(text: str) -> None:
    """Say what a reader of the numbers must know; nothing went wrong."""
    st.html(f'<div class="lk-warning" role="note">{html.escape(visible(text, 2000))}</div>')


def note(text: str) -> None:
    """A remark."""
    st.html(f'<div class="lk-note">{html.escape(visible(text, 2000))}</div>')
