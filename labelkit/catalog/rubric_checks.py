"""What a rubric's shape cannot say: the cross checks between its parts.

Each check yields mistakes as (location, problem, mend); all are told, in file order. Files and
templates are checked by the loader. Whether a rule of that name exists is the workflow's to
know: the catalog may not import rules.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import product
from math import prod

from labelkit.catalog.mistakes import Mistake, twice, unknown
from labelkit.catalog.rate_checks import check_rates
from labelkit.catalog.yaml_nodes import Loc, Located
from labelkit.domain.rubric import Ensemble, Framing, LabelDefinition, Question, Rubric

RESERVED_KEYS = {
    "?": "help",
    "/": "search",
    "z": "undo",
    "n": "note",
    "f": "flag",
    "s": "skip",
}
"""Keys of the review app that no label may take."""

MAX_COMBINATIONS = 20_000
_NAME = re.compile(r"[a-z0-9-]+")
_ID = re.compile(r"[a-z][a-z0-9_]*")
_VERSION = re.compile(r"[0-9]+\.[0-9]+\.[0-9]+")


def check_rubric(rubric: Rubric, located: Located, folder: str) -> None:
    """Check everything that needs no other file.

    Raises:
        RubricError: every mistake, in file order.
    """
    checks = (_head(rubric, folder), _questions(rubric), _derived(rubric), _framings(rubric))
    more = (_ensembles(rubric), _rules(rubric), check_rates(rubric))
    found = [m for check in (*checks, *more) for m in check]
    if not found:
        return
    raise located.mistakes(sorted(found, key=lambda mistake: located.line(mistake[0])))


def _head(rubric: Rubric, folder: str) -> Iterator[Mistake]:
    if not _NAME.fullmatch(rubric.name):
        yield ("name",), f"the name {rubric.name!r} is not usable", "use a-z, 0-9 and hyphens"
    elif rubric.name != folder:
        yield (
            ("name",),
            f"the name {rubric.name!r} differs from the folder's name {folder!r}",
            "make them equal",
        )
    if not _VERSION.fullmatch(rubric.version):
        problem = f"the version {rubric.version!r} is not of the form 1.0.0"
        yield ("version",), problem, 'write for example "1.0.0"'
    if not rubric.guideline.strip():
        yield ("guideline",), "there is no guideline", "add `guideline: guideline.md`"
    yield from twice(rubric.subsets, ("subsets",), "subset")
    only = rubric.applies_to
    if only.labels or only.not_labels or only.rule_flags:
        yield ("applies_to",), "applies_to may only test tags", "remove labels and rule_flags"


def _questions(rubric: Rubric) -> Iterator[Mistake]:
    if not rubric.questions:
        yield ("questions",), "there is no question", "add at least one"
    yield from twice((q.id for q in rubric.questions), ("questions",), "question id", "id")
    for i, question in enumerate(rubric.questions):
        loc: Loc = ("questions", i)
        if not _ID.fullmatch(question.id):
            problem = f"the question id {question.id!r} is not usable"
            yield (*loc, "id"), problem, "use a-z, 0-9 and underscores, starting with a letter"
        names = tuple(label.name for label in question.labels)
        yield from twice(names, (*loc, "labels"), "label", "name")
        yield from _type(question, names, loc)
        for j, label in enumerate(question.labels):
            yield from _label(label, rubric, (*loc, "labels", j))
        yield from _keys(question, loc)
        for subset in rubric.subsets:
            if names and not question.labels_for(subset):
                problem = f"question {question.id!r} has no label for the subset {subset!r}"
                yield (*loc, "labels"), problem, "add one or drop the subset"


def _type(question: Question, names: tuple[str, ...], loc: Loc) -> Iterator[Mistake]:
    here = (*loc, "labels")
    if question.type == "boolean" and sorted(names) != ["no", "yes"]:
        problem = f"the boolean question {question.id!r} has other labels than yes and no"
        yield here, problem, 'give exactly the labels "yes" and "no"'
    elif question.type != "boolean" and len(names) < 2:
        problem = f"the {question.type} question {question.id!r} has fewer than two labels"
        yield here, problem, "give at least two"
    if question.type != "derived" and question.derived:
        problem = f"question {question.id!r} has a table but is not derived"
        yield (*loc, "derived"), problem, "write `type: derived` or remove the table"


def _label(label: LabelDefinition, rubric: Rubric, loc: Loc) -> Iterator[Mistake]:
    if not label.name.strip():
        yield (*loc, "name"), "a label has an empty name", "name it"
    for k, subset in enumerate(label.subsets):
        yield from unknown(subset, rubric.subsets, (*loc, "subsets", k), "subset")


def _keys(question: Question, loc: Loc) -> Iterator[Mistake]:
    seen: dict[str, str] = {}
    for j, label in enumerate(question.labels):
        here = (*loc, "labels", j, "key")
        key = label.key.casefold()
        if len(label.key) != 1 or not label.key.isprintable() or label.key.isspace():
            yield here, f"the key {label.key!r} is not one visible character", "use one"
        elif key in RESERVED_KEYS:
            problem = f"the key {label.key!r} is reserved for {RESERVED_KEYS[key]}"
            yield here, problem, f"use another than {' '.join(RESERVED_KEYS)}"
        elif key in seen:
            problem = f"the key {label.key!r} is also the key of {seen[key]!r}"
            yield here, problem, "give each label its own key"
        seen.setdefault(key, label.name)


def _derived(rubric: Rubric) -> Iterator[Mistake]:
    earlier: dict[str, Question] = {}
    for i, question in enumerate(rubric.questions):
        if question.type == "derived":
            mistakes = list(_table(question, earlier, rubric, ("questions", i, "derived")))
            yield from mistakes or _reach(question, earlier, ("questions", i, "derived"))
        earlier.setdefault(question.id, question)


def _table(
    question: Question, earlier: dict[str, Question], rubric: Rubric, loc: Loc
) -> Iterator[Mistake]:
    ids = {q.id for q in rubric.questions}
    if not question.derived:
        yield loc, f"the derived question {question.id!r} has no table", "add `derived:` rows"
    for k, case in enumerate(question.derived):
        labels = [label.name for label in question.labels]
        yield from unknown(case.label, labels, (*loc, k, "label"), "label")
        for name, value in case.when.items():
            here = (*loc, k, "when", name)
            if name in earlier:
                known = [label.name for label in earlier[name].labels]
                yield from unknown(value, known, here, f"value of {name!r}")
            elif name in ids:
                problem = f"the table of {question.id!r} refers to {name!r}, which comes later"
                yield here, problem, "move that question up"
            else:
                yield from unknown(name, earlier, here, "question")


def _reach(question: Question, earlier: dict[str, Question], loc: Loc) -> Iterator[Mistake]:
    inputs = sorted({name for case in question.derived for name in case.when})
    values = [[label.name for label in earlier[name].labels] for name in inputs]
    if prod(len(column) for column in values) > MAX_COMBINATIONS:
        if question.derived[-1].when:
            problem = f"the table of {question.id!r} is too large to check"
            yield loc, problem, "end it with a row `when: {}`"
        return
    reached: set[int] = set()
    for combination in product(*values):
        answers = dict(zip(inputs, combination, strict=True))
        row = next(
            (k for k, c in enumerate(question.derived) if c.when.items() <= answers.items()), None
        )
        if row is None:
            words = ", ".join(f"{name}={value}" for name, value in answers.items())
            problem = f"the table of {question.id!r} gives no label for {words}"
            yield loc, problem, "add a row, or a last row `when: {}`"
            return
        reached.add(row)
    for k in range(len(question.derived)):
        if k not in reached:
            problem = f"row {k + 1} of the table of {question.id!r} can never match"
            yield (*loc, k), problem, "move it up or remove it"
            return


def _framings(rubric: Rubric) -> Iterator[Mistake]:
    yield from twice((f.name for f in rubric.framings), ("framings",), "framing", "name")
    questions = {q.id: q for q in rubric.questions}
    for i, framing in enumerate(rubric.framings):
        loc: Loc = ("framings", i)
        if not framing.shows:
            problem = f"the framing {framing.name!r} shows the judge nothing"
            yield (*loc, "shows"), problem, "list parts such as [question, answer]"
        if not framing.asks:
            problem = f"the framing {framing.name!r} asks nothing"
            yield (*loc, "asks"), problem, "list question ids"
        yield from _asks(framing, questions, loc)
        for part in framing.limits:
            if part not in framing.shows:
                problem = f"a limit for {part!r}, which the framing does not show"
                yield (*loc, "limits", part), problem, "show it or remove the limit"


def _asks(framing: Framing, questions: Mapping[str, Question], loc: Loc) -> Iterator[Mistake]:
    for noun, names in (("shows", framing.shows), ("asks", framing.asks)):
        for name, times in Counter(names).items():
            if times > 1:
                yield (*loc, noun), f"{name!r} is given twice in {noun}", "keep one"
    asked = [q.id for q in questions.values() if q.type != "derived" and q.is_for("judge")]
    for k, name in enumerate(framing.asks):
        question = questions.get(name)
        if question and question.type == "derived":
            problem = f"the framing {framing.name!r} asks {name!r}, which is derived"
            yield (*loc, "asks", k), problem, "ask the questions it is derived from"
        elif question and not question.is_for("judge"):
            problem = f"the framing {framing.name!r} asks {name!r}, which is for people alone"
            yield (*loc, "asks", k), problem, "leave it out or widen its `asked_of`"
        else:
            yield from unknown(name, asked, (*loc, "asks", k), "question")


def _ensembles(rubric: Rubric) -> Iterator[Mistake]:
    """The rubric's way of combining labels, and the ways of single questions."""
    ways: list[tuple[Ensemble, Loc, list[Question]]] = [
        (question.ensemble, ("questions", i, "ensemble"), [question])
        for i, question in enumerate(rubric.questions)
        if question.ensemble
    ]
    others = [question for question in rubric.questions if not question.ensemble]
    for way, loc, questions in [(rubric.ensemble, ("ensemble",), others), *ways]:
        if way.method == "lower_median":
            for question in questions:
                if question.type != "ordinal":
                    problem = f"question {question.id!r} is not ordinal, so it has no median"
                    mend = "write `method: majority`, or give ordinal questions an `ensemble`"
                    yield (*loc, "method"), problem, mend
            if way.tie == "rule":
                problem = "a tie goes to the rule, but a median is never tied"
                yield (*loc, "tie"), problem, "remove `tie`"
        elif way.tie == "rule" and rubric.rule is None:
            problem = "a tie goes to the rule, but the rubric has no rule"
            yield (*loc, "tie"), problem, "name a `rule` or write `tie: none`"


def _rules(rubric: Rubric) -> Iterator[Mistake]:
    if rubric.rule_table and rubric.rule is None:
        problem = "a rule table without a rule"
        yield ("rule_table",), problem, "add `rule: facts`"
    if rubric.rule and rubric.questions and not rubric.primary.is_for("rule"):
        problem = f"the rule labels {rubric.primary.id!r}, the last question, which is for people"
        yield ("rule",), problem, "put another question last"
    labels = [label.name for label in rubric.primary.labels] if rubric.questions else []
    for i, case in enumerate(rubric.rule_table):
        if case.label is not None:
            yield from unknown(case.label, labels, ("rule_table", i, "label"), "label")
        for k, subset in enumerate(case.subsets):
            yield from unknown(subset, rubric.subsets, ("rule_table", i, "subsets", k), "subset")
