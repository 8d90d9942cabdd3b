"""Every error a user can cause, in one small tree.

    LabelkitError
    ├── InputError            a file, record or argument that was handed to labelkit
    │   ├── FormatError       a trace, task or label file that cannot be read
    │   ├── RubricError       a mistake in a rubric folder; knows file and line
    │   └── SettingsError     a mistake in labelkit.yaml; knows file and line
    ├── StoreError            the store cannot be opened, read or written
    ├── EndpointError         a model endpoint cannot be used at all (dead, wrong key)
    └── StatisticsError       ratings no statistic is defined for (a duplicate, a stray label)

The message is one clear sentence that names the thing, what was expected and the next step; the
command line prints it and leaves with exit code 2. One failed request, one unreadable verdict or
one broken record is *not* an exception: those are recorded as states of the row they belong to.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path


class LabelkitError(Exception):
    """Base of all errors that a user can cause and mend."""


class InputError(LabelkitError):
    """A file, record or argument handed to labelkit cannot be used."""


class FormatError(InputError):
    """A trace, task or label file cannot be read in any known format."""


class LocatedError(InputError):
    """A mistake at a known place of a text file.

    Args:
        path: the file.
        line: 1-based line number, or None when the whole file is meant.
        problem: what is wrong, naming the offending key or value.
        mend: what to write instead.
        others: further mistakes of the same file, one full sentence each.
    """

    def __init__(
        self,
        path: Path | str,
        line: int | None,
        problem: str,
        mend: str,
        others: Sequence[str] = (),
    ) -> None:
        place = f"{path}:{line}" if line is not None else str(path)
        self.sentence = f"{place}: {problem}; {mend}"
        self.others = tuple(others)
        super().__init__("\n".join([self.sentence, *others]))
        self.path = Path(path)
        self.line = line
        self.problem = problem
        self.mend = mend


class RubricError(LocatedError):
    """A mistake in a rubric folder."""


class SettingsError(LocatedError):
    """A mistake in labelkit.yaml."""


class StoreError(LabelkitError):
    """The store cannot be opened, read or written."""


class EndpointError(LabelkitError):
    """A model endpoint cannot be used at all."""


class StatisticsError(LabelkitError):
    """Ratings for which no statistic is defined; names the offending item, rater and value."""
