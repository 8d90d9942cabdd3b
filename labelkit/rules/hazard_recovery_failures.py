"""Why a run failed, from counts alone, and how much of that depends on where the lines are drawn.

The source paper names the failure modes and what they are made of, but not the thresholds. So
ours are options of the rule, and ``sensitivity`` shows what other lines would have given. The
counts are flags on the rule's label; the table is made from them without reading a trace again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product

from labelkit.domain.task import Tag
from labelkit.errors import InputError

MODES = (
    "silent_or_no_error",
    "early_abandonment",
    "over_expansion",
    "ineffective_continuation",
    "unresolved",
)
"""Every failed run has exactly one; the first that applies, in this order."""

NO_FAILURE = "none"
"""The answer for runs that did not fail, or of which nobody can say so."""

CER_DEFINITION = "executed calls / declared tools"
"""Call expansion ratio, as it is stored beside the number; CER_extra is one less."""

ANSWER_VALID = "answer_valid"
EXPANSION_GRID = (0.0, 0.5, 1.0, 1.5, 2.0)
ABANDONMENT_GRID = (0, 1, 2)


@dataclass(frozen=True, slots=True)
class Thresholds:
    """Where the lines are drawn.

    ``expansion_over``: CER_extra above this is over-expansion. ``abandoned_at_most``: so many
    calls after the first error, or fewer, are early abandonment.
    """

    expansion_over: float = 1.0
    abandoned_at_most: int = 0


@dataclass(frozen=True, slots=True)
class FailureFacts:
    """What a failed run is classified by.

    ``calls`` executed calls; ``tools`` declared tools (None: not known); ``after_error`` calls
    after the first errored result (None: no result reported an error); ``valid``: there is an
    answer of the right kind that is no apology.
    """

    calls: int
    tools: int | None
    after_error: int | None
    valid: bool

    @property
    def extra(self) -> float | None:
        """CER_extra = calls / tools - 1; None without declared tools."""
        return self.calls / self.tools - 1 if self.tools else None

    def flags(self) -> tuple[str, ...]:
        """The same facts as flags of a label: counted ones as ``name=value``."""
        told = [f"calls={self.calls}"]
        if self.tools:
            told.append(f"tools={self.tools}")
        if self.after_error is not None:
            told.append(f"calls_after_error={self.after_error}")
        return (*told, ANSWER_VALID) if self.valid else tuple(told)


@dataclass(frozen=True, slots=True)
class SensitivityRow:
    """How many failed runs each mode gets under one pair of thresholds; ``used`` marks ours."""

    thresholds: Thresholds
    counts: Mapping[str, int]
    used: bool


def thresholds_of(policy: Mapping[str, Tag]) -> Thresholds:
    """Read the thresholds of a rule policy.

    Raises:
        InputError: a threshold that is no number, or a fraction of a call.
    """
    usual = Thresholds()
    over = policy.get("expansion_over", usual.expansion_over)
    most = policy.get("abandoned_at_most", usual.abandoned_at_most)
    if isinstance(over, bool) or not isinstance(over, int | float):
        raise InputError(f"rule_policy.expansion_over is {over!r}; give a number such as 1.0")
    if isinstance(most, bool) or not isinstance(most, int) or most < 0:
        raise InputError(f"rule_policy.abandoned_at_most is {most!r}; give 0, 1, 2, ...")
    return Thresholds(float(over), most)


def failure_mode(facts: FailureFacts, lines: Thresholds) -> str:
    """Return the mode of one failed run; the first rule that applies decides."""
    if facts.after_error is None:
        return "silent_or_no_error"
    if facts.after_error <= lines.abandoned_at_most:
        return "early_abandonment"
    if facts.extra is not None and facts.extra > lines.expansion_over:
        return "over_expansion"
    return "ineffective_continuation" if facts.valid else "unresolved"


def facts_of(flags: Iterable[str]) -> FailureFacts | None:
    """Read the facts back from a label's flags; None where the rule counted nothing."""
    numbers: dict[str, int] = {}
    plain: set[str] = set()
    for flag in flags:
        name, equals, value = flag.partition("=")
        if equals and value.isdecimal():
            numbers[name] = int(value)
        else:
            plain.add(flag)
    if "calls" not in numbers:
        return None
    after = numbers.get("calls_after_error")
    return FailureFacts(numbers["calls"], numbers.get("tools"), after, ANSWER_VALID in plain)


def sensitivity(
    failed: Sequence[FailureFacts],
    used: Thresholds,
    *,
    expansion: Sequence[float] = EXPANSION_GRID,
    abandonment: Sequence[int] = ABANDONMENT_GRID,
) -> tuple[SensitivityRow, ...]:
    """Count the failure modes of the same runs under every pair of thresholds.

    Args:
        failed: the failed runs.
        used: the thresholds in force; they are a row of the table in any case.
        expansion: values of ``expansion_over``.
        abandonment: values of ``abandoned_at_most``.

    Returns:
        One row per pair in ascending order; the counts of each row add up to ``len(failed)``.
    """
    pairs = {Thresholds(over, most) for over, most in product(expansion, abandonment)} | {used}
    rows = []
    for lines in sorted(pairs, key=lambda pair: (pair.expansion_over, pair.abandoned_at_most)):
        found = Counter(failure_mode(facts, lines) for facts in failed)
        rows.append(SensitivityRow(lines, {mode: found[mode] for mode in MODES}, lines == used))
    return tuple(rows)
