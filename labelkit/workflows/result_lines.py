"""What every reader of a result file counts, and which of its lines are worth a look.

A result file comes from outside: it may be partial, repeated, out of order, mixed with lines of
others, or no result file at all. Nothing here knows what the lines are for.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from labelkit.models.batch_lines import ResultLine, read_results
from labelkit.workflows.batch_ids import Found, read_id


@dataclass
class LineCounts:
    """What came of a result file, line by line.

    ``known`` rows were there already and ``repeated`` lines repeat an id of the same file.
    ``foreign`` lines belong elsewhere, or are no results, as ``unreadable`` of them are; ``stale``
    ones answer a request that is not asked this way any more. ``unanswered`` lines say that nobody
    was asked (expired, rate limit): their rows stay owed.
    """

    lines: int = 0
    known: int = 0
    repeated: int = 0
    foreign: int = 0
    unreadable: int = 0
    stale: int = 0
    unanswered: Counter[str] = field(default_factory=Counter)

    def not_answered(self, line: ResultLine) -> None:
        """Count a line that says that nobody was asked."""
        why = f"HTTP {line.status}" if line.status is not None else line.error[:60]
        self.unanswered[why] += 1


def usable(path: Path, whos: Container[str], counts: LineCounts) -> Iterator[Found]:
    """Yield the lines whose id names one of ``whos``, each id once; of several the good one.

    Raises:
        InputError: when the file cannot be read.
    """
    good = {line.custom_id for line in read_results(path) if line is not None and line.good}
    seen: set[str] = set()
    for line in read_results(path):
        counts.lines += 1
        found = None if line is None else read_id(line)
        if line is None or found is None or found.who not in whos:
            counts.foreign += 1
            counts.unreadable += line is None
        elif line.custom_id in seen or (line.custom_id in good and not line.good):
            counts.repeated += 1
        else:
            seen.add(line.custom_id)
            yield found
