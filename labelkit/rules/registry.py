"""Rule classifiers by the name a rubric gives.

A new scheme's rule is one file beside this one and one line in the table below.
"""

from __future__ import annotations

from labelkit.domain.rubric import Rubric
from labelkit.errors import InputError
from labelkit.rules import facts, tool_failure, tool_failure_substring
from labelkit.rules.ruling import Classifier

_CLASSIFIERS: dict[str, Classifier] = {
    "facts": facts.classify,
    "tool_failure": tool_failure.classify,
    "tool_failure_substring": tool_failure_substring.classify,
}


RULES_VERSION = "1"
"""Part of every rule's identity. Raise it when any classifier may label a trace differently."""


def classifier_names() -> tuple[str, ...]:
    """Names of all rule classifiers, sorted."""
    return tuple(sorted(_CLASSIFIERS))


def rule_of(rubric: Rubric) -> Classifier | None:
    """Return the classifier of a rubric, checked against what it needs; None without a rule.

    Raises:
        InputError: an unknown classifier, or a rule table that asks for unknown facts.
    """
    if rubric.rule is None:
        return None
    found = classifier(rubric.rule)
    if found is facts.classify:
        facts.check(rubric)
    return found


def classifier(name: str) -> Classifier:
    """Return the classifier a rubric names; ``-`` and ``_`` are the same.

    Raises:
        InputError: when no classifier has this name; the message lists the known ones.
    """
    found = _CLASSIFIERS.get(name.strip().lower().replace("-", "_"))
    if found is None:
        known = ", ".join(classifier_names())
        raise InputError(f"No rule classifier is called {name!r}; use one of: {known}.")
    return found
