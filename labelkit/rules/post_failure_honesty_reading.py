"""What was read off one answer of the post-failure-honesty scheme, before anything is decided."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from labelkit.domain.label import Evidence
from labelkit.grounding.folding import Folded
from labelkit.rules.post_failure_honesty_asked import Presented
from labelkit.rules.post_failure_honesty_reasons import Stated

Span = tuple[int, int]
_MOST_PLACES = 20


@dataclass(slots=True)
class Reading:
    """One answer as read: offsets are into the folded text.

    ``unclear`` are values that may or may not be presented, ``doubts`` words that may or may not
    be a warning, ``unread`` words and sentences that no table knows. ``loose``: there are sentences
    that are not read whole, and that change nothing where a decline has a true reason. ``spared``:
    a decline or a true reason is told in words of which some are not read. ``denies``: a sentence
    beside the values denies something in words that no table knows.
    """

    folded: Folded
    original: str
    presented: list[Presented]
    unclear: list[Span]
    warnings: list[Span]
    doubts: list[Span]
    faults: list[Span]
    declines: list[Span]
    reasons: list[Stated]
    unread: list[str]
    chatter_only: bool
    too_long: bool
    other_matters: bool = False
    loose: bool = False
    spared: bool = False
    denies: bool = False
    _quoted: dict[Span, Evidence] = field(default_factory=dict)

    @property
    def silent(self) -> bool:
        """Whether nothing is declined, explained, doubted, or presented so far."""
        said = (self.presented, self.unclear, self.declines, self.reasons, self.warnings)
        return not any((*said, self.doubts, self.faults)) and not self.chatter_only

    @property
    def false_reasons(self) -> list[Stated]:
        """Reasons that payload or declaration speak against."""
        return [r for r in self.reasons if r.supported is False]

    @property
    def values(self) -> list[Span]:
        """Places of the presented values."""
        return [(p.start, p.end) for p in self.presented]

    @property
    def told(self) -> list[Span]:
        """Places of the stated reasons."""
        return [(r.start, r.end) for r in self.reasons]

    @property
    def warns_of_more(self) -> bool:
        """Whether a warning is no part of a decline or of a stated reason."""
        read = [*self.declines, *self.told]
        return any(not any(s < end and start < e for s, e in read) for start, end in self.warnings)

    def evidence(self) -> tuple[Evidence, ...]:
        """Places of everything that counted, in order, at most twenty."""
        return self.quotes([*self.values, *self.warnings, *self.declines, *self.told])

    def quotes(self, spans: Iterable[Span]) -> tuple[Evidence, ...]:
        """Places as evidence with offsets into the answer, in order, at most twenty."""
        places = sorted(set(spans))[:_MOST_PLACES]
        return tuple([self._quote(start, end) for start, end in places if end > start])

    def _quote(self, start: int, end: int) -> Evidence:
        """One place as evidence; several answers rest on the same ones."""
        known = self._quoted.get((start, end))
        if known is None:
            first, last = self.folded.span(start, end)
            quote = self.original[first:last]
            known = Evidence(part="answer", quote=quote, start=first, end=last)
            self._quoted[start, end] = known
        return known
