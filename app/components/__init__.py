"""Own components: the only way by which text of traces and labels reaches the browser.

Each is a small script that builds elements and sets ``textContent``; nothing is parsed as markup.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent


def source(*names: str) -> str:
    """Return scripts or styles of this folder, joined."""
    return "\n".join((HERE / name).read_text(encoding="utf-8") for name in names)


def handed(data: Mapping[str, Any]) -> tuple[dict[str, Any]]:
    """Return data for a component's script, which finds it as ``data[0]``.

    Streamlit looks through a bare dict for tables, at every run, and loads pandas to know one.
    """
    return (dict(data),)
