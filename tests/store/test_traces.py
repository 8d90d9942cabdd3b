from __future__ import annotations

import tracemalloc
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from sqlalchemy import select

from labelkit.digest import digest_text
from labelkit.domain.message import Message, ToolCall
from labelkit.domain.trace import RowState, Trace, TraceError, Usage
from labelkit.domain.trace_text import TraceText
from labelkit.errors import StoreError
from labelkit.store import Added, Selection, Store, tasks, traces
from labelkit.store.tables import TRACE, TRACE_BODY
from tests.store.values import HOSTILE, make_task, make_trace

TEXT = st.text(st.characters(codec=None), max_size=30)
PLAIN = st.text(st.characters(codec="utf-8"), max_size=30)  # the domain's digest needs it in dicts
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | PLAIN,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(PLAIN, inner, max_size=3),
    max_leaves=6,
)
TAGS = st.dictionaries(
    PLAIN | st.sampled_from(["domain", "subset"]), PLAIN | st.booleans(), max_size=3
)
TRACES = st.builds(
    Trace,
    model=TEXT,
    messages=st.lists(
        st.builds(
            Message,
            role=TEXT,
            content=st.none() | TEXT,
            tool_calls=st.lists(st.builds(ToolCall, name=TEXT, arguments=TEXT), max_size=2).map(
                tuple
            ),
            extra=st.dictionaries(PLAIN, JSON, max_size=2),
        ),
        max_size=3,
    ).map(tuple),
    state=st.sampled_from(RowState),
    task_set=st.none() | TEXT,
    task_id=st.none() | TEXT,
    condition=TEXT,
    error=st.none() | st.builds(TraceError, kind=TEXT, message=TEXT),
    usage=st.none() | st.builds(Usage, prompt_tokens=st.none() | st.integers(0, 2**40)),
    tags=TAGS,
    extra=st.dictionaries(PLAIN, JSON, max_size=2),
    source=TEXT,
)


@settings(
    max_examples=20,
    suppress_health_check=list(HealthCheck),
    deadline=None,
    phases=(Phase.explicit, Phase.generate),
)
@given(st.lists(TRACES, min_size=1, max_size=4))
def test_hostile_traces_come_back_exactly(store: Store, made: list[Trace]) -> None:
    traces.add_traces(store, made)
    first = {trace.digest: trace for trace in reversed(made)}
    found = {t.digest: t for t, _ in traces.rows(store, Selection(digests=list(first)))}
    assert found.keys() == first.keys()
    for digest, trace in found.items():
        # The source is no part of the identity: the first import's stays.
        assert trace.model_copy(update={"source": ""}) == first[digest].model_copy(
            update={"source": ""}
        )
        assert Trace.model_validate(trace.model_dump()).digest == digest


def test_lone_surrogates_deep_in_open_fields_come_back(store: Store) -> None:
    made = make_trace(extra={"\ud800\x00": [HOSTILE, {HOSTILE: 1.5}]}, tags={HOSTILE: HOSTILE})
    assert traces.add_traces(store, [made, made]) == Added(1, 1)
    ((trace, _),) = traces.rows(store)
    assert trace.extra == made.extra
    assert trace.tags == made.tags


def test_hostile_names_join_and_filter(store: Store) -> None:
    name = HOSTILE * 500  # longer than a PostgreSQL index entry may be
    tasks.add_tasks(store, [make_task(set=name, id=name, tags={"domain": name})])
    traces.add_traces(store, [make_trace(task_set=name, task_id=name, model=name), make_trace(1)])
    for selection in (
        Selection(models=[name]),
        Selection(domains=[name]),
        Selection(task_sets=[name]),
    ):
        ((trace, task),) = traces.rows(store, selection)
        assert trace.model == name
        assert task is not None
        assert task.id == name


def test_importing_twice_changes_nothing(store: Store) -> None:
    made = [make_trace(i) for i in range(600)]
    assert traces.add_traces(store, made) == Added(600, 0)
    before = [t.digest for t, _ in traces.rows(store, order="id")]
    assert before == [t.digest for t in made]
    more = [*made, make_trace(600), make_trace(600)]
    assert traces.add_traces(store, more) == Added(1, 601)
    assert traces.add_traces(store, []) == Added(0, 0)
    assert [t.digest for t, _ in traces.rows(store, order="id")][:600] == before


def test_known_new_and_repeated_traces_of_one_chunk_get_their_own_bodies(store: Store) -> None:
    traces.add_traces(store, [make_trace(number) for number in range(0, 150, 3)])
    mixed = [make_trace(number) for number in reversed(range(150))]
    assert traces.add_traces(store, [*mixed, *mixed[:40]]) == Added(100, 90)
    kept = [trace for trace, _ in traces.rows(store)]
    assert sorted(trace.digest for trace in kept) == sorted(trace.digest for trace in mixed)
    assert all(digest_text(trace.canonical()) == trace.digest for trace in kept)


def test_the_newest_task_is_current_and_may_come_late(store: Store) -> None:
    traces.add_traces(store, [make_trace(0), make_trace(1, task_set=None)])
    assert [task for _, task in traces.rows(store, order="id")] == [None, None]
    old, new = make_task(0), make_task(0, tags={"domain": "other"})
    for version, expected in ((old, Added(1, 0)), (new, Added(1, 0)), (old, Added(0, 1))):
        assert tasks.add_tasks(store, [version]) == expected
        assert [task for _, task in traces.rows(store, order="id")] == [version, None]
        assert list(tasks.tasks(store)) == [version]
    assert tasks.task(store, "demo", "t0") == old
    assert tasks.task(store, "demo", "t9") is None
    # Two versions in one import: the later one counts.
    assert tasks.add_tasks(store, [old, new]) == Added(0, 2)
    assert tasks.task(store, "demo", "t0") == new


def test_own_tags_win_over_the_tasks(store: Store) -> None:
    tasks.add_tasks(store, [make_task(i, tags={"domain": "task", "subset": "s"}) for i in (0, 1)])
    own = make_trace(0, tags={"domain": "own"})
    traces.add_traces(store, [own, make_trace(1), make_trace(2)])

    def found(**filters: object) -> list[str | None]:
        return [t.task_id for t, _ in traces.rows(store, Selection(**filters))]  # type: ignore[arg-type]

    assert found(domains=["own"]) == ["t0"]
    assert found(domains=["task"]) == ["t1"]
    assert found(domains=[None, "own"]) == ["t2", "t0"]
    assert found(domains=[]) == []
    assert found(digests=[]) == []
    assert found(subsets=["s"], limit=1) == ["t0"]
    assert found(digests=[own.digest, "f" * 64], limit=5) == ["t0"]
    assert found(states=["infra_error"]) == []
    assert found() == ["t2", "t0", "t1"]  # no subset first, then by domain


def test_a_trace_by_prefix(store: Store) -> None:
    made = [make_trace(i) for i in range(17)]  # 17 digests share a first digit
    traces.add_traces(store, made)
    assert traces.trace(store, made[3].digest) == made[3]
    assert traces.trace(store, made[3].digest[:20].upper()) == made[3]
    first = [t.digest[0] for t in made]
    shared = next(digit for digit in first if first.count(digit) > 1)
    for asked, said in ((shared, "several"), ("f" * 64, "no trace"), ("xyz%", "hexadecimal")):
        with pytest.raises(StoreError, match=said):
            traces.row(store, asked)


def test_a_body_is_text_and_counted_in_characters(store: Store) -> None:
    made = [
        make_trace(messages=(Message(role="assistant", content=text),))
        for text in ("e", "é日\U0001f600")
    ]
    traces.add_traces(store, [made[0], TraceText.of(made[1])])
    with store.reading() as connection:
        query = select(TRACE.c.body_chars, TRACE_BODY.c.body).join(
            TRACE_BODY, TRACE_BODY.c.trace_id == TRACE.c.id
        )
        found = connection.execute(query.order_by(TRACE.c.id)).all()
    assert [body for _, body in found] == [trace.canonical() for trace in made]
    assert [chars for chars, _ in found] == [len(trace.canonical()) for trace in made]


def test_big_payloads_are_paged_by_size(store: Store) -> None:
    made = [
        make_trace(i, messages=(Message(role="tool", content=str(i) * 2_000_000),))
        for i in range(4)
    ]
    traces.add_traces(store, made)
    assert [t for t, _ in traces.rows(store, order="id")] == made


def test_memory_is_flat_while_streaming(sqlite_url: str) -> None:
    """2,500 traces of 16 kB are 40 MB; neither import nor reading may hold a third of it."""
    body = "x" * 16_000
    with Store.open(sqlite_url, create=True) as store:
        tracemalloc.start()
        try:
            made = (
                Trace(model="m", messages=(), state=RowState.OK, repeat=i, condition=body)
                for i in range(2_500)
            )
            assert traces.add_traces(store, made).new == 2_500
            assert sum(1 for _ in traces.rows(store)) == 2_500
            _, peak = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
    assert Path(store.place).stat().st_size > 40_000_000
    assert peak < 13_000_000
