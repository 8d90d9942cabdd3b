"""The default reading of "the run made the author's calls": the world ends up as it should.

Every wanted write is one successful call with the same arguments, every wanted read one executed
call; each call serves one wanted call only. Declared orders hold. Further reads are free, further
successful writes are not, and neither is a call of a function that does not exist. Calls that
failed changed nothing: they are counted and cost nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from labelkit.rules.error_handling_arguments import same_arguments
from labelkit.rules.error_handling_calls import Made, Unit, Wanted

MOST_WANTED = 200
_MOST_STEPS = 20_000


@dataclass(frozen=True, slots=True)
class Finding:
    """What became of one unit: no problem is a match. ``open`` says why nothing was concluded."""

    problems: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()
    extra_reads: int = 0
    extra_writes: int = 0
    open: str | None = None


class _TooManyStepsError(Exception):
    """The search for an assignment was given up."""


def judge_strictly(unit: Unit) -> Finding:
    """Compare the calls of one unit with the wanted ones."""
    core = [w for w in unit.wanted if not w.call.supporting]
    supporting = [w for w in unit.wanted if w.call.supporting]
    if len(core) > MOST_WANTED:
        return Finding(open="too_many_calls")
    options = {w.place: _options(w, unit.made) for w in unit.wanted}
    order = _in_order(core)
    if order is None:
        return Finding(open="circular_order")
    try:
        taken = _assign(order, options, ordered=True)
        unordered = taken if taken is not None else _assign(order, options, ordered=False)
    except _TooManyStepsError:
        return Finding(open="too_many_calls")
    problems = list(_missing(core, options, unit))
    if taken is None and not problems:
        problems.append("wrong_order" if unordered is not None else "missing_call")
    used = set((taken or unordered or {}).values())
    flags = []
    for wanted in supporting:
        free = [m for m in options[wanted.place] if m.place not in used]
        used.update(m.place for m in free[:1])
        if not options[wanted.place]:
            flags.append("supporting_call_missing")
    rest = [m for m in unit.made if m.place not in used]
    if taken is None and unordered is None:
        rest = _surplus(core, options, unit.made)
    writes = sum(m.changed_the_world for m in rest)
    reads = sum(m.executed and m.effect == "read" for m in rest)
    if writes:
        problems.append("extra_write")
    if unit.unknown:
        problems.append("unknown_function")
    return Finding(tuple(problems), tuple(flags), reads, writes, _unsettled(rest, problems))


def _unsettled(rest: Sequence[Made], problems: Sequence[str]) -> str | None:
    """A further call of a tool whose effect nobody declared may have changed the world."""
    unclear = any(m.effect is None and m.succeeded for m in rest)
    return "effects_unknown" if unclear and not problems else None


def _options(wanted: Wanted, made: Sequence[Made]) -> list[Made]:
    """The calls that could serve a wanted one, in order."""
    return [m for m in made if _same_call(wanted, m) and _counts(wanted, m)]


def _same_call(wanted: Wanted, made: Made) -> bool:
    if made.name != wanted.call.name or made.call.parsed is None:
        return False
    if wanted.call.turn is not None and made.turn != wanted.call.turn:
        return False
    return same_arguments(wanted.call.arguments, made.call.parsed, wanted.tool)


def _counts(wanted: Wanted, made: Made) -> bool:
    return made.succeeded if wanted.writes else made.executed


def _in_order(core: Sequence[Wanted]) -> list[Wanted] | None:
    """Return the wanted calls, each after those it must follow; None for a circle."""
    left = {w.place: w for w in core}
    out: list[Wanted] = []
    while left:
        ready = [w for w in left.values() if not any(place in left for place in w.call.after)]
        if not ready:
            return None
        for wanted in ready:
            del left[wanted.place]
        out.extend(ready)
    return out


def _assign(
    order: Sequence[Wanted], options: Mapping[int, Sequence[Made]], *, ordered: bool
) -> dict[int, int] | None:
    """Give every wanted call a made one of its own; None where that cannot be done.

    Raises:
        _TooManyStepsError: the search is not worth going on.
    """
    taken: dict[int, int] = {}
    used: set[int] = set()
    # One iterator of choices per wanted call that has been reached: a search without recursion.
    stack: list[Iterator[Made]] = []
    steps = 0
    while len(taken) < len(order):
        wanted = order[len(taken)]
        if len(stack) == len(taken):
            stack.append(iter(options[wanted.place]))
        steps += 1
        if steps > _MOST_STEPS:
            raise _TooManyStepsError
        earliest = max((taken.get(p, -1) for p in wanted.call.after), default=-1) if ordered else -1
        chosen = next((m for m in stack[-1] if m.place not in used and m.place > earliest), None)
        if chosen is not None:
            taken[wanted.place] = chosen.place
            used.add(chosen.place)
            continue
        stack.pop()
        if not stack:
            return None
        used.discard(taken.pop(order[len(taken) - 1].place))
    return taken


def _missing(
    core: Sequence[Wanted], options: Mapping[int, Sequence[Made]], unit: Unit
) -> Iterator[str]:
    """Why wanted calls have nothing that could serve them, each reason once."""
    reasons = (_why(w, unit.made) for w in core if not options[w.place])
    yield from dict.fromkeys(reasons)


def _why(wanted: Wanted, made: Sequence[Made]) -> str:
    alike = [m for m in made if _same_call(wanted, m)]
    if any(m.executed for m in alike):
        return "failed_call"
    if alike:
        return "unexecuted_call"
    return "wrong_arguments" if any(m.name == wanted.call.name for m in made) else "missing_call"


def _surplus(
    core: Sequence[Wanted], options: Mapping[int, Sequence[Made]], made: Sequence[Made]
) -> list[Made]:
    """What is left over where not every wanted call could be served: each takes its first."""
    used: set[int] = set()
    for wanted in core:
        free = next((m.place for m in options[wanted.place] if m.place not in used), None)
        if free is not None:
            used.add(free)
    return [m for m in made if m.place not in used]
