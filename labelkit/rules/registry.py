"""Rule classifiers by the name a rubric gives.

A new scheme's rule is one file beside this one and one line in the table below.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from labelkit.domain.rubric import Rubric
from labelkit.domain.task import Tag
from labelkit.errors import InputError
from labelkit.rules import (
    error_handling,
    facts,
    feasibility,
    hazard_recovery,
    post_failure_honesty,
    tool_failure,
    tool_failure_substring,
)
from labelkit.rules.ruling import Answerable, Classifier

_CLASSIFIERS: dict[str, Classifier] = {
    "error_handling": error_handling.classify,
    "facts": facts.classify,
    "feasibility": feasibility.classify,
    "hazard_recovery": hazard_recovery.classify,
    "post_failure_honesty": post_failure_honesty.classify,
    "tool_failure": tool_failure.classify,
    "tool_failure_substring": tool_failure_substring.classify,
}

_CHECKS: dict[str, Callable[[Rubric], None]] = {
    "error_handling": error_handling.check,
    "facts": facts.check,
    "hazard_recovery": hazard_recovery.check,
}
"""What a rule asks of its rubric before it labels anything."""

_ANSWERS: dict[str, Callable[[Rubric], Answerable]] = {
    "feasibility": feasibility.answers,
    "hazard_recovery": hazard_recovery.answers,
    "post_failure_honesty": post_failure_honesty.answers,
}
"""Rules that answer further questions beside the primary one, under the rubric's policy."""

_OPTIONS: dict[str, dict[str, tuple[str, ...]]] = {
    "error_handling": {"policy": tuple(error_handling.POLICIES)},
    "facts": {},
    "feasibility": {"detector": ("strict", "lenient", "anywhere"), "signal": ()},
    "hazard_recovery": {
        "policy": hazard_recovery.POLICIES,
        "expansion_over": (),
        "abandoned_at_most": (),
    },
    "post_failure_honesty": {
        "policy": ("findings", "key_words"),
        "status_line": ("tolerant", "published"),
    },
    "tool_failure": {"policy": ("values", "substring"), "args_policy": ("lenient", "strict")},
    "tool_failure_substring": {},
}
"""Options of every rule with their values; none given: any value that the rule can read."""

RULES_VERSION = "4"
"""Part of every rule's identity. Raise it when any classifier may label a trace differently."""


def classifier_names() -> tuple[str, ...]:
    """Names of all rule classifiers, sorted."""
    return tuple(sorted(_CLASSIFIERS))


def rule_of(rubric: Rubric) -> Classifier | None:
    """Return the classifier of a rubric, checked against what it needs; None without a rule.

    Raises:
        InputError: an unknown classifier, or options that the rule cannot work with.
    """
    if rubric.rule is None:
        return None
    found = classifier(rubric.rule)
    if check := _CHECKS.get(_folded(rubric.rule)):
        check(rubric)
    return found


def answered(rubric: Rubric) -> tuple[str, ...]:
    """Return the ids of the questions that the rubric's rule answers, the primary one last.

    A further question is answered where the rubric has one of that id that lists every label the
    rule may give, and that is not for people alone. Empty without a rule.

    Raises:
        InputError: an unknown classifier.
    """
    if rubric.rule is None:
        return ()
    classifier(rubric.rule)
    answers = _ANSWERS.get(_folded(rubric.rule))
    known = answers(rubric) if answers else {}
    further = [
        question.id
        for question in rubric.questions[:-1]
        if question.id in known
        and question.is_for("rule")
        and {label.name for label in question.labels}.issuperset(known[question.id])
    ]
    return (*further, rubric.primary.id)


def under_policy(rubric: Rubric, changed: Mapping[str, Tag]) -> Rubric:
    """Return the rubric with some options of its rule changed, for the rule alone to read.

    Raises:
        InputError: the rubric has no rule, or the rule knows no such option or value.
    """
    if rubric.rule is None:
        raise InputError(f"rubric {rubric.name} has no rule, so it has no policy to change")
    classifier(rubric.rule)
    options = _OPTIONS[_folded(rubric.rule)]
    for name, value in changed.items():
        if name not in options:
            known = ", ".join(options) or "none"
            raise InputError(
                f"{name!r} is no option of the rule {rubric.rule}; its options are: {known}"
            )
        if options[name] and value not in options[name]:
            raise InputError(
                f"{name}={value} is unknown to the rule {rubric.rule}; "
                f"choose one of: {', '.join(options[name])}"
            )
    return rubric.model_copy(update={"rule_policy": {**rubric.rule_policy, **changed}})


def classifier(name: str) -> Classifier:
    """Return the classifier a rubric names; ``-`` and ``_`` are the same.

    Raises:
        InputError: when no classifier has this name; the message lists the known ones.
    """
    found = _CLASSIFIERS.get(_folded(name))
    if found is None:
        known = ", ".join(classifier_names())
        raise InputError(f"No rule classifier is called {name!r}; use one of: {known}.")
    return found


def _folded(name: str) -> str:
    return name.strip().lower().replace("-", "_")
