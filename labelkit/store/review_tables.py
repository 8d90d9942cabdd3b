"""The tables of review: people, samples, leases, what people submitted and what was decided.

Leases and drafts change; submissions, annotations, adjudications and sightings are append-only.
Names and request ids come from outside and may be long, so indexes hold digests of them. A change
here needs a migration; a test compares the two.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import Column, ForeignKey, Index, Integer, Text, UniqueConstraint
from sqlmodel import Field

from labelkit.store.columns import JsonText, SafeText, UtcTime
from labelkit.store.table_base import Row


class PersonRow(Row, table=True):
    """Somebody who labels. The keys are digests of folded texts; ``epoch`` voids old sessions."""

    __tablename__ = "person"

    id: int | None = Field(default=None, primary_key=True)
    name: str = Field(sa_type=SafeText, nullable=False)
    name_key: str = Field(max_length=64, unique=True)
    role: str = Field(max_length=16)
    passphrase: str | None = Field(default=None, sa_type=Text)
    subject: str | None = Field(default=None, sa_type=SafeText)
    subject_key: str | None = Field(default=None, max_length=64, unique=True)
    epoch: int
    added_at: datetime = Field(sa_type=UtcTime, nullable=False)
    retired_at: datetime | None = Field(default=None, sa_type=UtcTime)


class SignInRow(Row, table=True):
    """An attempt to sign in by passphrase since the last good one; too many slow the next down."""

    __tablename__ = "sign_in"

    id: int | None = Field(default=None, primary_key=True)
    name_key: str = Field(max_length=64, index=True)
    at: datetime = Field(sa_type=UtcTime, nullable=False)


class SampleRow(Row, table=True):
    """A frozen draw. ``body`` is its design; ``guideline`` the rubric in force for new labels."""

    __tablename__ = "sample"

    id: int | None = Field(default=None, primary_key=True)
    digest: str = Field(max_length=64, unique=True)
    rubric: str = Field(max_length=64)
    guideline: str = Field(max_length=64)
    frame_last: int
    created_by: int | None = Field(default=None, foreign_key="person.id")
    created_at: datetime = Field(sa_type=UtcTime, nullable=False)
    closed_at: datetime | None = Field(default=None, sa_type=UtcTime)
    body: str = Field(sa_type=Text, nullable=False)


class SampleItemRow(Row, table=True):
    """A drawn trace; ``again`` (if set) is after how many other labels it is shown once more."""

    __tablename__ = "sample_item"
    __table_args__ = (
        UniqueConstraint("sample_id", "position"),
        UniqueConstraint("sample_id", "trace_id"),
    )

    id: int | None = Field(default=None, primary_key=True)
    sample_id: int = Field(foreign_key="sample.id")
    position: int
    trace_id: int = Field(foreign_key="trace.id")
    stratum: str = Field(sa_type=SafeText, nullable=False)
    probability: float
    again: int | None = None


class SamplePersonRow(Row, table=True):
    """Who may take items of a sample; a sample without any is open to everybody."""

    __tablename__ = "sample_person"
    __table_args__ = (UniqueConstraint("sample_id", "person_id"),)

    id: int | None = Field(default=None, primary_key=True)
    sample_id: int = Field(foreign_key="sample.id")
    person_id: int = Field(foreign_key="person.id")


class AssignmentRow(Row, table=True):
    """An item in a person's hands: leased, done, skipped or given back.

    ``slot`` (0 .. overlap - 1) is held while leased or done, so the database itself allows no
    more people than the overlap; a hidden repeat holds none.
    """

    __tablename__ = "assignment"
    __table_args__ = (
        UniqueConstraint("item_id", "person_id", "repeat"),
        UniqueConstraint("item_id", "slot"),
        Index("ix_assignment_person", "sample_id", "person_id", "state"),
        Index("ix_assignment_expiry", "sample_id", "state", "expires_at"),
    )

    id: int | None = Field(default=None, primary_key=True)
    sample_id: int = Field(foreign_key="sample.id")
    item_id: int = Field(foreign_key="sample_item.id")
    person_id: int = Field(foreign_key="person.id")
    repeat: int
    slot: int | None = None
    state: str = Field(max_length=16)
    round: int
    message: str | None = Field(default=None, sa_type=SafeText)
    leased_at: datetime = Field(sa_type=UtcTime, nullable=False)
    expires_at: datetime = Field(sa_type=UtcTime, nullable=False)
    done_at: datetime | None = Field(default=None, sa_type=UtcTime)


class DraftRow(Row, table=True):
    """What a person has begun to say about a leased item."""

    __tablename__ = "draft"

    assignment_id: int = Field(
        sa_column=Column(
            Integer, ForeignKey("assignment.id"), primary_key=True, autoincrement=False
        )
    )
    saved_at: datetime = Field(sa_type=UtcTime, nullable=False)
    body: dict[str, Any] = Field(sa_type=JsonText, nullable=False)


class SubmissionRow(Row, table=True):
    """One act of a person on an item. Append-only: the highest version counts."""

    __tablename__ = "submission"
    __table_args__ = (
        UniqueConstraint("assignment_id", "version"),
        Index("ix_submission_sample", "sample_id", "id"),
        Index("ix_submission_person", "person_id", "id"),
    )

    id: int | None = Field(default=None, primary_key=True)
    request_key: str = Field(max_length=64, unique=True)
    assignment_id: int = Field(foreign_key="assignment.id")
    sample_id: int = Field(foreign_key="sample.id")
    item_id: int = Field(foreign_key="sample_item.id")
    person_id: int = Field(foreign_key="person.id")
    repeat: int
    version: int
    round: int
    act: str = Field(max_length=16)
    active_ms: int
    guideline: str = Field(max_length=64)
    created_at: datetime = Field(sa_type=UtcTime, nullable=False)


class AnnotationRow(Row, table=True):
    """Which label a submission wrote for a question."""

    __tablename__ = "annotation"
    __table_args__ = (UniqueConstraint("submission_id", "question"),)

    id: int | None = Field(default=None, primary_key=True)
    submission_id: int = Field(foreign_key="submission.id")
    question: str = Field(sa_type=SafeText, nullable=False)
    label_id: int = Field(foreign_key="label.id")


class AdjudicationRow(Row, table=True):
    """A final decision. Append-only; ``value`` None says that no label applies, with a reason."""

    __tablename__ = "adjudication"
    __table_args__ = (
        UniqueConstraint("item_id", "question", "version"),
        Index("ix_adjudication_sample", "sample_id", "id"),
    )

    id: int | None = Field(default=None, primary_key=True)
    request_key: str = Field(max_length=64, unique=True)
    sample_id: int = Field(foreign_key="sample.id")
    item_id: int = Field(foreign_key="sample_item.id")
    question: str = Field(sa_type=SafeText, nullable=False)
    version: int
    person_id: int = Field(foreign_key="person.id")
    value: str | None = Field(default=None, sa_type=SafeText)
    reason: str = Field(sa_type=SafeText, nullable=False)
    tags: list[str] = Field(sa_type=JsonText, nullable=False)
    guideline_gap: bool
    labels: list[int] = Field(sa_type=JsonText, nullable=False)
    seen: list[str] = Field(sa_type=JsonText, nullable=False)
    created_at: datetime = Field(sa_type=UtcTime, nullable=False)


class SightingRow(Row, table=True):
    """A person has seen others' labels of a trace, so may not label it blind any more."""

    __tablename__ = "sighting"
    __table_args__ = (UniqueConstraint("person_id", "trace_id", "what"),)

    id: int | None = Field(default=None, primary_key=True)
    person_id: int = Field(foreign_key="person.id")
    trace_id: int = Field(foreign_key="trace.id")
    what: str = Field(max_length=80)
    at: datetime = Field(sa_type=UtcTime, nullable=False)


METADATA = Row.metadata
PERSON = METADATA.tables["person"]
SIGN_IN = METADATA.tables["sign_in"]
SAMPLE = METADATA.tables["sample"]
SAMPLE_ITEM = METADATA.tables["sample_item"]
SAMPLE_PERSON = METADATA.tables["sample_person"]
ASSIGNMENT = METADATA.tables["assignment"]
DRAFT = METADATA.tables["draft"]
SUBMISSION = METADATA.tables["submission"]
ANNOTATION = METADATA.tables["annotation"]
ADJUDICATION = METADATA.tables["adjudication"]
SIGHTING = METADATA.tables["sighting"]
