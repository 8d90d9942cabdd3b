"""A name that stands in the list of a set's members and is none of them."""

from __future__ import annotations

import pytest

from labelkit.grounding.coordination import others_named, told_apart

MEMBERS = ("lithium", "digoxin")


def others(text: str, given: str = "interactions of tremalin: lithium, digoxin") -> list[str]:
    places = [(text.index(m), text.index(m) + len(m)) for m in MEMBERS if m in text]
    return [text[start:end] for start, end in others_named(text, places, given)]


@pytest.mark.parametrize(
    "text",
    [
        "it interacts with lithium, digoxin and phenytoin.",
        "lithium, phenytoin and digoxin",
        "- lithium\n- phenytoin\n- digoxin",
        "1. **lithium**\n2. **digoxin**\n3. **phenytoin**",
        "lithium and phenytoin, also digoxin",
        '["lithium", "phenytoin", "digoxin"]',
        "lithium, digoxin, phenytoin.",
    ],
)
def test_a_further_item_is_found(text: str) -> None:
    assert others(text) == ["phenytoin"]


@pytest.mark.parametrize(
    "text",
    [
        "it interacts with lithium and digoxin.",
        "lithium, digoxin and others",
        "lithium and digoxin, enjoy!",
        "lithium, digoxin, but not phenytoin.",
        "lithium (severe) and digoxin (minor).",
        "lithium and digoxin, so avoid alcohol.",
        "lithium and digoxin, especially at night.",
        "tremalin with lithium, tremalin with digoxin, tremalin.",
    ],
)
def test_what_is_said_about_members_is_no_item(text: str) -> None:
    assert others(text) == []


def test_what_was_given_is_no_invention() -> None:
    assert others("lithium, digoxin and phenytoin.", "phenytoin too") == []


def test_items_go_on_after_a_found_one() -> None:
    assert others("lithium, digoxin, phenytoin and warfarin.") == ["phenytoin", "warfarin"]


def test_a_page_of_members_costs_no_more_than_its_head() -> None:
    text = "lithium, phenytoin, " * 5000
    places = [(at, at + 7) for at in range(0, len(text), 20)]
    assert 0 < len(others_named(text, places, "")) <= 200


@pytest.mark.parametrize(
    ("text", "apart"),
    [
        ("avoid lithium. digoxin is not a problem.", True),
        ("lithium interacts, but digoxin doesn't.", True),
        ("lithium is fine; do not combine it with digoxin.", True),
        ("lithium and digoxin are not safe with it.", False),
        ("lithium isn't safe, digoxin isn't either", False),
        ("lithium, digoxin", False),
        ("digoxin is not a problem.", False),
    ],
)
def test_one_member_of_which_something_is_denied(text: str, apart: bool) -> None:
    places = [(text.index(m), text.index(m) + len(m)) for m in MEMBERS if m in text]
    assert told_apart(text, places) is apart
