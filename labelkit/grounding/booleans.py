"""A yes or a no said in other words than yes, no, or the name of the field.

"Roaming isn't included", "parking is prohibited", "the contract remains unsigned", a tick in a
cell. Read only where the plain signals are missing. The words of a group say one thing or its
opposite; a field that is itself named by a negative word is left alone.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Literal

from labelkit.grounding.wording import polarity

Said = Literal["yes", "no"]

_GROUPS = (
    ("allowed permitted accepted welcome allow permit", "prohibited forbidden banned disallowed"),
    ("included covered bundled include", "excluded exclude"),
    ("enabled active activated", "disabled inactive deactivated"),
    ("open", "closed shut"),
    ("available supported offered", "unavailable unsupported"),
    ("valid", "invalid expired void"),
    ("required mandatory compulsory needed necessary", "optional voluntary"),
    ("paid settled", "unpaid outstanding"),
)
_OF_A_NOUN = (0, 1, 2, 4)
_NEGATIVE = frozenset(
    [
        "restricted",
        "blocked",
        "prohibited",
        "banned",
        "disabled",
        "excluded",
        "closed",
        "expired",
        "revoked",
        "denied",
        "failed",
        "missing",
        "overdue",
        "exempt",
        "free",
        "deprecated",
        "locked",
        "suspended",
        "cancelled",
        "canceled",
        "rejected",
        "limited",
        "optional",
        "unpaid",
        "inactive",
        "invalid",
        "contraindicated",
        "barred",
        "forbidden",
    ]
)
_SENTENCE = re.compile(r"[.;!?](?:\s|$)|\n|\s-\s|\u2014")
_CLAUSE = re.compile(
    r"[.;!?](?:\s|$)|\n|\u2014|,? (?:but|while|whereas|although|though|however)\b|, and "
)
_REFUSED = re.compile(r"(?:\b(?:not|no longer|never|cannot|neither|nor)\b|n't\b)[^.;,\n]{0,20}$")
_OPEN = re.compile(
    r"\b(?:or not|whether|if|unclear|unsure|(?:not|n't) (?:say|tell|sure)|hard to say)\b|\?"
)
_BARE_NOT = re.compile(r"^\W{0,4}not (?:\w+ ){0,3}\W{0,3}")
_TICKS = re.compile(
    r"^\W*(?:(?P<yes>[\u2705\u2714\u2611\u2713]|yes|true|included|enabled|available)"
    r"|(?P<no>[\u274c\u2717\u2718\u2716\u2612]|no|false|not \w+|none))(?!\w)"
)
_UNDONE = ("un", "in", "im", "dis", "non-", "non")


@lru_cache(maxsize=256)
def _predicates(words: tuple[str, ...]) -> tuple[re.Pattern[str] | None, re.Pattern[str] | None]:
    """Expressions of what affirms and of what denies the field that ``words`` name."""
    mine = [g for g in _GROUPS if any(w in g[0].split() for w in words)]
    undone = [f"{u}{w}" for w in words if len(w) >= 4 for u in _UNDONE]
    if not mine and not any(w.endswith("ed") for w in words):
        mine = [_GROUPS[at] for at in _OF_A_NOUN]
    if any(w in _NEGATIVE for w in words):
        mine = []
    good = " ".join(g[0] for g in mine).split()
    bad = " ".join(g[1] for g in mine).split() + undone
    return _any_of(good), _any_of(bad)


def _any_of(words: Sequence[str]) -> re.Pattern[str] | None:
    if not words:
        return None
    body = "|".join(re.escape(w) for w in sorted(words, key=len, reverse=True))
    return re.compile(rf"(?<![\w-])(?:{body})(?![\w-])")


@lru_cache(maxsize=256)
def _named(words: tuple[str, ...]) -> re.Pattern[str]:
    stems = [re.escape(w[:-1] if w.endswith(("s", "y")) and len(w) > 4 else w) for w in words]
    return re.compile(rf"(?<![^\W_])(?:un|in|dis)?(?:{'|'.join(stems)})")


def other_polarity(text: str, words: tuple[str, ...]) -> Said | None:
    """Whether a sentence about the field affirms or denies it by another word; None when open."""
    if not words:
        return None
    good, bad = _predicates(words)
    named = _named(words)
    signals: set[Said] = set()
    for sentence in _SENTENCE.split(text):
        if not named.search(sentence) or _OPEN.search(sentence):
            continue
        for expression, meaning in ((good, True), (bad, False)):
            for match in expression.finditer(sentence) if expression else ():
                refused = _REFUSED.search(sentence, 0, match.start()) is not None
                signals.add("yes" if meaning is not refused else "no")
    return signals.pop() if len(signals) == 1 else None


def polarity_of(
    text: str, entity: str, others: Sequence[str], words: tuple[str, ...]
) -> Said | None:
    """Whether the field holds for ``entity``, beside other things; None when open."""
    mine, rest = entity.lower(), [o.lower() for o in others if o.lower() != entity.lower()]
    signals: set[Said] = set()
    if "|" in text:
        cell = _cell(text, mine, words)
        if cell is not None:
            return cell
    for clause in _CLAUSE.split(text):
        if not clause or not _holds(clause, mine) or any(_holds(clause, o) for o in rest):
            continue
        if _BARE_NOT.match(clause):
            signals.add("no")
        else:
            said = (
                _after_name(clause, mine)
                or polarity(clause, words)
                or other_polarity(clause, words)
            )
            if said is not None:
                signals.add(said)
    return signals.pop() if len(signals) == 1 else None


def _holds(clause: str, name: str) -> bool:
    return re.search(rf"(?<![^\W_]){re.escape(name)}(?![^\W_])", clause) is not None


def _tick(cell: str) -> Said | None:
    found = _TICKS.match(cell.strip().strip("*`_ "))
    if found is None:
        return None
    return "yes" if found["yes"] else "no"


def _after_name(clause: str, name: str) -> Said | None:
    """``Solo: no``."""
    at = clause.find(name) + len(name)
    tail = clause[at:].lstrip("*`_ ")
    return _tick(tail[1:]) if tail[:1] in {":", "="} else None


def _cell(text: str, name: str, words: tuple[str, ...]) -> Said | None:
    """The tick in the row of ``name``, or in its column and the row of the field."""
    rows = [line.strip().strip("|").split("|") for line in text.split("\n") if line.count("|") >= 2]
    if not rows:
        return None
    columns = [at for at, cell in enumerate(rows[0]) if _holds(cell, name)]
    named = _named(words) if words else None
    signals: set[Said] = set()
    for row in rows[1:]:
        if _holds(row[0], name):
            ticks = [t for cell in row[1:] if (t := _tick(cell))]
            signals.update(ticks if len(ticks) == 1 else ())
        elif (
            columns
            and columns[0] < len(row)
            and (len(rows) <= 3 or (named and named.search(row[0])))
        ):
            tick = _tick(row[columns[0]])
            if tick:
                signals.add(tick)
    return signals.pop() if len(signals) == 1 else None
