from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

from hypothesis import given
from hypothesis import strategies as st

from labelkit.store.columns import UtcTime, decode_text, encode_text
from tests.store.values import HOSTILE

ANY_TEXT = st.text(st.characters(codec=None)) | st.text('json:\x00\ud800"\\').map("json:".__add__)


@given(ANY_TEXT)
def test_text_comes_back_and_databases_can_hold_it(text: str) -> None:
    stored = encode_text(text)
    assert decode_text(stored) == text
    assert "\x00" not in stored
    stored.encode("utf-8")


@given(ANY_TEXT, ANY_TEXT)
def test_coding_is_one_to_one(one: str, other: str) -> None:
    assert (encode_text(one) == encode_text(other)) == (one == other)


def test_ordinary_text_stays_readable() -> None:
    assert encode_text("Zürich {{ x }}") == "Zürich {{ x }}"
    assert encode_text(HOSTILE) != HOSTILE


def test_times_are_utc() -> None:
    column = UtcTime()
    dialect = None
    moscow = datetime(2026, 1, 1, 3, tzinfo=timezone(timedelta(hours=3)))
    assert column.process_bind_param(moscow, dialect) == datetime(2026, 1, 1, tzinfo=UTC)  # type: ignore[arg-type]
    naive = datetime(2026, 1, 1)  # noqa: DTZ001 - what SQLite gives back
    assert column.process_result_value(naive, dialect) == datetime(2026, 1, 1, tzinfo=UTC)  # type: ignore[arg-type]
