"""A reviewed store to release, and what a release folder holds."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

from labelkit.domain.message import Message
from labelkit.domain.person import Person, Role
from labelkit.domain.rubric import Rubric
from labelkit.domain.sample import Sample
from labelkit.domain.task import Task
from labelkit.domain.terms import Terms
from labelkit.store import Store
from labelkit.store.tasks import add_tasks
from labelkit.store.terms import note_terms
from labelkit.workflows.release.checksums import files_of
from labelkit.workflows.review import adjudicate
from labelkit.workflows.review.adjudicate import Verdict
from tests.workflows.review import desk

MAY = Terms(name="demo", licence="Apache-2.0", redistributable=True)
NAMES = ("Ada Lovelace", "Ben Franklin", "Cleo Chief")


def task(number: int) -> Task:
    return Task(
        set="demo",
        id=f"t{number}",
        messages=(Message(role="user", content=f"question {number}"),),
        tags={"subset": f"s{number % 2}"},
    )


def reviewed(store: Store, *, terms: Terms | None = MAY, n: int = 12) -> tuple[Rubric, Sample]:
    """Twelve traces, a rule and a judge, two people on six items, one disagreement decided."""
    rubric = desk.rubric()
    traces = desk.fill(store, n, rubric)
    add_tasks(store, [task(number) for number in range(n)])
    desk.judge(store, traces, ["good", "bad", None] * (n // 3))
    desk.judge(store, traces, ["good", "bad", "bad"] * (n // 3), name="rule", kind="rule")
    if terms is not None:
        note_terms(store, terms)
    sample = desk.drawn(store, 6, rubric, overlap=2)
    ada, ben = (desk.person(store, name) for name in NAMES[:2])
    cleo = desk.person(store, NAMES[2], Role.ADJUDICATOR)
    items = sorted(trace.digest for trace in traces)
    desk.label_all(store, ada, sample, dict.fromkeys(items, "good"))
    apart = {digest: "bad" if k % 2 else "good" for k, digest in enumerate(items)}
    desk.label_all(store, ben, sample, apart, desk.START + timedelta(days=1))
    case = next(
        line for line in adjudicate.queue(store, cleo, sample.id) if "disagreement" in line.reasons
    )
    verdict = Verdict("d1", sample.id, case.item, "q", "bad", "the answer is wrong", ("cluster-a",))
    adjudicate.decide(store, cleo, verdict, now=desk.START + timedelta(days=2))
    return rubric, sample


def open_case(store: Store, who: Person, sample: Sample) -> int:
    """An item that people labelled differently and nobody has decided."""
    queue = adjudicate.queue(store, who, sample.id)
    return next(c.item for c in queue if "disagreement" in c.reasons and c.decided is None)


def bytes_of(folder: Path) -> dict[str, bytes]:
    return {name: (folder / name).read_bytes() for name in (*files_of(folder), "SHA256SUMS")}
