"""A rater's outcome on one trace for one question. Append-only: nothing overwrites a label."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from functools import cached_property
from typing import Any, Literal

from pydantic import Field, model_validator

from labelkit.digest import digest
from labelkit.domain.frozen import Frozen

RaterKind = Literal["rule", "judge", "person"]


class Rater(Frozen):
    """Who labels. Its digest covers everything that could change a label.

    For a judge ``spec`` holds rubric digest, framing, endpoint, model, decoding, prompt and parser
    version; for a rule its policy and the rubric digest. Labels of different digests are never
    pooled silently.
    """

    kind: RaterKind
    name: str
    version: str
    spec: dict[str, Any] = Field(default_factory=dict)

    @cached_property
    def digest(self) -> str:
        """Content address of the identity."""
        return digest(self.model_dump())


class Outcome(StrEnum):
    """``labelled`` has a value, ``abstained`` deferred on purpose, ``failed`` was not readable."""

    LABELLED = "labelled"
    ABSTAINED = "abstained"
    FAILED = "failed"


class NullReason(StrEnum):
    """Why a judge's label is missing (schemes.md: ``judge_null``)."""

    PARSE = "parse"
    REFUSAL = "refusal"
    TRUNCATED = "truncated"
    OVERFLOW = "overflow"
    FILTERED = "filtered"
    TRANSPORT = "transport"
    REJECTED = "rejected"


class Evidence(Frozen):
    """A quote with its place.

    ``part`` names a part of the rendered view or trace (``answer``, ``payload``, ``question``,
    ``message:4``). ``start`` and ``end`` are character offsets into that part (end exclusive), or
    None when the quote could not be resolved; an unresolved quote is kept and flagged.
    """

    part: str
    quote: str
    start: int | None = None
    end: int | None = None

    @property
    def resolved(self) -> bool:
        """Whether the quote was found word for word."""
        return self.start is not None


class Label(Frozen):
    """One rater's outcome.

    Identity is (trace, rater, question, repeat, version): a person's change or a rerun of a
    failed row is a new version, and the highest version is the one in force. ``view`` is the
    digest of exactly what the rater saw. ``completion`` is the request digest of the exchange
    that the label was read from (judges only).
    """

    trace: str
    rater: str
    question: str
    outcome: Outcome
    value: str | None = None
    reason: str | None = None
    repeat: int = Field(default=0, ge=0)
    version: int = Field(default=0, ge=0)
    rationale: str | None = None
    confidence: str | None = None
    flags: tuple[str, ...] = ()
    evidence: tuple[Evidence, ...] = ()
    view: str | None = None
    completion: str | None = None
    cached: bool = False
    created_at: datetime

    @model_validator(mode="after")
    def _value_or_reason(self) -> Label:
        """A label has a value, or says why it has none: never both, never neither."""
        if self.outcome is Outcome.LABELLED:
            if self.value is None:
                raise ValueError("a labelled outcome needs a value")
        elif self.value is not None or not self.reason:
            raise ValueError(f"an outcome {self.outcome.value!r} has no value and needs a reason")
        return self
