"""How a cross check names a mistake: where it stands, what is wrong, how to mend it."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Iterator

from labelkit.catalog.yaml_nodes import Loc

Mistake = tuple[Loc, str, str]


def twice(names: Iterable[str], loc: Loc, noun: str, *last: str) -> Iterator[Mistake]:
    """Yield every name that was given before, spelling folded."""
    seen: set[str] = set()
    for i, name in enumerate(names):
        # A judge's spelling is folded: names that differ only in case or dash cannot be told apart.
        folded = re.sub(r"[\s_-]+", " ", name.casefold())
        if folded in seen:
            yield (*loc, i, *last), f"the {noun} {name!r} is given twice", "rename or remove one"
        seen.add(folded)


def unknown(name: str, known: Iterable[str], loc: Loc, noun: str) -> Iterator[Mistake]:
    """Yield a mistake with the nearest known name, unless ``name`` is known."""
    listed = list(known)
    if name in listed:
        return
    near = difflib.get_close_matches(name, listed, n=1)
    guess = f"did you mean {near[0]!r}? " if near else ""
    yield loc, f"unknown {noun} {name!r}", f"{guess}known: {', '.join(listed) or 'none'}"
