"""Version numbers that follow what changed: a label major, new rows minor, anything else patch."""

from __future__ import annotations

import re

from labelkit.errors import InputError
from labelkit.workflows.release.difference import Difference

_FORM = re.compile(r"(\d+)\.(\d+)\.(\d+)")
FIRST = "1.0.0"


def next_version(earlier: str, changes: Difference) -> str:
    """Return the version after ``earlier``.

    A label that changed or went away (or its gold) makes published numbers wrong: major. Rows or
    labels that came in addition: minor. Else, when something differs at all: patch.

    Raises:
        InputError: ``earlier`` is not of the form 1.0.0.
    """
    match = _FORM.fullmatch(earlier)
    if match is None:
        raise InputError(f"the earlier release has version {earlier!r}, which is not of form 1.0.0")
    major, minor, patch = map(int, match.groups())
    if changes.breaking:
        return f"{major + 1}.0.0"
    if changes.added:
        return f"{major}.{minor + 1}.0"
    return f"{major}.{minor}.{patch + 1}" if changes.other else earlier
