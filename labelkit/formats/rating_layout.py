"""Which column of a table of ratings plays which part: named by the caller, or by its own name.

A column is never guessed from its content; where names do not tell, the caller is asked. Where two
columns or more are called like raters with something behind it (``annotator_1``, ``Rater: Ann``),
these are the raters and the others are facts about the items.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from labelkit.errors import InputError

ITEM_NAMES = (
    "item",
    "item_id",
    "orig_id",
    "id",
    "idx",
    "index",
    "task",
    "task_id",
    "trace",
    "trace_id",
    "subject",
    "subject_id",
    "unit",
    "unit_id",
    "example",
    "example_id",
    "instance",
    "instance_id",
    "sample",
    "sample_id",
    "document",
    "doc",
    "doc_id",
    "row",
)
RATER_NAMES = (
    "rater",
    "rater_id",
    "rater_name",
    "annotator",
    "annotator_id",
    "coder",
    "coder_id",
    "judge",
    "judge_id",
    "worker",
    "worker_id",
    "amt_worker_ids",
    "labeler",
    "labeller",
    "evaluator",
    "reviewer",
    "observer",
    "user",
    "user_id",
    "respondent",
    "respondent_id",
    "respondent_email",
    "participant",
    "participant_id",
    "email",
    "email_address",
)
LABEL_NAMES = (
    "label",
    "value",
    "rating",
    "score",
    "answer",
    "category",
    "code",
    "response",
    "annotation",
    "verdict",
    "judgement",
    "judgment",
    "choice",
    "class",
    "vote",
)
_ONE_OF_SEVERAL = re.compile(
    r"(?:r(?=\d)|(?:rater|annotator|coder|judge|worker|labell?er|evaluator|reviewer|observer|person|"
    r"expert|participant)(?![a-z]))[\W_]*(?P<which>.+)",
    re.IGNORECASE,
)
MISSING_TEXTS = ("", "NA", "N/A", "n/a", "#N/A", "NaN", "nan", "null", "NULL", "None")


@dataclass(frozen=True)
class Layout:
    """How to read a table of ratings; what is None is found from the names of the columns.

    Args:
        item: the column that names the item.
        raters: wide: the rater columns; default all that are nothing else.
        rater: long: the column that names the rater.
        label: long: the column that holds the label.
        question: a column that separates several questions.
        by: columns that split the items into strata.
        labels: the declared label set in scale order, as texts.
        kind: read labels as ``text`` or ``number``; ``auto`` reads numbers where all are.
        missing: further texts that mean "no rating", beside ``MISSING_TEXTS``.
        delimiter: of a CSV file.
    """

    item: str | None = None
    raters: tuple[str, ...] = ()
    rater: str | None = None
    label: str | None = None
    question: str | None = None
    by: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()
    kind: Literal["auto", "text", "number"] = "auto"
    missing: tuple[str, ...] = ()
    delimiter: str | None = None

    @property
    def no_rating(self) -> frozenset[str]:
        """Every text that means "no rating": a declared label never does, an empty cell always."""
        return frozenset((*MISSING_TEXTS, *self.missing)) - frozenset(self.labels) | {""}


def columns_of(layout: Layout) -> list[str]:
    """Return every column that a layout names, once."""
    single = (layout.item, layout.rater, layout.label, layout.question)
    return list(dict.fromkeys([n for n in single if n is not None] + [*layout.raters, *layout.by]))


def resolved(path: Path, layout: Layout, header: Sequence[str]) -> Layout:
    """Return the layout with every column named; it is wide exactly when ``raters`` is filled.

    Args:
        path: the file, for messages.
        layout: what the caller named.
        header: the columns of the file.

    Raises:
        InputError: for a column that the file lacks, or a part that no column looks like.
    """
    for named in columns_of(layout):
        if named not in header:
            raise InputError(
                f"{path} has no column {named!r}; its columns are: {', '.join(map(repr, header))}"
            )
    taken = {layout.question, *layout.by}
    item = layout.item or _guess(header, ITEM_NAMES, taken | {layout.rater, layout.label})
    rater = layout.rater or _guess(header, RATER_NAMES, taken | {item, layout.label})
    label = layout.label or _guess(header, LABEL_NAMES, taken | {item, rater})
    asked_long = layout.rater is not None or layout.label is not None
    if asked_long or (rater and label and not layout.raters):
        for part, name in (("item", item), ("rater", rater), ("label", label)):
            if name is None:
                raise InputError(
                    f"{path}: no column looks like the {part}; name it with --{part}, its columns "
                    f"are: {', '.join(map(repr, header))}"
                )
        return replace(layout, item=item, rater=rater, label=label, raters=())
    if item is None and header[0] == "":
        item = ""  # what a data frame writes over its row names
    rest = [name for name in header if name != item and name not in taken]
    raters = layout.raters or _several(rest) or tuple(rest)
    if not raters:
        raise InputError(f"{path} has no rater column beside {item!r}; name them with --raters")
    return replace(layout, item=item, raters=raters)


def _several(header: Sequence[str]) -> tuple[str, ...]:
    """The columns that are called like one rater of several; none where fewer than two are."""
    found = []
    for name in header:
        match = _ONE_OF_SEVERAL.fullmatch(name.strip())
        if match and _plain(match.group("which")) not in {"id", "ids", "name", "email"}:
            found.append(name)
    return tuple(found) if len(found) > 1 else ()


def names_raters(header: Sequence[str]) -> bool:
    """Tell whether the names of the columns alone say which of them are raters."""
    return bool(_several(header))


def _guess(header: Sequence[str], names: Sequence[str], taken: set[str | None]) -> str | None:
    """The first name of ``names`` that a free column has, whatever its case and punctuation."""
    plain = {_plain(h): h for h in reversed(header)}
    return next((plain[n] for n in names if n in plain and plain[n] not in taken), None)


def is_item_name(name: str) -> bool:
    """Tell whether a column is called what item columns are called."""
    return _plain(name) in ITEM_NAMES


def _plain(name: str) -> str:
    return re.sub(r"\W+", "_", name.lower()).strip("_")
