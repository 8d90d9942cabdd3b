"""What lies on the table of a case: people under letters, rules and judges closed until opened."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from labelkit.digest import digest
from labelkit.domain.label import Evidence, Label
from labelkit.domain.person import Person
from labelkit.domain.sample import Sample
from labelkit.store import Store
from labelkit.store import adjudications as kept
from labelkit.store.annotations import Given
from labelkit.store.labels import labels_of
from labelkit.store.raters import raters


@dataclass(frozen=True)
class Opinion:
    """What one person said, under a letter; ``name`` is empty until the case is decided.

    ``value`` is None where the person skipped or withdrew (``reason``). ``revised`` says that it
    was given after the item had been sent back.
    """

    letter: str
    name: str
    value: str | None
    reason: str
    note: str
    flags: tuple[str, ...]
    confidence: str
    quotes: tuple[Evidence, ...]
    revised: bool


@dataclass(frozen=True)
class MachineOpinion:
    """A rule or judge; what it said is filled in once it was opened or the case decided."""

    rater: str
    name: str
    kind: str
    opened: bool
    value: str | None = None
    reason: str = ""
    rationale: str = ""
    confidence: str = ""
    flags: tuple[str, ...] = ()
    quotes: tuple[Evidence, ...] = ()


def latest(given: Sequence[Given]) -> list[Given]:
    """Return the last act of every person."""
    return list({one.assignment: one for one in given}.values())


def opinions(
    sample: Sample, item: int, given: Sequence[Given], names: dict[int, str], shown: bool
) -> tuple[Opinion, ...]:
    """Return opinions under letters, in an order that says nothing about who it is."""
    mixed = sorted(given, key=lambda one: digest([sample.id, item, one.person]))
    return tuple(
        Opinion(
            letter=chr(ord("A") + place) if place < 26 else f"P{place + 1}",
            name=names[one.person] if shown else "",
            value=one.label.value,
            reason=one.label.reason or "",
            note=one.label.rationale or "",
            flags=one.label.flags,
            confidence=one.label.confidence or "",
            quotes=one.label.evidence,
            revised=one.round > 0,
        )
        for place, one in enumerate(mixed)
    )


def machine_opinions(
    store: Store, who: Person, sample: Sample, trace: str, question: str, *, shown: bool
) -> tuple[MachineOpinion, ...]:
    """Return rules and judges of the sample's rubric; closed until opened or decided."""
    seen = set(kept.sightings(store, who.id, trace))
    known = {
        rater.digest: rater
        for rater in raters(store, rubric=sample.design.rubric_digest)
        if rater.kind != "person"
    }
    found: dict[str, Label] = {}
    for label in labels_of(store, trace, question=question):
        if label.rater in known and label.repeat == 0:
            found[label.rater] = label
    out = []
    for key, label in found.items():
        rater = known[key]
        if not (shown or key in seen):
            out.append(MachineOpinion(key, rater.name, rater.kind, opened=False))
            continue
        out.append(
            MachineOpinion(
                key,
                rater.name,
                rater.kind,
                opened=True,
                value=label.value,
                reason=label.reason or "",
                rationale=label.rationale or "",
                confidence=label.confidence or "",
                flags=label.flags,
                quotes=label.evidence,
            )
        )
    return tuple(out)
