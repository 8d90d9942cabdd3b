"""On which terms a task set may be passed on: what a release asks before it writes a text."""

from __future__ import annotations

from labelkit.domain.frozen import Frozen


class Terms(Frozen):
    """Licence and source of a task set.

    ``redistributable`` False keeps the texts of its tasks and traces out of every release; ids,
    tags and labels stay. Where a set's terms are not known, it is taken as False.
    """

    name: str
    licence: str
    redistributable: bool
    title: str = ""
    source: str = ""


def unknown_terms(name: str) -> Terms:
    """Return the terms of a set that nobody has said anything about."""
    return Terms(name=name, licence="unknown", redistributable=False)
