"""Which rubrics a sample can be drawn for: the packaged ones, and those this store has used."""

from __future__ import annotations

from labelkit.catalog.rubrics import load_rubric, rubric_names
from labelkit.domain.rubric import Rubric
from labelkit.store import Store
from labelkit.store.raters import rubrics


def offered_rubrics(store: Store) -> dict[str, Rubric]:
    """Return rubrics by a name for people: the store's newest texts first, then packaged ones.

    A packaged text that the store holds already is offered once.
    """
    found: dict[str, Rubric] = {}
    for rubric in (*reversed(rubrics(store)), *map(load_rubric, rubric_names())):
        if rubric.digest not in {known.digest for known in found.values()}:
            name = f"{rubric.name} {rubric.version}"
            found[name if name not in found else f"{name} ({rubric.digest[:8]})"] = rubric
    return found


def packaged(name: str) -> Rubric | None:
    """Return the text of a rubric as it lies on disk now; None where it is no packaged one."""
    return load_rubric(name) if name in rubric_names() else None
