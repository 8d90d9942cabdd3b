"""A person who works in the review app, and what a role allows. Secrets are never part of it."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum

from labelkit.domain.frozen import Frozen


class Role(StrEnum):
    """``annotator`` labels; ``adjudicator`` also decides; ``admin`` also draws and manages."""

    ANNOTATOR = "annotator"
    ADJUDICATOR = "adjudicator"
    ADMIN = "admin"


class Person(Frozen):
    """Somebody who labels or decides.

    ``subject`` is an external identity (the subject of an OIDC token, or the name a trusted proxy
    sends). ``epoch`` is part of a session token: a new passphrase or retirement voids old ones.
    """

    id: int
    name: str
    role: Role
    subject: str | None = None
    has_passphrase: bool = False
    epoch: int = 0
    added_at: datetime
    retired_at: datetime | None = None

    @property
    def retired(self) -> bool:
        """Whether the person may not act any more."""
        return self.retired_at is not None
