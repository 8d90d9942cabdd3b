"""The tables of traces, raters and labels; importing it knows the tables of review as well.

Rows are not domain values: a ``table=True`` class does not validate. Joins use integer keys;
content addresses are unique columns. Names that come from traces (model, task id, tags) may be
hostile or megabytes long, so no index holds one: ``task_key``, the digest of (set, id), is what
traces and tasks are joined on. A change here needs a migration; a test compares the two.

The migrations alone make tables. Two unique indexes are partial there (``info["where"]``): saying
so in the dialects' own words would load every PostgreSQL driver SQLAlchemy knows, at each start.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import (
    BigInteger,
    Column,
    ForeignKey,
    Index,
    Integer,
    Text,
    UniqueConstraint,
)
from sqlmodel import Field

from labelkit.store import review_tables
from labelkit.store.columns import JsonText, SafeText, UtcTime
from labelkit.store.table_base import Row


class MetaRow(Row, table=True):
    """The store itself: one row, made at creation. The schema version is Alembic's own table."""

    __tablename__ = "meta"

    id: int = Field(primary_key=True)
    store_id: str = Field(max_length=36)
    secret: str = Field(max_length=64)
    created_at: datetime = Field(sa_type=UtcTime, nullable=False)


class TaskRow(Row, table=True):
    """One version of a task; ``current`` marks the newest import of its (set, id)."""

    __tablename__ = "task"
    __table_args__ = (Index("uq_task_current", "task_key", unique=True, info={"where": "current"}),)

    id: int | None = Field(default=None, primary_key=True)
    digest: str = Field(max_length=64, unique=True)
    task_key: str = Field(max_length=64)
    task_set: str = Field(sa_type=SafeText, nullable=False)
    task_id: str = Field(sa_type=SafeText, nullable=False)
    current: bool
    domain: str | None = Field(default=None, sa_type=SafeText)
    subset: str | None = Field(default=None, sa_type=SafeText)
    tags: dict[str, Any] = Field(sa_type=JsonText, nullable=False)
    imported_at: datetime = Field(sa_type=UtcTime, nullable=False)
    body: str = Field(sa_type=Text, nullable=False)


class TraceRow(Row, table=True):
    """What reports and filters need of a trace. ``domain`` and ``subset`` are its own tags only.

    ``body_chars`` lets a reader cut pages by size, so that 5 MB payloads do not pile up.
    """

    __tablename__ = "trace"

    id: int | None = Field(default=None, primary_key=True)
    digest: str = Field(max_length=64, unique=True)
    task_key: str | None = Field(default=None, max_length=64, index=True)
    task_set: str | None = Field(default=None, sa_type=SafeText)
    task_id: str | None = Field(default=None, sa_type=SafeText)
    model: str = Field(sa_type=SafeText, nullable=False)
    condition: str = Field(sa_type=SafeText, nullable=False)
    repeat: int
    state: str = Field(max_length=16)
    domain: str | None = Field(default=None, sa_type=SafeText)
    subset: str | None = Field(default=None, sa_type=SafeText)
    tags: dict[str, Any] = Field(sa_type=JsonText, nullable=False)
    source: str = Field(sa_type=SafeText, nullable=False)
    imported_at: datetime = Field(sa_type=UtcTime, nullable=False)
    body_chars: int


class TraceBodyRow(Row, table=True):
    """The whole trace as canonical JSON, apart, so that a report never reads past it."""

    __tablename__ = "trace_body"

    trace_id: int = Field(
        sa_column=Column(Integer, ForeignKey("trace.id"), primary_key=True, autoincrement=False)
    )
    body: str = Field(sa_type=Text, nullable=False)


class RubricRow(Row, table=True):
    """A rubric as it was when it was used, frozen by its digest."""

    __tablename__ = "rubric"

    id: int | None = Field(default=None, primary_key=True)
    digest: str = Field(max_length=64, unique=True)
    name: str = Field(sa_type=SafeText, nullable=False)
    version: str = Field(sa_type=SafeText, nullable=False)
    added_at: datetime = Field(sa_type=UtcTime, nullable=False)
    body: str = Field(sa_type=Text, nullable=False)


class RaterRow(Row, table=True):
    """A rule, judge or person. ``rubric`` is the rubric digest of its spec, where it has one."""

    __tablename__ = "rater"

    id: int | None = Field(default=None, primary_key=True)
    digest: str = Field(max_length=64, unique=True)
    kind: str = Field(max_length=16)
    name: str = Field(sa_type=SafeText, nullable=False)
    version: str = Field(sa_type=SafeText, nullable=False)
    rubric: str | None = Field(default=None, sa_type=SafeText)
    added_at: datetime = Field(sa_type=UtcTime, nullable=False)
    body: str = Field(sa_type=Text, nullable=False)


class LabelRow(Row, table=True):
    """One outcome. Append-only: the highest version of (trace, rater, question, repeat) counts."""

    __tablename__ = "label"
    __table_args__ = (UniqueConstraint("trace_id", "rater_id", "question", "repeat", "version"),)

    id: int | None = Field(default=None, primary_key=True)
    trace_id: int = Field(foreign_key="trace.id")
    rater_id: int = Field(foreign_key="rater.id")
    question: str = Field(sa_type=SafeText, nullable=False)
    repeat: int
    version: int
    outcome: str = Field(max_length=16)
    value: str | None = Field(default=None, sa_type=SafeText)
    reason: str | None = Field(default=None, sa_type=SafeText)
    flags: list[str] | None = Field(default=None, sa_type=JsonText)
    confidence: str | None = Field(default=None, sa_type=SafeText)
    view: str | None = Field(default=None, sa_type=SafeText)
    completion: str | None = Field(default=None, sa_type=SafeText)
    cached: bool
    created_at: datetime = Field(sa_type=UtcTime, nullable=False)
    rationale: str | None = Field(default=None, sa_type=SafeText)
    evidence: list[dict[str, Any]] | None = Field(default=None, sa_type=JsonText)


class CompletionRow(Row, table=True):
    """One exchange with an endpoint. ``request`` is the cache key, ``digest`` the row's own.

    A request may have several exchanges (a truncated one and its larger retry) but only one
    accepted one, which later runs take instead of asking again.
    """

    __tablename__ = "completion"
    __table_args__ = (
        UniqueConstraint("request", "digest"),
        Index("uq_completion_accepted", "request", unique=True, info={"where": "accepted"}),
    )

    id: int | None = Field(default=None, primary_key=True)
    digest: str = Field(max_length=64)
    request: str = Field(sa_type=SafeText, nullable=False)
    endpoint: str = Field(sa_type=SafeText, nullable=False)
    model: str = Field(sa_type=SafeText, nullable=False)
    repeat: int
    accepted: bool
    finish_reason: str | None = Field(default=None, sa_type=SafeText)
    failure_kind: str | None = Field(default=None, max_length=16)
    failure_message: str | None = Field(default=None, sa_type=SafeText)
    failure_status: int | None = None
    has_usage: bool
    prompt_tokens: int | None = Field(default=None, sa_type=BigInteger)
    completion_tokens: int | None = Field(default=None, sa_type=BigInteger)
    reasoning_tokens: int | None = Field(default=None, sa_type=BigInteger)
    cached_tokens: int | None = Field(default=None, sa_type=BigInteger)
    cost: float | None = None
    currency: str | None = Field(default=None, sa_type=SafeText)
    served_model: str | None = Field(default=None, sa_type=SafeText)
    fingerprint: str | None = Field(default=None, sa_type=SafeText)
    sent: dict[str, Any] = Field(sa_type=JsonText, nullable=False)
    attempts: int
    latency_s: float
    created_at: datetime = Field(sa_type=UtcTime, nullable=False)
    text: str | None = Field(default=None, sa_type=SafeText)
    reasoning: str | None = Field(default=None, sa_type=SafeText)
    tool_calls: list[dict[str, Any]] | None = Field(default=None, sa_type=JsonText)


class EndpointRow(Row, table=True):
    """What one endpoint with one model takes; ``key`` names the two, the newest row counts."""

    __tablename__ = "endpoint"
    __table_args__ = (UniqueConstraint("key", "digest"),)

    id: int | None = Field(default=None, primary_key=True)
    key: str = Field(max_length=64)
    digest: str = Field(max_length=64)
    learnt_at: datetime = Field(sa_type=UtcTime, nullable=False)
    body: str = Field(sa_type=Text, nullable=False)


class TaskSetRow(Row, table=True):
    """What is known about a task set itself, such as its licence."""

    __tablename__ = "task_set"

    id: int | None = Field(default=None, primary_key=True)
    name_key: str = Field(max_length=64, unique=True)
    name: str = Field(sa_type=SafeText, nullable=False)
    noted_at: datetime = Field(sa_type=UtcTime, nullable=False)
    body: str = Field(sa_type=Text, nullable=False)


class ClaimRow(Row, table=True):
    """A row of some work in the hands of one of several workers, until ``expires_at``."""

    __tablename__ = "claim"
    __table_args__ = (UniqueConstraint("work", "item"),)

    id: int | None = Field(default=None, primary_key=True)
    work: str = Field(max_length=64)
    item: str = Field(max_length=64)
    owner: str = Field(max_length=36, index=True)
    expires_at: datetime = Field(sa_type=UtcTime, nullable=False)


METADATA = review_tables.METADATA
META = METADATA.tables["meta"]
TASK = METADATA.tables["task"]
TRACE = METADATA.tables["trace"]
TRACE_BODY = METADATA.tables["trace_body"]
RUBRIC = METADATA.tables["rubric"]
RATER = METADATA.tables["rater"]
LABEL = METADATA.tables["label"]
COMPLETION = METADATA.tables["completion"]
ENDPOINT = METADATA.tables["endpoint"]
TASK_SET = METADATA.tables["task_set"]
CLAIM = METADATA.tables["claim"]
