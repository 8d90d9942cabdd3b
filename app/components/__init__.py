"""Own components: the only way by which text of traces and labels reaches the browser.

Each is a small script that builds elements and sets ``textContent``; nothing is parsed as markup.
"""

from __future__ import annotations

from pathlib import Path

HERE = Path(__file__).resolve().parent


def source(*names: str) -> str:
    """Return scripts or styles of this folder, joined."""
    return "\n".join((HERE / name).read_text(encoding="utf-8") for name in names)
