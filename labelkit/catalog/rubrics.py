"""Loading a rubric folder into one validated value, with every mistake named where it stands.

A folder holds ``rubric.yaml``, one Markdown template for each framing and the guideline for
people. The value holds their texts and no path, so a copy elsewhere has the same digest.
"""

from __future__ import annotations

from pathlib import Path

from labelkit.catalog.located_errors import validated
from labelkit.catalog.places import find, names
from labelkit.catalog.rubric_checks import check_rubric
from labelkit.catalog.templates import TemplateFaultError, check_template
from labelkit.catalog.yaml_nodes import Loc, Located, read_text, read_yaml
from labelkit.domain.rubric import Framing, Rubric
from labelkit.errors import RubricError


def rubric_names() -> tuple[str, ...]:
    """Return the names that ``load_rubric`` knows here, sorted."""
    return names("rubrics")


def load_rubric(name_or_path: str | Path) -> Rubric:
    """Read and check a rubric given by name, folder or path of its ``rubric.yaml``.

    Raises:
        InputError: no such rubric.
        RubricError: a mistake in it; names file, line and mend.
    """
    folder = find("rubrics", name_or_path)
    located = read_yaml(folder / "rubric.yaml")
    listed = validated(located, Rubric)
    check_rubric(listed, located, folder.resolve().name)
    framings = tuple(_framing(framing, i, located) for i, framing in enumerate(listed.framings))
    guideline = _text_of(listed.guideline, ("guideline",), located)
    rubric = listed.model_copy(update={"framings": framings, "guideline": guideline})
    for listing, framing in zip(listed.framings, framings, strict=True):
        try:
            check_template(rubric, framing)
        except TemplateFaultError as fault:
            path = folder / listing.template
            raise RubricError(path, fault.line, fault.problem, fault.mend) from None
    return rubric


def as_rubric(rubric: Rubric | str | Path) -> Rubric:
    """Return a loaded rubric as it is, and load one that is given by name or path."""
    return rubric if isinstance(rubric, Rubric) else load_rubric(rubric)


def _framing(framing: Framing, index: int, located: Located) -> Framing:
    text = _text_of(framing.template, ("framings", index, "template"), located)
    return framing.model_copy(update={"template": text})


def _text_of(name: str, loc: Loc, located: Located) -> str:
    """Read a file of the folder; a name that leads out of the folder (also by link) is refused."""
    folder = located.path.parent
    mend = "name a Markdown file of the rubric's folder"
    if not name.strip():
        raise located.mistake(loc, f"{loc[-1]!r} names no file", mend)
    try:
        path = (folder / name).resolve()
        inside = path.is_relative_to(folder.resolve())
        exists = path.is_file()
    except (OSError, ValueError, RuntimeError):
        raise located.mistake(loc, f"{name!r} is not a file name", mend) from None
    if not inside:
        raise located.mistake(loc, f"the file {name!r} is outside the rubric's folder", mend)
    if not exists:
        raise located.mistake(loc, f"the file {name!r} does not exist", mend)
    text = read_text(folder / name)
    if not text.strip():
        raise RubricError(folder / name, 1, f"the {loc[-1]} is empty", "write its text")
    return text
