"""Task sets: a card and tasks, each mistake with its line."""

from __future__ import annotations

from pathlib import Path

import pytest

from labelkit.catalog.task_sets import load_task_set
from labelkit.errors import FormatError, InputError

CARD = """\
name: mini
title: Mini
version: "1.0.0"
licence: Apache-2.0
redistributable: true
source: these tests
description: Two tasks.
domains: [shop]
"""


@pytest.fixture
def mini(tmp_path: Path) -> Path:
    folder = tmp_path / "mini"
    folder.mkdir()
    (folder / "card.yaml").write_text(CARD, encoding="utf-8")
    (folder / "tasks.jsonl").write_text('{"id": "a"}\n\n{"id": "b"}\n', encoding="utf-8")
    return folder


def test_a_set_is_read_in_order_and_named_by_its_card(mini: Path) -> None:
    found = load_task_set(mini)
    assert [(t.set, t.id) for t in found.tasks] == [("mini", "a"), ("mini", "b")]
    assert found.card.redistributable is True


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (b"{", "JSON"),
        (b"[1]", "not an object"),
        (b'{"id": "a"}', "given twice"),
        (b'{"id": "b", "set": "x"}', "'set' is given"),
        (b'{"id": 3}', "'id' is wrong"),
        (
            b'{"id": "b", "mesages": []}',
            "unknown field 'mesages'; did you mean 'messages'\\? see `labelkit tasks schema`",
        ),
        (b'{"id": "b", "q": 1}', "unknown field 'q'; see `labelkit tasks schema`"),
        (b'{"id": "b", "tags": {"x": NaN}}', "NaN"),
        (b'{"id": "\xff"}', "UTF-8"),
        (b"[" * 100_000, "JSON"),
    ],
)
def test_each_wrong_line_is_named(mini: Path, line: bytes, words: str) -> None:
    (mini / "tasks.jsonl").write_bytes(b'{"id": "a"}\n' + line + b"\n")
    with pytest.raises(FormatError, match=words) as caught:
        load_task_set(mini)
    assert f"{mini / 'tasks.jsonl'}:2: " in str(caught.value)


def test_no_tasks_no_file_no_set(mini: Path) -> None:
    (mini / "tasks.jsonl").write_text("\n", encoding="utf-8")
    with pytest.raises(FormatError, match="no tasks"):
        load_task_set(mini)
    (mini / "tasks.jsonl").unlink()
    with pytest.raises(FormatError, match="cannot be read"):
        load_task_set(mini)
    with pytest.raises(InputError, match="no task set 'nothing'"):
        load_task_set("nothing")


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('"1.0.0"', "1.0", 'quote it: "1.0"'),
        ("title: Mini\n", "", "missing"),
        ("name: mini", "name: maxi", "folder"),
        ("domains: [shop]", "domains: shop", "must be a list"),
    ],
)
def test_a_wrong_card_is_named(mini: Path, old: str, new: str, words: str) -> None:
    (mini / "card.yaml").write_text(CARD.replace(old, new), encoding="utf-8")
    with pytest.raises(FormatError, match=r"card\.yaml") as caught:
        load_task_set(mini)
    assert words in str(caught.value)
