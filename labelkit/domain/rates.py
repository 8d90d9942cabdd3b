"""Published numbers as data: rates, means, comparisons of conditions, with named denominators.

A scheme's numbers are part of its rubric, so that two papers that use the same rubric divide by
the same rows. Nothing here computes: ``labelkit.workflows`` does, from these definitions alone.
"""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from labelkit.domain.frozen import Frozen
from labelkit.domain.task import Tag

StatePolicy = Literal["drop", "denominator"]


class Predicate(Frozen):
    """A condition on one labelled row; every given part must hold.

    ``labels`` / ``not_labels`` test the row's label, ``tags`` the task's and trace's tags (a list
    means any of; ``model``, ``condition`` and ``task_set`` count as tags), ``rule_flags`` facts
    that the rule classifier recorded (such as ``called``).
    """

    labels: tuple[str, ...] = ()
    not_labels: tuple[str, ...] = ()
    tags: dict[str, tuple[Tag, ...]] = Field(default_factory=dict)
    rule_flags: tuple[str, ...] = ()


class Denominator(Frozen):
    """A named set of rows, for example ``Required`` or ``Called``."""

    name: str
    where: Predicate = Predicate()


class Rate(Frozen):
    """A published number as data; printed as ``id[Denominator]`` with n, coverage and interval.

    ``states`` says what happens to a row of the denominator that has no label, by reason
    (``infra_error``, ``abstained``, ``failed``, ``tie``, ``dropped``): ``drop`` leaves it out and
    counts it as excluded, ``denominator`` keeps it as a non-hit. Default: drop.
    ``min_coverage`` is the share of planned rows that must be scored for the rate to be printed.
    ``cluster`` names the tag whose groups are the real sample (domains, tasks): the interval is
    then given over clusters too. ``macro`` names a tag: beside the pooled rate the mean of the
    rates of its groups is given, every group counting the same.
    """

    id: str
    title: str
    question: str
    numerator: Predicate
    denominator: Denominator
    states: dict[str, StatePolicy] = Field(default_factory=dict)
    cluster: str | None = None
    macro: str | None = None
    min_coverage: float = Field(default=0.0, ge=0.0, le=1.0)

    @property
    def full_name(self) -> str:
        """``id[Denominator]``: a rate is never named without its denominator."""
        return f"{self.id}[{self.denominator.name}]"


class Measure(Frozen):
    """A published mean as data: a mean score, calls per declared tool, tokens per row.

    ``value`` is ``label`` (the number of an ordinal label: its name where all names are numbers,
    else its place on the scale from 1) or a number that the rule recorded as a flag of the form
    ``calls=7``. ``per`` divides each row's value by another such number, ``offset`` is added to
    the result of every row. ``against`` makes the measure the ratio of two means: the mean within
    ``within`` over the mean within ``against``. ``macro`` names a tag: beside the pooled mean the
    mean of the means of its groups is given. ``definition`` is printed with the number, for
    measures that papers define differently.
    """

    id: str
    title: str
    question: str
    value: str = "label"
    per: str | None = None
    offset: float = 0.0
    within: Denominator
    against: Denominator | None = None
    macro: str | None = None
    cluster: str | None = None
    definition: str = ""

    @property
    def full_name(self) -> str:
        """``id[Within]`` or ``id[Within/Against]``."""
        against = f"/{self.against.name}" if self.against else ""
        return f"{self.id}[{self.within.name}{against}]"


class Contrast(Frozen):
    """A rate or measure under one condition beside another: ``base``, ``treated`` and ``clean``.

    ``of`` is the full name of a rate or measure, ``tag`` the tag that tells the arms apart.
    ``change`` gives the difference and every convention of relative change by name (retention
    after / before; drop (before - after) / before; and over ``after``, as one paper prints it),
    and for a rate the exact McNemar test on rows of the same task, model and repeat.
    ``recovered_share`` gives (treated - base) / (clean - base).
    """

    id: str
    title: str
    of: str
    kind: Literal["change", "recovered_share"] = "change"
    tag: str = "condition"
    base: Tag
    treated: Tag
    clean: Tag | None = None
    family: str = ""


class Composite(Frozen):
    """A rate put together from rates, each weighted by the rows in its denominator.

    For example a multi-agent score: infeasible rows that were stopped, and feasible rows that
    another arm solved. Value = sum of n * rate / sum of n over ``parts`` (full names of rates);
    ``complement`` names those that enter as 1 - rate.
    """

    id: str
    title: str
    parts: tuple[str, ...]
    complement: tuple[str, ...] = ()


class Front(Frozen):
    """A Pareto front over models: ``up`` names rates of which more is better, ``down`` less.

    ``ties``: ``weak``: as good everywhere and better somewhere dominates; ``strict``: only better
    everywhere does, so that ties stay on the front.
    """

    id: str
    title: str
    up: tuple[str, ...]
    down: tuple[str, ...]
    over: str = "model"
    ties: Literal["weak", "strict"] = "weak"
