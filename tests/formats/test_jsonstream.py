"""The record stream against ``json.loads``, with windows so small that everything is cut."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from labelkit.formats import jsonwindow
from labelkit.formats.jsonstream import json_records, json_value, member_records, members
from labelkit.formats.keys import first_keys

SCALAR = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=()), max_size=12)
)
VALUE = st.recursive(
    SCALAR,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=8,
)


@pytest.fixture(params=[1, 3, 13, 64])
def window(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    monkeypatch.setattr(jsonwindow, "WINDOW_CHARS", request.param)
    return int(request.param)


quick = settings(
    max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


@quick
@given(values=st.lists(VALUE, max_size=6), indent=st.sampled_from([None, 1]), plain=st.booleans())
def test_arrays_equal_json_loads(
    tmp_path: Path, window: int, values: list[Any], indent: int | None, plain: bool
) -> None:
    text = json.dumps(values, indent=indent, ensure_ascii=plain)
    path = tmp_path / "a.json"
    path.write_bytes(text.encode("utf-8", errors="surrogatepass"))
    records = list(json_records(path))
    assert [r.broken for r in records] == [None] * len(values)
    assert [r.value for r in records] == json.loads(text)
    assert [r.number for r in records] == list(range(len(values)))


@quick
@given(values=st.lists(VALUE, min_size=2, max_size=5), cut=st.integers(min_value=1, max_value=60))
def test_a_cut_array_yields_only_true_values_and_says_that_it_was_cut(
    tmp_path: Path, window: int, values: list[Any], cut: int
) -> None:
    text = json.dumps(values)
    text = text[: max(1, len(text) - cut)]
    path = tmp_path / "a.json"
    path.write_text(text, encoding="utf-8")
    *whole, last = list(json_records(path))
    assert last.broken is not None
    found = [r.value for r in whole if r.broken is None]
    # Only a number can be cut into another number: 123 -> 12.
    matching = found[:-1] if found and isinstance(found[-1], int | float) else found
    assert matching == values[: len(matching)]


@quick
@given(values=st.lists(VALUE, min_size=1, max_size=6))
def test_lines_equal_json_loads(tmp_path: Path, values: list[Any]) -> None:
    path = tmp_path / "a.jsonl"
    rows = [{"v": value} for value in values]
    path.write_text("\n\n".join(json.dumps(row) for row in rows), encoding="utf-8")
    records = list(json_records(path))
    assert [r.value for r in records] == rows
    assert [r.number for r in records] == list(range(1, 2 * len(rows), 2))


def test_a_damaged_first_line_is_one_broken_record(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"a": \n{"a": 1}\n{"a": 2}\n', encoding="utf-8")
    assert [r.value for r in json_records(path)] == [None, {"a": 1}, {"a": 2}]


@quick
@given(keys=st.lists(st.text(st.characters(codec="ascii"), max_size=5), unique=True), junk=VALUE)
def test_keys_of_the_first_object(keys: list[str], junk: Any) -> None:
    text = json.dumps([{key: {"inner": junk} for key in keys}, {"later": 1}])
    found = {json.loads(f'"{key}"') for key in first_keys(text)}
    assert found == (set(keys) if keys else set())


@given(text=st.text())
def test_keys_are_total(text: str) -> None:
    first_keys("{" + text)


@quick
@given(
    values=st.lists(VALUE, max_size=5),
    before=st.dictionaries(st.text(max_size=4), VALUE, max_size=3),
    after=st.dictionaries(st.text(max_size=4), VALUE, max_size=3),
    indent=st.sampled_from([None, 1]),
)
def test_one_list_of_an_object_is_streamed_and_the_rest_read(
    tmp_path: Path,
    window: int,
    values: list[Any],
    before: dict[str, Any],
    after: dict[str, Any],
    indent: int | None,
) -> None:
    whole = {k: v for k, v in before.items() if k != "many"} | {"many": values}
    whole |= {k: v for k, v in after.items() if k != "many"}
    path = tmp_path / "a.json"
    text = json.dumps(whole, indent=indent, ensure_ascii=False)
    path.write_bytes(text.encode("utf-8", errors="surrogatepass"))
    records = list(member_records(path, "many"))
    assert [(r.number, r.value, r.broken) for r in records] == [
        (number, value, None) for number, value in enumerate(values)
    ]
    assert members(path, "many") == {k: v for k, v in json.loads(text).items() if k != "many"}


@pytest.mark.parametrize("text", ["[1]", "3", "", '{"many": 3}', '{"other": [1]}', '{"many" [1]}'])
def test_an_object_without_the_list_streams_nothing(tmp_path: Path, text: str) -> None:
    path = tmp_path / "a.json"
    path.write_text(text, encoding="utf-8")
    assert list(member_records(path, "many")) == []


def test_a_list_that_never_ends_is_told_and_what_came_before_is_known(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text('{"a": 1, "many": [1, {"x": 2}, {"x": "', encoding="utf-8")
    records = list(member_records(path, "many"))
    assert [r.value for r in records[:2]] == [1, {"x": 2}]
    assert [r.broken is not None for r in records] == [False, False, True]
    assert members(path, "many") == {"a": 1}


def test_a_damaged_member_is_left_out(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text('{"a": {"x" 1}, "many": [1], "b": nul, "c": 2}', encoding="utf-8")
    assert members(path, "many") == {"c": 2}
    assert [r.value for r in member_records(path, "many")] == [1]


def test_a_value_in_memory_is_mended_like_a_record() -> None:
    record = json_value(b'\xef\xbb\xbf{"a": NaN}', 4)
    assert (record.number, record.value) == (4, {"a": None})
    assert record.notes.found == [("repaired", "NaN or an infinity became null")]
    assert json_value(b"\xff").broken == "the record holds bytes that are not UTF-8"
