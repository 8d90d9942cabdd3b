"""What the review app's service costs: the next item, a submission, the agreement page.

    python benchmarks/review_speed.py [--traces 100000] [--items 2000] [--raters 5] [--store FILE]

Prints milliseconds of CPU (of this process, so on SQLite the database's own work too). A store
that exists is used again.
"""

from __future__ import annotations

import argparse
import random
import time
import uuid
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from statistics import median

from labelkit.catalog.rubrics import load_rubric
from labelkit.domain.message import Message, ToolCall
from labelkit.domain.person import Person, Role
from labelkit.domain.trace import RowState, Trace
from labelkit.errors import InputError
from labelkit.store import Store
from labelkit.store.review_tables import ANNOTATION, ASSIGNMENT, SUBMISSION
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
from sqlalchemy import func, select

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


def fill_sample(store: Store, sample: samples.Sample, who: list[Person]) -> None:
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
        from labelkit.store.labels import _trace_ids  # noqa: PLC0415 - a benchmark

        ids = _trace_ids(connection, {item.trace for item in drawn})
        n = 0
        for slot, one in enumerate(who):
            for item, right in zip(drawn, truth, strict=True):
                n += 1
                common = {"sample_id": sample.key, "item_id": item.key, "person_id": one.id}
                rows[0].append(common | {
                    "id": ends[0] + n, "repeat": 0, "slot": slot, "state": "done", "round": 0,
                    "leased_at": now, "expires_at": now, "done_at": now,
                })
                rows[1].append(common | {
                    "id": ends[1] + n, "request_key": uuid.uuid4().hex * 2,
                    "assignment_id": ends[0] + n, "repeat": 0, "version": 0, "round": 0,
                    "act": "label", "active_ms": 9000, "guideline": rubric.digest,
                    "created_at": now,
                })
                rows[2].append({
                    "id": ends[2] + n, "trace_id": ids[item.trace],
                    "rater_id": store.rater_ids.get(raters[one.id].digest) or _rater(store, connection, raters[one.id].digest),
                    "question": rubric.primary.id, "repeat": 0, "version": 0,
                    "outcome": "labelled",
                    "value": right if rng.random() < 0.8 else rng.choice(labels),
                    "cached": False, "created_at": now,
                })
                rows[3].append({
                    "submission_id": ends[1] + n, "question": rubric.primary.id,
                    "label_id": ends[2] + n,
                })
        for table, many in zip((ASSIGNMENT, SUBMISSION, LABEL, ANNOTATION), rows, strict=True):
            connection.execute(table.insert(), many)


def _rater(store: Store, connection: object, digest: str) -> int:
    from labelkit.store.raters import rater_ids  # noqa: PLC0415 - a benchmark

    return rater_ids(store, connection, {digest})[digest]  # type: ignore[arg-type]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--traces", type=int, default=100_000)
    parser.add_argument("--items", type=int, default=2000)
    parser.add_argument("--raters", type=int, default=5)
    parser.add_argument("--store", type=Path, default=Path("/tmp/review_speed.db"))
    asked = parser.parse_args()
    fresh = not asked.store.exists()
    with Store.open(f"sqlite:///{asked.store}", create=True) as store:
        if fresh:
            print(f"import {asked.traces} traces: {cpu(lambda: add_traces(store, traces(asked.traces))) / 1000:.0f} s")
        admin = person(store, "admin", Role.ADMIN)
        who = [person(store, f"rater{k}", Role.ANNOTATOR) for k in range(asked.raters)]
        rubric = load_rubric(RUBRIC)
        wanted = samples.Wanted(n=asked.items, strata=("model", "subset"), overlap=asked.raters)
        begun = time.process_time()
        sample = samples.draw(store, admin, rubric, wanted)
        print(f"draw {asked.items} of {sample.design.frame_size}: {time.process_time() - begun:.2f} s")
        fresh_sample = samples.draw(store, admin, rubric, samples.Wanted(n=asked.items, seed=9))
        nexts, submits, reloads = [], [], []
        worker = person(store, "worker", Role.ANNOTATOR)
        for _ in range(200):
            box: list[assignment.Offer] = []
            nexts.append(cpu(lambda: box.append(assignment.next_item(store, worker, fresh_sample.id))))  # noqa: B023
            offer = box[0]
            reloads.append(cpu(lambda: assignment.next_item(store, worker, fresh_sample.id)))
            choice = Choice(uuid.uuid4().hex, offer.lease, offer.trace, Draft({offer.questions[0].id: offer.questions[0].labels[0].name}))
            submits.append(cpu(lambda: annotate.submit(store, worker, choice)))  # noqa: B023
        for name, found in (("next", nexts), ("reload", reloads), ("submit", submits)):
            found.sort()
            print(f"{name}: median {median(found):.2f} ms, p95 {found[int(len(found) * 0.95)]:.2f} ms")
        if not live.version(store, sample.id)[0]:
            fill_sample(store, sample, who)
        print(f"version: {cpu(lambda: live.version(store, sample.id), 20):.2f} ms")
        for name, page in (
            ("agreement page", lambda: live.agreement(store, admin, sample.id)),
            ("queue", lambda: adjudicate.queue(store, admin, sample.id)),
            ("judge quality", lambda: judge_quality.judge_quality(store, admin, sample.id)),
            ("overview", lambda: overview.overview(store, admin)),
        ):
            print(f"{name}: {cpu(page, 5):.0f} ms")


if __name__ == "__main__":
    main()
