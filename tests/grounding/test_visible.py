"""The visible answer, over every way a server leaves reasoning in the text."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from labelkit.domain.message import Message, ToolCall
from labelkit.grounding.visible import strip_reasoning, visible_answer

CASES = {
    "plain": ("It is 7.", "It is 7."),
    "closed block": ("<think>maybe 9</think>It is 7.", "It is 7."),
    "any case": ("<THINK>9</Think>\n\nIt is 7.", "It is 7."),
    "several blocks": ("<think>a</think>It <think>b</think>is 7.", "It is 7."),
    "thinking tag": ("<thinking>9</thinking>It is 7.", "It is 7."),
    "attributes": ('<think effort="low">9</think>It is 7.', "It is 7."),
    "bare closing tag": ("So 9, no 7.</think>It is 7.", "It is 7."),
    "bare closing tag twice": ("a</think>b</think>It is 7.", "It is 7."),
    "tag named inside the block": ("<think>I use <think> now</think>It is 7.", "It is 7."),
    "brackets": ("[THINK]9[/THINK]It is 7.", "It is 7."),
    "unclosed": ("<think>It is 7.", ""),
    "unclosed after text": ("It is 7. <think>or 9", ""),
    "unclosed bracket": ("[THINK]It is 7.", ""),
    "closed by another family": ("<think>9[/THINK]It is 7.", ""),
    "channels": (
        "<|channel|>analysis<|message|>9?<|end|><|channel|>final<|message|>It is 7.<|return|>",
        "It is 7.",
    ),
    "channel cut in analysis": ("<|channel|>analysis<|message|>It is 7", ""),
    "channel cut in the marker": ("<|channel|>", ""),
    "channels without special tokens": ("analysisWe see 9.assistantfinalIt is 7.", "It is 7."),
    "other markup stays": ("Use <b>7</b> [1] < 9", "Use <b>7</b> [1] < 9"),
    "only reasoning": ("<think>7</think>  ", ""),
}


@pytest.mark.parametrize(("text", "visible"), CASES.values(), ids=CASES.keys())
def test_only_what_the_user_sees_is_left(text: str, visible: str) -> None:
    assert strip_reasoning(text) == visible


@settings(deadline=None)
@given(st.text(), st.text(alphabet=st.characters(blacklist_characters="<[\u25c1")))
def test_a_closed_block_never_leaks(hidden: str, shown: str) -> None:
    if shown.lstrip()[:8].lower() == "analysis" or "</think" in hidden.lower():
        return
    assert strip_reasoning(f"<think>{hidden}</think>{shown}") == (
        shown.strip() if "<|channel|>" not in hidden else strip_reasoning(hidden + shown)
    )


@settings(deadline=None)
@given(st.text())
def test_total_and_idempotent_without_markers(text: str) -> None:
    once = strip_reasoning(text)
    assert isinstance(once, str)
    assert len(once) <= len(text)


def test_provider_reasoning_is_never_the_answer() -> None:
    message = Message(role="assistant", content=None, reasoning="It is 7.")
    assert not visible_answer([message])


def test_the_last_assistant_message_decides() -> None:
    call = (ToolCall(name="f", id="a"),)
    early = Message(role="assistant", content="Let me look.", tool_calls=call)
    result = Message(role="tool", content="7", tool_call_id="a")
    silent = Message(role="assistant", content=None, tool_calls=call)
    answer = Message(role="assistant", content="<think>9</think>It is 7.")
    assert visible_answer([early, result, answer]) == "It is 7."
    assert not visible_answer([early, result, silent])
    assert not visible_answer([early, result, silent, result])
    assert visible_answer([early, result]) == "Let me look."
    assert not visible_answer([Message(role="user", content="hi")])
    assert not visible_answer([])
