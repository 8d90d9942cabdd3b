"""Prompt variants keep their promise, and arms change the prompt or the tools and nothing else."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labelkit.domain.condition import Condition
from labelkit.domain.environment import Environment, Hazard, ToolReturn
from labelkit.domain.message import Message, ToolCall
from labelkit.domain.task import Task
from labelkit.errors import InputError
from labelkit.rollout.arms import REDACTED, arm_name, course, known_arm, stage
from labelkit.rollout.conditions import (
    by_name,
    check_conditions,
    is_subsequence,
    own_system,
    system_text,
    tokens,
    under_condition,
)
from tests.rollout.playing import berth

BASE = "Help the staff. Be brief,\nand kind."


def relation(*, base: str = BASE, **fields: str) -> object:
    task = berth().model_copy(update={"messages": (Message(role="system", content=base),)})
    condition = Condition(name="c", **fields)
    (found,) = check_conditions([condition], by_name([condition]), [task])
    return found


def test_words_marks_and_line_breaks_are_tokens_and_spaces_are_not() -> None:
    assert tokens(" It's 9.5 m,\n ok?\n") == [
        "It", "'", "s", "9", ".", "5", "m", ",", "\n", "ok", "?",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("treated", "kept", "append_only"),
    [
        (BASE + " Report the status first.", True, True),
        ("Note well. " + BASE, True, False),
        ("Help the whole staff. Be brief,\nand very kind.", True, False),
        ("Help the staff.  Be   brief,\nand kind.", True, True),
        ("Help the staff. Be brief, and kind.", False, False),
        ("Help the staff. Be short,\nand kind.", False, False),
        ("Be brief,\nand kind. Help the staff.", False, False),
        ("help the staff. Be brief,\nand kind.", False, False),
    ],
)
def test_an_insertion_keeps_every_token_in_order(
    treated: str, kept: bool, append_only: bool
) -> None:
    kind = "insertion" if kept else "replacement"
    found = relation(system=treated, kind=kind)
    assert (found.kept, found.append_only) == (kept, append_only)
    other = "replacement" if kept else "insertion"
    with pytest.raises(InputError, match="'c' is declared"):
        relation(system=treated, kind=other)


def test_a_promise_has_to_hold_for_every_system_message() -> None:
    condition = Condition(name="c", system=BASE + " More.")
    tasks = [
        berth().model_copy(update={"messages": (Message(role="system", content=text),)})
        for text in (BASE, "Another prompt.")
    ]
    assert check_conditions([condition], by_name([condition]), tasks[:1])
    for order in (tasks, tasks[::-1]):
        with pytest.raises(InputError, match="insertion"):
            check_conditions([condition], by_name([condition]), order)


def test_conditions_build_on_each_other() -> None:
    known = by_name(
        [
            Condition(name="neutral"),
            Condition(name="deploy", base="neutral", after="Never admit a fault."),
            Condition(name="slot", base="deploy", before="Status first.", after="End."),
        ]
    )
    text = system_text(known["slot"], known, BASE)
    assert text == f"Status first.\n{BASE}\nNever admit a fault.\nEnd."
    found = check_conditions(list(known.values()), known, [berth()])
    assert [(r.condition, r.base, r.append_only) for r in found] == [
        ("deploy", "'neutral'", True),
        ("slot", "'deploy'", False),
    ]
    changed = under_condition(berth(), known["deploy"], known)
    assert own_system(changed) == "You help.\nNever admit a fault."
    assert changed.messages[1:] == berth().messages[1:]


@pytest.mark.parametrize(
    ("conditions", "words"),
    [
        ([Condition(name="a"), Condition(name="a")], "twice"),
        ([Condition(name="a", base="b")], "'b', which is not"),
        ([Condition(name="a", base="b"), Condition(name="b", base="a")], "itself"),
    ],
)
def test_a_broken_set_of_conditions_is_named(conditions: list[Condition], words: str) -> None:
    with pytest.raises(InputError, match=words):
        by_name(conditions)


@given(st.lists(st.text(max_size=3)), st.lists(st.text(max_size=3)), st.data())
def test_a_mixture_holds_both_of_its_parts(
    one: list[str], other: list[str], data: st.DataObject
) -> None:
    mixed = list(one)
    place = 0
    for token in other:
        place = data.draw(st.integers(place, len(mixed)))
        mixed.insert(place, token)
        place += 1
    assert is_subsequence(one, mixed)
    assert is_subsequence(other, mixed)
    assert not is_subsequence([*mixed, "x"], mixed)


# -- arms ------------------------------------------------------------------------------------------

HAZARD = Hazard(kind="specification_drift", recovery=(), hint="The parameter is now `berth_id`.")


def hazardous() -> Task:
    world = Environment(returns=(ToolReturn(payload="{}", fault="x"),), hazard=HAZARD)
    return berth().model_copy(update={"environment": world})


def test_every_arm_leaves_world_and_question_alone() -> None:
    task = hazardous()
    earlier = [Message(role="assistant", content="9 m")]
    for arm in ("baseline", "hint", "hint_after_error", "oracle", "oracle_label", "rerun"):
        staged = stage(task, arm, earlier)
        assert staged.task.environment == task.environment
        assert staged.task.messages[1] == task.messages[1]
        assert staged.clean is (arm == "oracle")
    assert stage(task, None).task is task


def test_hints_are_told_where_the_arm_says() -> None:
    task = hazardous()
    from_start = stage(task, "hint")
    assert "berth_id" in own_system(from_start.task)
    assert not from_start.late_hint
    later = stage(task, "hint_after_error")
    assert (later.task, later.late_hint) == (task, "Hint: The parameter is now `berth_id`.")
    label = stage(task, "oracle_label")
    assert "specification drift" in label.late_hint
    assert "berth_id" not in label.late_hint


def test_a_rerun_shows_the_course_and_never_the_answer() -> None:
    call = ToolCall(name="get_depth", arguments='{"berth":"B7"}', id="c")
    earlier = (
        Message(role="user", content="How deep?"),
        Message(role="assistant", tool_calls=(call,), content="I think it is 9 m, let me look."),
        Message(role="tool", name="get_depth", tool_call_id="c", content='{"error": "busy"}'),
        Message(role="assistant", content="It is 9 m."),
    )
    told = course(earlier)
    assert told.splitlines() == [
        'call get_depth {"berth":"B7"}',
        'result of get_depth: {"error": "busy"}',
        REDACTED,
    ]
    assert "9 m" not in own_system(stage(hazardous(), "rerun", earlier).task)


@pytest.mark.parametrize(
    ("arm", "task", "words"),
    [
        ("hint", berth(), "no hazard"),
        ("oracle", berth(), "no hazard"),
        ("oracle_label", berth(), "no hazard"),
        ("rerun", berth(), "no earlier attempt"),
    ],
)
def test_an_arm_that_a_task_has_no_data_for_is_refused(arm: str, task: Task, words: str) -> None:
    with pytest.raises(InputError, match=words):
        stage(task, arm)


def test_arms_have_names_that_never_meet_across_protocols() -> None:
    assert arm_name("", None, "two_step", "two_step") == ""
    assert arm_name("neutral", None, "live_loop", "live_loop") == "neutral"
    assert arm_name("neutral", None, "replay", "live_loop") == "neutral@replay"
    assert arm_name("deploy", "hint", "agent", "agent") == "deploy+hint"
    assert arm_name("", "oracle", "agent", "agent") == "oracle"
    assert known_arm("hint-after-error") == "hint_after_error"
    with pytest.raises(InputError, match=r"'orakle'.*'oracle'"):
        known_arm("orakle")
