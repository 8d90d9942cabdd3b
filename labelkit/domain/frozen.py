"""The base of every domain value: immutable, strict about unknown fields, comparable by content."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class Frozen(BaseModel):
    """An immutable value. Unknown fields are an error: a misspelt key must never be ignored."""

    model_config = ConfigDict(frozen=True, extra="forbid", arbitrary_types_allowed=False)
