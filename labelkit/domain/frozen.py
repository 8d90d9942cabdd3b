"""The base of every domain value: immutable, strict about unknown fields, comparable by content."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

from pydantic import BaseModel, ConfigDict


class Frozen(BaseModel):
    """An immutable value. Unknown fields are an error: a misspelt key must never be ignored."""

    model_config = ConfigDict(frozen=True, extra="forbid", arbitrary_types_allowed=False)

    def beyond_defaults(self) -> dict[str, Any]:
        """Return what the value says beyond its defaults: the text that digests are taken of.

        So a field that is added later, with a default, leaves every digest as it was. In return
        the default of a released field may never change.
        """
        return self.model_dump(exclude_defaults=True)

    def model_copy(self, *, update: Mapping[str, Any] | None = None, deep: bool = False) -> Self:
        """Return a changed copy. A digest that was computed before belongs to the original."""
        copy = super().model_copy(update=update, deep=deep)
        copy.__dict__.pop("digest", None)
        return copy
