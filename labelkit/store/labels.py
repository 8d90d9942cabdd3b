"""Labels in the store: appended, never changed; the highest version is the one in force."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection, Row, func, select

from labelkit.domain.completion import Completion
from labelkit.domain.label import Label
from labelkit.errors import StoreError
from labelkit.store.completions import insert_completions
from labelkit.store.engine import Store
from labelkit.store.inserting import insert_new
from labelkit.store.raters import rater_ids
from labelkit.store.selection import chunks
from labelkit.store.tables import LABEL, RATER, TRACE


def commit_labels(
    store: Store, labels: Sequence[Label], completions: Sequence[Completion] = ()
) -> int:
    """Write labels and the completions they were read from in one transaction.

    Insert-or-nothing: a label whose (trace, rater, question, repeat, version) the store has is
    left out, as is a second accepted completion of a request. Once this returns, a killed process
    loses nothing of it. Batches of about 64 are cheap; one label per call is not.

    Returns:
        The number of labels that were new.

    Raises:
        StoreError: a trace or rater is not in the store, or the store cannot be written. Nothing
            of the call is written then.
    """
    with store.writing() as connection:
        insert_completions(connection, completions)
        return insert_new(connection, LABEL, _label_rows(store, connection, labels))


def append_label(store: Store, label: Label) -> Label:
    """Append a label as the next version of its (trace, rater, question, repeat); atomic.

    ``label.version`` is ignored. A label that says what the one in force says (everything but
    version and time equal) is not written again, so that clicking twice changes nothing.

    Returns:
        The label in force afterwards, with its version.

    Raises:
        StoreError: the trace or rater is not in the store, or the store cannot be written.
    """
    while True:
        with store.writing() as connection:
            (row,) = _label_rows(store, connection, [label])
            in_force = _in_force(connection, row)
            if in_force is not None and _same(in_force, label):
                return in_force
            row["version"] = 0 if in_force is None else in_force.version + 1
            # On PostgreSQL another writer may take the version first: then look again.
            if insert_new(connection, LABEL, [row]):
                return label.model_copy(update={"version": row["version"]})


def append_in(store: Store, connection: Connection, labels: Sequence[Label]) -> dict[str, int]:
    """Append labels of one trace, rater and repeat as next versions, in the caller's transaction.

    Args:
        store: the store.
        connection: a writing transaction in which nobody else writes for this rater.
        labels: one label per question; their ``version`` is ignored.

    Returns:
        The row id of the new label by question.

    Raises:
        StoreError: the trace or rater is not in the store.
    """
    rows = _label_rows(store, connection, labels)
    if not rows:
        return {}
    key = [LABEL.c[name] == rows[0][name] for name in ("trace_id", "rater_id", "repeat")]
    key.append(LABEL.c.question.in_([row["question"] for row in rows]))
    highest = select(LABEL.c.question, func.max(LABEL.c.version)).where(*key)
    versions = {row[0]: row[1] for row in connection.execute(highest.group_by(LABEL.c.question))}
    for row in rows:
        row["version"] = versions.get(row["question"], -1) + 1
    insert_new(connection, LABEL, rows)
    newest = {(row["question"], row["version"]) for row in rows}
    found = connection.execute(select(LABEL.c.id, LABEL.c.question, LABEL.c.version).where(*key))
    return {row.question: row.id for row in found if (row.question, row.version) in newest}


def _in_force(connection: Connection, row: dict[str, Any]) -> Label | None:
    """Return the highest version of the label that ``row`` is a version of."""
    key = ("trace_id", "rater_id", "question", "repeat")
    query = (
        LABELS.where(*(LABEL.c[name] == row[name] for name in key))
        .order_by(LABEL.c.version.desc())
        .limit(1)
    )
    found = connection.execute(query).first()
    return None if found is None else read_label(found)


def _same(one: Label, other: Label) -> bool:
    """Whether two labels say the same, whenever and in whichever version."""
    apart = {"version", "created_at"}
    return one.model_dump(exclude=apart) == other.model_dump(exclude=apart)


def _label_rows(
    store: Store, connection: Connection, labels: Sequence[Label]
) -> list[dict[str, Any]]:
    """Return the rows of labels, digests resolved, sorted so that writers never wait in a ring."""
    traces = _trace_ids(connection, {label.trace for label in labels})
    raters = rater_ids(store, connection, {label.rater for label in labels})
    rows = []
    for label in labels:
        if label.trace not in traces:
            raise StoreError(
                f"a label refers to the trace {label.trace}, which is not in the store"
                f" {store.place}; import the trace first"
            )
        if label.rater not in raters:
            raise StoreError(
                f"a label refers to the rater {label.rater}, which is not in the store"
                f" {store.place}; register the rater first (add_rater)"
            )
        rows.append(_label_row(label, traces[label.trace], raters[label.rater]))
    rows.sort(
        key=lambda row: (
            row["trace_id"],
            row["rater_id"],
            row["question"],
            row["repeat"],
            row["version"],
        )
    )
    return rows


def _label_row(label: Label, trace_id: int, rater_id: int) -> dict[str, Any]:
    """Return the row of one label."""
    return {
        "trace_id": trace_id,
        "rater_id": rater_id,
        "question": label.question,
        "repeat": label.repeat,
        "version": label.version,
        "outcome": label.outcome.value,
        "value": label.value,
        "reason": label.reason,
        "flags": list(label.flags) or None,
        "confidence": label.confidence,
        "view": label.view,
        "completion": label.completion,
        "cached": label.cached,
        "created_at": label.created_at,
        "rationale": label.rationale,
        "evidence": [item.model_dump(mode="json") for item in label.evidence] or None,
    }


def _trace_ids(connection: Connection, digests: set[str]) -> dict[str, int]:
    """Return the row ids of traces by digest; unknown digests are left out."""
    found: dict[str, int] = {}
    for chunk in chunks(sorted(digests)):
        query = select(TRACE.c.digest, TRACE.c.id).where(TRACE.c.digest.in_(chunk))
        found.update({row.digest: row.id for row in connection.execute(query)})
    return found


LABELS = select(
    LABEL, TRACE.c.digest.label("trace_digest"), RATER.c.digest.label("rater_digest")
).select_from(
    LABEL.join(TRACE, TRACE.c.id == LABEL.c.trace_id).join(RATER, RATER.c.id == LABEL.c.rater_id)
)


def read_label(row: Row[Any]) -> Label:
    """Return the label of a row of ``LABELS``."""
    return Label(
        trace=row.trace_digest,
        rater=row.rater_digest,
        question=row.question,
        outcome=row.outcome,
        value=row.value,
        reason=row.reason,
        repeat=row.repeat,
        version=row.version,
        rationale=row.rationale,
        confidence=row.confidence,
        flags=row.flags or (),
        evidence=row.evidence or (),
        view=row.view,
        completion=row.completion,
        cached=row.cached,
        created_at=row.created_at,
    )


def labels_of(
    store: Store, trace: str, *, question: str | None = None, history: bool = False
) -> list[Label]:
    """Return the labels of one trace (full digest) by all raters, by rater, question and repeat.

    Only labels in force, or with ``history`` every version in ascending order.
    """
    query = LABELS.where(TRACE.c.digest == trace).order_by(
        LABEL.c.rater_id, LABEL.c.question, LABEL.c.repeat, LABEL.c.version
    )
    if question is not None:
        query = query.where(LABEL.c.question == question)
    with store.reading() as connection:
        found = connection.execute(query).all()
    every = [read_label(row) for row in found]
    if history:
        return every
    last = {(label.rater, label.question, label.repeat): label for label in every}
    return list(last.values())


def label_counts(store: Store) -> dict[tuple[str, str, str], int]:
    """Return the number of labels, every version counted, by (rater digest, question, outcome)."""
    query = (
        select(RATER.c.digest, LABEL.c.question, LABEL.c.outcome, func.count())
        .select_from(LABEL.join(RATER, RATER.c.id == LABEL.c.rater_id))
        .group_by(RATER.c.digest, LABEL.c.question, LABEL.c.outcome)
    )
    with store.reading() as connection:
        return {(row[0], row[1], row[2]): row[3] for row in connection.execute(query)}
