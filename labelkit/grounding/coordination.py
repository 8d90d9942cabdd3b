"""What else stands in a list: the members of a set, and a name that is none of them.

"Lithium, digoxin and phenytoin" for a set without phenytoin says more than was returned. Only
plain words in the very places of the list count: after a comma, an "and", or a bullet. What is
said about a member (brackets, clauses, doses) is passed over, so that a doubt never counts.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

_MARK = r"(?:,\s?(?:and |or |as well as )?| and | or | as well as | plus | & |;\s?)(?:also |with )?"
_BULLET = r"\s*\n[ \t]*(?:[-*\u2022]|\d{1,2}[.)])[ \t]+"
_ITEM = r"(?P<item>[^\W\d_][^\W_]{4,30})"
# A name of more words is known by its capitals.
_NAME = r"(?P<item>[A-Z][\w'-]{1,20}(?: [A-Z][\w'-]{1,20}){1,2})"
_Q = r"[*_`\"']{0,2}"
_AFTER = re.compile(rf"{_Q}(?P<mark>{_MARK}|{_BULLET}){_Q}{_ITEM}")
_AFTER_NAME = re.compile(rf"{_Q}(?P<mark>{_MARK}|{_BULLET}){_Q}{_NAME}")
_ENDS = re.compile(rf"{_Q}(?:[.;,!\]]|$|\n| and | or )")
_JOINED = re.compile(r"\band\b|\bor\b|&")
_MOST = 100
_COMMA = re.compile(rf"{_Q},\s?{_Q}")
_GOES_ON = re.compile(rf"{_Q},?\s?(?:and|or|&)\s")
_PLAIN_WORDS = frozenset((
    "others", "other", "another", "among", "including", "respectively", "according", "based",
    "please", "consult", "avoid", "caution", "should", "these", "those", "there", "which", "while",
    "where", "listed", "given", "returned", "shown", "above", "below", "total", "items", "three",
    "seven", "eight", "whereas", "though", "although", "however", "therefore", "hence", "either",
    "neither", "nothing", "together", "overall", "because", "since", "about", "after", "before",
    "confirmed", "severe", "moderate", "minor", "major", "unordered", "ordered", "thanks", "cheers",
))  # fmt: skip


_SENTENCE = re.compile(r"[.;!?\n]|,? (?:but|while|whereas|though|although|however)\b")
_TOLD_APART = re.compile(
    r"[\W_]{0,3}(?:(?:is|are|was|were|does|do|did|has|have|can|should|need)(?:n't| not)\b|cannot\b"
    r"|(?:is|are|was|were) (?:no |fine|safe|ok\b|okay|harmless|unaffected|excluded|all right))"
)


def told_apart(text: str, members: Sequence[tuple[int, int]]) -> bool:
    """Whether a sentence denies something of one member alone: "bleach is not a problem".

    What is denied of all of them together is the way the list is put, not a member left out.
    """
    alone = 0
    for start, end in members:
        if not _TOLD_APART.match(text, end):
            continue
        left = max(
            (m.end() for m in _SENTENCE.finditer(text, max(0, start - 200), start)), default=0
        )
        stop = _SENTENCE.search(text, end)
        right = stop.start() if stop else len(text)
        alone += not any(left <= other < right for other, _ in members if other != start)
    return 0 < alone < len(members)


def others_named(
    text: str, members: Sequence[tuple[int, int]], given: str
) -> list[tuple[int, int]]:
    """Return the places of further list items that are no members and were not given.

    Args:
        text: the folded answer.
        members: the places where members of the set stand.
        given: everything the model was given, lower-cased.

    Returns:
        Ranges of ``text``, in order.
    """
    found: list[tuple[int, int]] = []
    taken = sorted(members)[:_MOST]
    starts = {start for start, _ in taken}
    ends = [end for _, end in taken]
    names = all(" " in text[start:end] for start, end in taken)
    after = _AFTER_NAME if names else _AFTER
    gaps = (text[e:s] for (_, e), (s, _) in pairwise(taken))
    joined = not names and any(_JOINED.search(gap) for gap in gaps)
    while ends and len(found) < _MOST:
        match = after.match(text, ends.pop())
        if match is None:
            continue
        place, word = match.span("item"), match["item"].lower()
        if place[0] in starts or not _ENDS.match(text, place[1]) or word in _PLAIN_WORDS:
            continue
        if word.endswith("ly") or word.removesuffix("s") in given:
            continue
        goes_on = _GOES_ON.match(text, place[1]) or any(
            _COMMA.fullmatch(text, place[1], start) for start in starts if 0 < start - place[1] < 6
        )
        if match["mark"].strip() == "," and joined and not goes_on:
            # "Olives and basil, enjoy!": what follows the "and" of a list is no item of it.
            continue
        found.append(place)
        starts.add(place[0])
        ends.append(place[1])
    return sorted(found)
