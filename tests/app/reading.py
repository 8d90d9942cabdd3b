"""Reading what the pages of an ``AppTest`` hand to the browser."""

from __future__ import annotations

import json
from typing import Any

from streamlit.testing.v1 import AppTest


def handed_over(page: AppTest, key: str) -> dict[str, Any]:
    """The data of the component with this key."""
    found = [element for element in page.get("bidi_component") if element.key == key]
    assert len(found) == 1, [element.key for element in page.get("bidi_component")]
    data: dict[str, Any]
    (data,) = json.loads(found[0].proto.json)
    return data


def cells(page: AppTest, key: str) -> list[list[str]]:
    """The rows of a table."""
    return [row["cells"] for row in handed_over(page, key)["rows"]]


def column(page: AppTest, key: str, name: str) -> list[str]:
    """One column of a table."""
    place = [column["name"] for column in handed_over(page, key)["columns"]].index(name)
    return [row[place] for row in cells(page, key)]


def html(page: AppTest) -> str:
    """Everything that was sent as HTML."""
    return "\n".join(element.proto.body for element in page.get("html"))


def sound(page: AppTest) -> AppTest:
    """A page that ran to its end."""
    assert not page.exception, page.exception
    return page
