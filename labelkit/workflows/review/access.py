"""Who may do what: one table, asked by every function of review before it does anything.

Rights are checked here and never in a page, so a page that forgets to hide a button gives nothing
away. A person is read from the store at each request (``people.person_of_token``), so a new role
or retirement counts at once.
"""

from __future__ import annotations

from enum import StrEnum

from labelkit.domain.person import Person, Role
from labelkit.errors import LabelkitError


class Right(StrEnum):
    """One thing that a person may be allowed to do."""

    LABEL = "label traces"
    SEE_LABELS = "see the labels of others"
    ADJUDICATE = "decide cases"
    MANAGE_SAMPLES = "draw and manage samples"
    MANAGE_PEOPLE = "manage people"
    EXPORT = "export labels"


class NotAllowedError(LabelkitError):
    """The person may not do this; names the person, the right and who has it."""


_ANNOTATOR = frozenset({Right.LABEL})
_ADJUDICATOR = _ANNOTATOR | {Right.SEE_LABELS, Right.ADJUDICATE, Right.EXPORT}
RIGHTS: dict[Role, frozenset[Right]] = {
    Role.ANNOTATOR: _ANNOTATOR,
    Role.ADJUDICATOR: _ADJUDICATOR,
    Role.ADMIN: _ADJUDICATOR | {Right.MANAGE_SAMPLES, Right.MANAGE_PEOPLE},
}


def allowed(person: Person, right: Right) -> bool:
    """Whether the person may; nobody who is retired may do anything."""
    return not person.retired and right in RIGHTS[person.role]


def require(person: Person, right: Right) -> None:
    """Let pass, or refuse.

    Raises:
        NotAllowedError: the person is retired, or the role lacks the right.
    """
    if person.retired:
        raise NotAllowedError(
            f"{person.name!r} is retired and may not {right.value}; ask an admin to take it back"
        )
    if right not in RIGHTS[person.role]:
        roles = " or ".join(role.value for role, rights in RIGHTS.items() if right in rights)
        raise NotAllowedError(
            f"{person.name!r} is {person.role.value} and may not {right.value}; that takes the "
            f"role {roles}, which an admin can give (`labelkit people role`)"
        )
