"""Which rubric, and which of its questions, is meant by a name.

Rubrics are the packaged ones and those this store has used.
"""

from __future__ import annotations

from labelkit.catalog.rubrics import load_rubric, rubric_names
from labelkit.domain.rubric import Question, Rubric
from labelkit.errors import InputError, RubricError
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


def rubric_named(store: Store, name: str) -> Rubric:
    """Return a rubric by name or folder, else the store's newest text of that name.

    So whoever has only a release, imported, can name its rubric without the folder.

    Raises:
        InputError: neither the catalog nor the store knows it.
        RubricError: the folder holds a mistake.
    """
    try:
        return load_rubric(name)
    except InputError as error:
        # A mistake in a folder is one to mend, not one to go around.
        kept = [] if isinstance(error, RubricError) else rubrics(store, name)
        if not kept:
            raise
        return kept[-1]


def question_of(rubric: Rubric, name: str | None) -> Question:
    """Return a question of the rubric by its id; without one the primary question.

    Raises:
        InputError: the rubric has no such question.
    """
    if name is None:
        return rubric.primary
    try:
        return rubric.question(name)
    except KeyError:
        known = ", ".join(question.id for question in rubric.questions)
        raise InputError(
            f"rubric {rubric.name} has no question {name!r}; choose one of: {known}"
        ) from None
