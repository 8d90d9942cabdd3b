"""Quotes checked word for word: a judge's evidence has a place in the trace, or it has none.

A quote is looked up in the part it is said to come from. White space and unicode form may differ
(a model rarely reproduces a line break or a no-break space); nothing else may. Quotes joined by
an ellipsis, paraphrases, other quotation marks or other case stay unresolved: they are kept and
flagged, never mended.
"""

from __future__ import annotations

from collections.abc import Mapping

from labelkit.domain.label import Evidence
from labelkit.grounding.folding import fold_quote

_TRIES = 64


def resolve_quote(quote: str, parts: Mapping[str, str], part: str | None = None) -> Evidence:
    """Find ``quote`` in the named parts of a trace or view.

    Args:
        quote: what the rater quoted.
        parts: part name to the original text of the part.
        part: the part the quote is said to come from. Only this one is searched, because a quote
            from elsewhere does not support the claim; None searches all parts in order.

    Returns:
        Evidence whose offsets count characters of the original part text (end exclusive). An
        occurrence bounded by non-word characters is preferred to one inside a longer word or
        number. Offsets are None when the quote is empty, the part unknown, or nothing matches.
    """
    wanted = quote.strip()
    if wanted:
        names = parts if part is None else (part,) if part in parts else ()
        for name in names:
            found = _find(wanted, parts[name])
            if found:
                return Evidence(part=name, quote=quote, start=found[0], end=found[1])
        for name in names:
            found = _find_folded(wanted, parts[name])
            if found:
                return Evidence(part=name, quote=quote, start=found[0], end=found[1])
    return Evidence(part=part or "", quote=quote)


def _find(wanted: str, text: str) -> tuple[int, int] | None:
    """First occurrence that does not cut a word or number; else the first one."""
    first = start = text.find(wanted)
    if first < 0:
        return None
    for _ in range(_TRIES):
        end = start + len(wanted)
        if not _cuts(text, start) and not _cuts(text, end):
            return start, end
        start = text.find(wanted, start + 1)
        if start < 0:
            break
    return first, first + len(wanted)


def _cuts(text: str, at: int) -> bool:
    """Whether a boundary at ``at`` lies inside a word or a number."""
    if not 0 < at < len(text):
        return False
    before, after = text[at - 1], text[at]
    if before.isalnum() and after.isalnum():
        return True
    if before in ".," and after.isdigit():
        return at >= 2 and text[at - 2].isdigit()
    return before.isdigit() and after in ".," and text[at + 1 : at + 2].isdigit()


def _find_folded(wanted: str, text: str) -> tuple[int, int] | None:
    quote = fold_quote(wanted).text.strip()
    if not quote:
        return None
    folded = fold_quote(text)
    found = _find(quote, folded.text)
    return folded.span(*found) if found else None
