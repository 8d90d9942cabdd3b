"""Cross checks of a rubric's published numbers: what they name must exist, and mean one thing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from labelkit.catalog.mistakes import Mistake, twice, unknown
from labelkit.catalog.yaml_nodes import Loc
from labelkit.domain.rates import Contrast, Denominator, Measure, Predicate, Rate
from labelkit.domain.rubric import Question, Rubric

STATES = ("infra_error", "abstained", "failed", "tie", "dropped")


def check_rates(rubric: Rubric) -> Iterator[Mistake]:
    """Yield every mistake in rates, measures, contrasts, composites and fronts."""
    yield from twice((r.full_name for r in rubric.rates), ("rates",), "rate", "id")
    names = (m.full_name for m in rubric.measures)
    yield from twice(names, ("measures",), "measure", "id")
    for i, rate in enumerate(rubric.rates):
        yield from _rate(rate, rubric, ("rates", i))
    for i, measure in enumerate(rubric.measures):
        yield from _measure(measure, rubric, ("measures", i))
    yield from _one_meaning(rubric)
    yield from _built_on_rates(rubric)


def _rate(rate: Rate, rubric: Rubric, loc: Loc) -> Iterator[Mistake]:
    question = _asked(rubric, rate.question)
    yield from unknown(rate.question, _ids(rubric), (*loc, "question"), "question")
    if question:
        yield from _predicate(rate.numerator, question, rubric, (*loc, "numerator"))
        where = rate.denominator.where
        yield from _predicate(where, question, rubric, (*loc, "denominator", "where"))
    for state in rate.states:
        yield from unknown(state, STATES, (*loc, "states", state), "state")


def _measure(measure: Measure, rubric: Rubric, loc: Loc) -> Iterator[Mistake]:
    question = _asked(rubric, measure.question)
    yield from unknown(measure.question, _ids(rubric), (*loc, "question"), "question")
    if question is None:
        return
    yield from _predicate(measure.within.where, question, rubric, (*loc, "within", "where"))
    if measure.against:
        where = measure.against.where
        yield from _predicate(where, question, rubric, (*loc, "against", "where"))
        if measure.macro:
            problem = "a ratio of two means has no mean of group means"
            yield (*loc, "macro"), problem, "remove `macro` or `against`"
    if measure.value == "label":
        if question.type != "ordinal":
            problem = f"question {question.id!r} is not ordinal, so its labels have no mean"
            yield (*loc, "value"), problem, "name a number that the rule records"
    elif rubric.rule is None:
        problem = f"{measure.value!r} is a number of the rule, but the rubric has no rule"
        yield (*loc, "value"), problem, "name a `rule` or write `value: label`"


def _one_meaning(rubric: Rubric) -> Iterator[Mistake]:
    """A denominator's name stands for one set of rows in the whole rubric."""
    named: list[tuple[Loc, Denominator]] = [
        (("rates", i, "denominator"), rate.denominator) for i, rate in enumerate(rubric.rates)
    ]
    for i, measure in enumerate(rubric.measures):
        named.append((("measures", i, "within"), measure.within))
        if measure.against:
            named.append((("measures", i, "against"), measure.against))
    meanings: dict[str, Predicate] = {}
    for loc, denominator in named:
        if meanings.setdefault(denominator.name, denominator.where) != denominator.where:
            problem = f"the denominator {denominator.name!r} is defined in two ways"
            yield loc, problem, "use one definition, or another name"


def _built_on_rates(rubric: Rubric) -> Iterator[Mistake]:
    rates = [rate.full_name for rate in rubric.rates]
    numbers = rates + [measure.full_name for measure in rubric.measures]
    for part in ("contrasts", "composites", "fronts"):
        ids = (item.id for item in getattr(rubric, part))
        yield from twice(ids, (part,), part.removesuffix("s"), "id")
    for i, contrast in enumerate(rubric.contrasts):
        yield from _contrast(contrast, numbers, ("contrasts", i))
    for i, composite in enumerate(rubric.composites):
        for k, name in enumerate(composite.parts):
            yield from unknown(name, rates, ("composites", i, "parts", k), "rate")
        for k, name in enumerate(composite.complement):
            here: Loc = ("composites", i, "complement", k)
            yield from unknown(name, composite.parts, here, "part")
    for i, front in enumerate(rubric.fronts):
        for side, listed in (("up", front.up), ("down", front.down)):
            for k, name in enumerate(listed):
                yield from unknown(name, numbers, ("fronts", i, side, k), "rate or measure")


def _contrast(contrast: Contrast, numbers: list[str], loc: Loc) -> Iterator[Mistake]:
    yield from unknown(contrast.of, numbers, (*loc, "of"), "rate or measure")
    needs_clean = contrast.kind == "recovered_share"
    if needs_clean != (contrast.clean is not None):
        problem = f"the contrast {contrast.id!r} of kind {contrast.kind!r} "
        problem += "needs a `clean` arm" if needs_clean else "has no use for a `clean` arm"
        yield (*loc, "clean"), problem, "add it" if needs_clean else "remove it"


def _predicate(
    predicate: Predicate, question: Question, rubric: Rubric, loc: Loc
) -> Iterator[Mistake]:
    known = [label.name for label in question.labels]
    for part, names in (("labels", predicate.labels), ("not_labels", predicate.not_labels)):
        for k, name in enumerate(names):
            yield from unknown(name, known, (*loc, part, k), "label")
    if rubric.subsets:
        for k, value in enumerate(predicate.tags.get(rubric.subset_tag, ())):
            where = (*loc, "tags", rubric.subset_tag, k)
            yield from unknown(str(value), rubric.subsets, where, "subset")


def _ids(rubric: Rubric) -> Mapping[str, Question]:
    return {question.id: question for question in rubric.questions}


def _asked(rubric: Rubric, name: str) -> Question | None:
    return _ids(rubric).get(name)
