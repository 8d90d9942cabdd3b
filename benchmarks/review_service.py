"""What the review app's service costs: the next item, a submission, the agreement page.

    python benchmarks/review_service.py [--traces 100000] [--items 2000] [--raters 5] [--store FILE]

Prints milliseconds of CPU of this process, so on SQLite the database's own work is in it; ``in
SQLite`` is the part spent inside statements. A store that exists is used again.
"""

from __future__ import annotations

import argparse
import random
import time
import uuid
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from statistics import median

from sqlalchemy import event, func, select

from labelkit.catalog.rubrics import load_rubric
from labelkit.domain.message import Message, ToolCall
from labelkit.domain.person import Person, Role
from labelkit.domain.sample import Sample
from labelkit.domain.trace import RowState, Trace
from labelkit.errors import InputError
from labelkit.store import Store
from labelkit.store.raters import rater_ids
from labelkit.store.review_tables import ANNOTATION, ASSIGNMENT, SAMPLE_ITEM, SUBMISSION
from labelkit.store.samples import items
from labelkit.store.tables import LABEL
from labelkit.store.traces import add_traces
from labelkit.workflows.review import (
    adjudicate,
    annotate,
    assignment,
    judge_quality,
    live,
    overview,
    people,
    samples,
)
from labelkit.workflows.review.annotate import Choice, Draft
from labelkit.workflows.review.schemes import rater_of

RUBRIC = "tool-failure"
TEXT = "The quick brown fox number 12345 jumps over the lazy dog at 10:30 on 2026-01-02. " * 220


def traces(n: int) -> Iterator[Trace]:
    for k in range(n):
        payload = TEXT * 28 if k % 100 == 99 else TEXT
        yield Trace(
            model=f"model-{k % 7}",
            messages=(
                Message(role="user", content=f"question {k}"),
                Message(role="assistant", tool_calls=(ToolCall(name="look", id="c"),)),
                Message(role="tool", content=payload, tool_call_id="c"),
                Message(role="assistant", content=f"answer {k} is 12345"),
            ),
            state=RowState.OK,
            task_set="bench",
            task_id=str(k % 1000),
            tags={"subset": "control" if k % 4 == 0 else "required", "domain": f"d{k % 9}"},
            repeat=k // 1000,
        )


def person(store: Store, name: str, role: Role) -> Person:
    try:
        return people.person_named(store, name)
    except InputError:
        return people.add_person(store, None, name, role, subject=f"bench-{name}")


def cpu(what: Callable[[], object], times: int = 1) -> float:
    spent = []
    for _ in range(times):
        begun = time.process_time()
        what()
        spent.append((time.process_time() - begun) * 1000)
    return median(spent)


def fill_sample(store: Store, sample: Sample, who: list[Person]) -> None:
    """Write every person's labels in bulk, as many submissions would have."""
    rubric = load_rubric(RUBRIC)
    drawn = items(store, sample.key)
    rng = random.Random(1)
    now = datetime.now(UTC)
    labels = [d.name for d in rubric.primary.labels][:4]
    truth = [rng.choice(labels) for _ in drawn]
    raters = {one.id: rater_of(store, one, rubric) for one in who}
    with store.writing() as connection:
        ends = [
            connection.execute(select(func.coalesce(func.max(t.c.id), 0))).scalar_one()
            for t in (ASSIGNMENT, SUBMISSION, LABEL)
        ]
        rows: list[list[dict]] = [[], [], [], []]
        found = connection.execute(
            select(SAMPLE_ITEM.c.id, SAMPLE_ITEM.c.trace_id).where(
                SAMPLE_ITEM.c.sample_id == sample.key
            )
        )
        ids = {row.id: row.trace_id for row in found}
        known = rater_ids(store, connection, {rater.digest for rater in raters.values()})
        n = 0
        for slot, one in enumerate(who):
            for item, right in zip(drawn, truth, strict=True):
                n += 1
                common = {"sample_id": sample.key, "item_id": item.key, "person_id": one.id}
                rows[0].append(
                    common
                    | {
                        "id": ends[0] + n,
                        "repeat": 0,
                        "slot": slot,
                        "state": "done",
                        "round": 0,
                        "leased_at": now,
                        "expires_at": now,
                        "done_at": now,
                    }
                )
                rows[1].append(
                    common
                    | {
                        "id": ends[1] + n,
                        "request_key": uuid.uuid4().hex * 2,
                        "assignment_id": ends[0] + n,
                        "repeat": 0,
                        "version": 0,
                        "round": 0,
                        "act": "label",
                        "active_ms": 9000,
                        "guideline": rubric.digest,
                        "created_at": now,
                    }
                )
                rows[2].append(
                    {
                        "id": ends[2] + n,
                        "trace_id": ids[item.key],
                        "rater_id": known[raters[one.id].digest],
                        "question": rubric.primary.id,
                        "repeat": 0,
                        "version": 0,
                        "outcome": "labelled",
                        "value": right if rng.random() < 0.8 else rng.choice(labels),
                        "cached": False,
                        "created_at": now,
                    }
                )
                rows[3].append(
                    {
                        "submission_id": ends[1] + n,
                        "question": rubric.primary.id,
                        "label_id": ends[2] + n,
                    }
                )
        for table, many in zip((ASSIGNMENT, SUBMISSION, LABEL, ANNOTATION), rows, strict=True):
            connection.execute(table.insert(), many)


class InStatements:
    """CPU time inside database statements."""

    def __init__(self, store: Store) -> None:
        self.spent = 0.0
        self._begun = 0.0
        engine = store._engine  # noqa: SLF001 - only a benchmark looks inside
        event.listen(engine, "before_cursor_execute", self._begin)
        event.listen(engine, "after_cursor_execute", self._end)

    def _begin(self, *_: object) -> None:
        self._begun = time.process_time()

    def _end(self, *_: object) -> None:
        self.spent += (time.process_time() - self._begun) * 1000

    def during(self, what: Callable[[], object]) -> float:
        """Return the milliseconds that ``what`` spends in statements."""
        self.spent = 0.0
        what()
        return self.spent


def show(name: str, spent: list[float]) -> None:
    spent.sort()
    print(f"{name}: median {median(spent):.2f} ms, p95 {spent[int(len(spent) * 0.95)]:.2f} ms")


def annotating(store: Store, sample: Sample, times: int, measure: Callable[..., float]) -> None:
    """Label some items and show what the next item and the submission cost."""
    worker = person(store, "worker", Role.ANNOTATOR)
    nexts, submits = [], []
    for _ in range(times):
        nexts.append(measure(partial(assignment.next_item, store, worker, sample.id)))
        offer = assignment.next_item(store, worker, sample.id)
        if offer is None:
            break
        question = offer.questions[0]
        said = Draft({question.id: question.labels[0].name})
        choice = Choice(uuid.uuid4().hex, offer.lease, offer.trace, said)
        submits.append(measure(partial(annotate.submit, store, worker, choice)))
    show("  next item", nexts)
    show("  submit", submits)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--traces", type=int, default=100_000)
    parser.add_argument("--items", type=int, default=2000)
    parser.add_argument("--raters", type=int, default=5)
    parser.add_argument("--store", type=Path, default=Path("review_service.db"))
    asked = parser.parse_args()
    fresh = not asked.store.exists()
    with Store.open(f"sqlite:///{asked.store}", create=True) as store:
        if fresh:
            spent = cpu(lambda: add_traces(store, traces(asked.traces)))
            print(f"import {asked.traces} traces: {spent / 1000:.0f} s")
        admin = person(store, "admin", Role.ADMIN)
        who = [person(store, f"rater{k}", Role.ANNOTATOR) for k in range(asked.raters)]
        rubric = load_rubric(RUBRIC)
        wanted = samples.Wanted(n=asked.items, strata=("model", "subset"), overlap=asked.raters)
        print(f"draw: {cpu(lambda: samples.draw(store, admin, rubric, wanted)):.0f} ms")
        sample = samples.draw(store, admin, rubric, wanted)
        other = samples.draw(store, admin, rubric, samples.Wanted(n=asked.items, seed=9))
        print("annotating, all CPU:")
        annotating(store, other, 100, cpu)
        print("annotating, in SQLite:")
        annotating(store, other, 100, InStatements(store).during)
        if not live.version(store, sample.id)[0]:
            fill_sample(store, sample, who)
        pages: dict[str, Callable[[], object]] = {
            "version": lambda: live.version(store, sample.id),
            "agreement page": lambda: live.agreement(store, admin, sample.id),
            "queue": lambda: adjudicate.queue(store, admin, sample.id),
            "judge quality": lambda: judge_quality.judge_quality(store, admin, sample.id),
            "overview": lambda: overview.overview(store, admin),
        }
        for name, page in pages.items():
            print(f"{name}: {cpu(page, 5):.1f} ms")


if __name__ == "__main__":
    main()
