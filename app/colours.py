"""Colours of labels and people: eight for each ground, told apart by colour-blind people too.

Found by search and held by a test: on its ground every colour has a contrast of 3 or more, and any
two of them differ by 13 or more (CIEDE2000) to the common eye and under protanopia, deuteranopia
and tritanopia. Colour never stands alone: a key, a title or a shape says the same.
"""

from __future__ import annotations

import streamlit as st

LIGHT = (
    "#042B90",
    "#D0800B",
    "#0B6D60",
    "#D42378",
    "#4080D8",
    "#64291D",
    "#6D661C",
    "#7D8395",
)
DARK = (
    "#4C67EF",
    "#EFD61D",
    "#15AC93",
    "#C89CDA",
    "#C2FDF6",
    "#CB7A27",
    "#C5CB90",
    "#7D7192",
)
GROUNDS = {"light": "#FCFCFE", "dark": "#12151D"}
"""Of the themes in ``.streamlit/config.toml``."""


def is_dark() -> bool:
    """Whether the person looks at the dark theme."""
    return st.context.theme.type == "dark"


def colours() -> list[str]:
    """Colours for the theme in use, for charts."""
    return list(DARK if is_dark() else LIGHT)


def accent() -> str:
    """Colour of what stands alone in a chart, that of buttons."""
    return "#7C90F0" if is_dark() else "#2F4BC7"


def ink() -> str:
    """Colour of axes and other quiet text in charts, readable on the ground."""
    return "#B4BACB" if is_dark() else "#4A5064"


def as_css() -> str:
    """The colours as variables ``--c0`` ... of a component, for whichever theme is in use."""
    pairs = enumerate(zip(LIGHT, DARK, strict=True))
    lines = "\n".join(f"  --c{n}: light-dark({light}, {dark});" for n, (light, dark) in pairs)
    return f".lk {{\n{lines}\n}}\n"
