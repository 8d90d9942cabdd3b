"""A sample's release for a browser, made in a process of its own; see ``workflows.hand_out``.

This module may not import what it starts: a server that offers releases must not pay for them.
"""

from __future__ import annotations

from labelkit.domain.person import Person
from labelkit.errors import InputError
from labelkit.store import Store
from labelkit.workflows.children import LOST, Child, end
from labelkit.workflows.review.access import Right, require

_PROGRAM = "from labelkit.workflows.hand_out import answer; answer()"


def packed_apart(store: Store, who: Person, sample_id: str) -> tuple[str, bytes]:
    """Return the file name and the bytes of a sample's release, as ``hand_out.packed_release``.

    Raises:
        NotAllowedError: ``who`` may not export.
        InputError: there is no release; the sentence says why.
    """
    require(who, Right.EXPORT)
    child = Child(_PROGRAM)
    try:
        child.ask((store.address, who, sample_id))
        found = child.answer()
    except LOST:
        raise InputError(
            f"the release was not finished; run `labelkit export {sample_id[:12]} FOLDER` where"
            " the store is, which says what is wrong"
        ) from None
    finally:
        end([child])
    if isinstance(found, str):
        raise InputError(found)
    name, packed = found
    return name, packed
