"""What imported ratings are labels of: a rubric's question, the user's own or one made for them.

Statistics, review and release all speak of a rubric. Someone who has only a table of ratings has
none, so one is made from the labels that occur: a folder the user can read and mend, with a
guideline that says what is not known. It is written once and read ever after.
"""

from __future__ import annotations

import re
import string
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from labelkit.catalog.rubrics import load_rubric
from labelkit.domain.rubric import Question, Rubric
from labelkit.errors import InputError
from labelkit.formats.reader import Rating, ReadOptions
from labelkit.formats.registry import read_file

_MOST_LABELS = 30
_KEYS = string.digits[1:] + "".join(c for c in string.ascii_lowercase if c not in "znfs")
_NUMBER = re.compile(r"[+-]?\d{1,9}(\.\d{1,9})?")

Survey = Mapping[str | None, Counter[str]]
"""The labels that occur, by what the file calls the question."""


@dataclass(frozen=True)
class RatingTarget:
    """The rubric whose labels the ratings are, and the question where the file names none."""

    rubric: Rubric
    question: str | None = None

    def question_for(self, named: str | None) -> Question | None:
        """Return the question that a rating answers, or None where the rubric asks no such one."""
        asked = [q for q in self.rubric.questions if q.type != "derived"]
        by_id = {question.id: question for question in asked}
        if named is not None and (named in by_id or slug(named) in by_id):
            return by_id.get(named) or by_id[slug(named)]
        if self.question is not None:
            return by_id.get(self.question)
        return asked[0] if named is None and len(asked) == 1 else None


def rating_target(rubric: Rubric, question: str | None) -> RatingTarget:
    """Return the target after a look at it.

    Raises:
        InputError: the rubric asks no such question, or derives it.
    """
    asked = [q.id for q in rubric.questions if q.type != "derived"]
    if question is not None and question not in asked:
        raise InputError(
            f"rubric {rubric.name} asks no question {question!r}; choose one of: {', '.join(asked)}"
        )
    return RatingTarget(rubric, question)


def label_of(question: Question, value: str) -> str | None:
    """Return the label of a question that a rating's text means, or None.

    Case does not matter; a yes-or-no question takes true, false, 1 and 0 too.
    """
    names = {definition.name: definition.name for definition in question.labels}
    folded = {name.casefold(): name for name in reversed(names)}
    plain = value.strip().casefold()
    if question.type == "boolean":
        plain = {"true": "yes", "1": "yes", "false": "no", "0": "no"}.get(plain, plain)
    return names.get(value.strip()) or folded.get(plain)


def survey(path: Path, file_format: str | None, options: ReadOptions) -> Survey:
    """Read a file once for the labels that occur in it; memory is that of the label set.

    Raises:
        FormatError: when the file cannot be read.
        InputError: a question has too many labels to be a label set.
    """
    found: dict[str | None, Counter[str]] = {}
    raters: dict[str, None] = {}
    for item in read_file(path, file_format, options).written():
        if isinstance(item, Rating) and item.value is not None:
            seen = found.setdefault(item.question, Counter())
            seen[item.value] += 1
            raters.setdefault(item.rater)
            if len(seen) > _MOST_LABELS:
                few = ", ".join(repr(value) for value in list(seen)[:3])
                raise InputError(
                    f"{path} holds more than {_MOST_LABELS} different labels (such as {few}), read "
                    f"as given by {', '.join(map(repr, list(raters)[:3]))}; "
                    "name the columns with --item, --rater and --label, round the scores, or "
                    "give a rubric with --rubric"
                )
    return found


def made_rubric(path: Path, found: Survey, folder: Path, *, ordinal: bool = False) -> Path:
    """Write a rubric for the labels of a file into ``folder``; return its own folder.

    A rubric that is there already is kept as it is, so that the user's changes stay. ``ordinal``
    says that the labels are steps of a scale, in the order of numbers or of the alphabet.

    Raises:
        InputError: no rating was found.
    """
    if not any(found.values()):
        raise InputError(f"{path} holds no rating to make a rubric of; check its columns")
    name = slug(path.stem).replace("_", "-").strip("-")
    place = folder / name
    if place.exists():
        return place
    place.mkdir(parents=True)
    text = yaml.safe_dump(
        _rubric(name, path.name, found, ordinal=ordinal), sort_keys=False, allow_unicode=True
    )
    (place / "rubric.yaml").write_text(text, encoding="utf-8")
    (place / "guideline.md").write_text(_guideline(path.name), encoding="utf-8")
    return place


def _rubric(name: str, file: str, found: Survey, *, ordinal: bool) -> dict[str, Any]:
    questions = [_question(asked, labels, ordinal=ordinal) for asked, labels in found.items()]
    return {
        "name": name,
        "version": "1.0.0",
        "title": f"Ratings from {file}",
        "source": file,
        "questions": questions,
        "ensemble": {"tie": "none", "null_policy": "ignore"},
        "rates": [
            {
                "id": f"{question['id']}_{place}",
                "title": f"{question['id']}: {label['name']}",
                "question": question["id"],
                "numerator": {"labels": [label["name"]]},
                "denominator": {"name": "All"},
            }
            for question in questions
            for place, label in enumerate(question["labels"], start=1)
        ],
        "guideline": "guideline.md",
    }


def _question(asked: str | None, labels: Mapping[str, int], *, ordinal: bool) -> dict[str, Any]:
    names = sorted(labels, key=_scale_order)
    kind = "ordinal" if ordinal else "choice"  # numbers may be codes: order is never guessed
    if set(names) <= {"yes", "no"}:
        names, kind = ["yes", "no"], "boolean"
    if len(names) == 1:
        names.append("other" if names[0] != "other" else "none")
    return {
        "id": slug(asked) if asked is not None else "label",
        "type": kind,
        "text": asked or "Which label did the rater give?",
        "labels": [
            {
                "name": label,
                "title": label,
                "key": _KEYS[place],
                "include": f"What the raters of the file called {label}.",
            }
            for place, label in enumerate(names)
        ],
    }


def _are_codes(rubric: Rubric) -> bool:
    """Whether a choice of a made rubric has only numbers, of which nobody said that they order.

    Two labels have no order that could matter.
    """
    return any(
        question.type == "choice"
        and len(question.labels) > 2
        and all(_NUMBER.fullmatch(label.name) for label in question.labels)
        for question in rubric.questions
    )


def _scale_order(name: str) -> tuple[int, float, str]:
    return (0, float(name), "") if _NUMBER.fullmatch(name) else (1, 0.0, name)


def _guideline(file: str) -> str:
    return (
        f"# Ratings from {file}\n\n"
        "This rubric was made from the labels that occur in the file. What the raters were asked,\n"
        "and how each label was defined, is not in the file: write it here before others rate.\n"
    )


def slug(text: str) -> str:
    """Return a name of small letters, digits and underscores that begins with a letter."""
    plain = re.sub(r"[^a-z0-9]+", "_", text.casefold()).strip("_")[:60]
    return plain if plain[:1].isalpha() else f"q_{plain}".rstrip("_")


@dataclass
class Targets:
    """Finds the target of each file of an import: the user's rubric, or one made for the file.

    Args:
        folder: where made rubrics are written.
        rubric: name or folder of the user's rubric.
        question: the question where a file names none.
        ordinal: whether the labels of a made rubric are steps of a scale.
        made: the folders of the rubrics that were made, or found made earlier, so far.
        codes: those of them whose labels are numbers in an unordered choice, by file.
    """

    folder: Path
    rubric: str | None = None
    question: str | None = None
    ordinal: bool = False
    made: list[Path] = field(default_factory=list)
    codes: dict[Path, Path] = field(default_factory=dict)

    def target(self, path: Path, file_format: str, options: ReadOptions) -> RatingTarget:
        """Return what the ratings of a file are labels of.

        Raises:
            RubricError: the rubric cannot be read.
            InputError: it asks no such question, or the labels are no label set.
            FormatError: the file cannot be read.
        """
        rubric: str | Path | None = self.rubric
        if rubric is None:
            found = survey(path, file_format, options)
            rubric = made_rubric(path, found, self.folder, ordinal=self.ordinal)
            self.made.append(rubric)
            if _are_codes(load_rubric(rubric)):
                self.codes[path] = rubric
        return rating_target(load_rubric(rubric), self.question)
