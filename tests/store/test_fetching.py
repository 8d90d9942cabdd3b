"""Columns come back whole, whatever they hold and wherever a page ends."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from labelkit.domain.label import Outcome
from labelkit.store import Selection, Store, fetching, labels, raters, reports, traces
from labelkit.store.fetching import coded, together
from tests.store.values import HOSTILE, RULE, make_label, make_trace

ROWS = st.lists(st.tuples(st.sampled_from("abc"), st.none() | st.text(max_size=2)), max_size=20)


@given(ROWS)
def test_coded_columns_put_together_are_the_rows(rows: list[tuple[str, str | None]]) -> None:
    columns = [coded([row[place] for row in rows], len(rows)) for place in (0, 1)]
    if rows:
        assert list(together(columns).decoded()) == rows
    assert list(columns[1].decoded()) == [row[1] for row in rows]


@pytest.mark.parametrize("page", [1, 2, 3, 100])
def test_pages_lose_nothing(store: Store, monkeypatch: pytest.MonkeyPatch, page: int) -> None:
    monkeypatch.setattr(fetching, "_PAGE", page)
    made = [make_trace(i, model=HOSTILE if i == 1 else f"m{i % 2}", repeat=i) for i in range(5)]
    traces.add_traces(store, made)
    raters.add_rater(store, RULE)
    failed = make_label(made[2], outcome=Outcome.FAILED, reason=HOSTILE)
    again = [make_label(t, flags=("called",) if t is made[0] else ()) for t in made if t != made[2]]
    # The same labels twice burn row ids on PostgreSQL: pages without a row.
    for batch in ([failed], [failed, *again], [make_label(made[0], version=1, value='a,"b')]):
        labels.commit_labels(store, batch)
    table = reports.trace_table(store, digests=True)
    assert table.digest is not None
    assert list(table.digest) == [t.digest for t in made]
    assert list(table.model) == [t.model for t in made]
    assert list(table.repeat) == [0, 1, 2, 3, 4]
    assert list(table.domain) == [None] * 5
    assert list(reports.trace_table(store, Selection(limit=2)).id) == list(table.id[:2])
    said = reports.label_table(store, "q", flags=True)
    assert said.flags is not None
    assert list(said.trace) == list(table.id)
    assert list(said.value) == ['a,"b', "correct", None, "correct", "correct"]
    assert list(said.reason) == [None, None, HOSTILE, None, None]
    assert list(said.version) == [1, 0, 0, 0, 0]
    assert [said.kinds[code].value for code in said.kind] == list(said.value)
    assert np.array_equal(reports.label_table(store, "none").trace, [])


def test_the_flags_of_a_rule_come_back(store: Store) -> None:
    traces.add_traces(store, [make_trace()])
    raters.add_rater(store, RULE)
    labels.commit_labels(store, [make_label(make_trace(), flags=("called", HOSTILE))])
    (kind,) = reports.label_table(store, "q", flags=True).kinds
    assert kind == ("labelled", "correct", None, ("called", HOSTILE))
    assert reports.label_table(store, "q").kinds[0].flags == ()
