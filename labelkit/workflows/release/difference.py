"""``labelkit diff``: what an erratum changed, in labels, gold, rates and ranks."""

from __future__ import annotations

import math
from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from labelkit.errors import InputError
from labelkit.workflows.release.checksums import files_of, sha256
from labelkit.workflows.release.load import head_of, numbered, read_json

_SAME = 1e-9
_DESCRIBES = ("release.json", "README.md", "croissant.json", "privacy.json", "figures/")


@dataclass(frozen=True)
class LabelChange:
    """One label in force, or one gold label, that differs; None where it is not there."""

    trace: str
    question: str
    rater: str
    old: str | None
    new: str | None


@dataclass(frozen=True)
class NumberChange:
    """One published number that differs; ``name`` is its place in ``results.json``."""

    name: str
    old: Any
    new: Any


@dataclass(frozen=True)
class RankChange:
    """One model whose rank by a rate differs (1 is the highest value)."""

    rate: str
    group: str
    old: int | None
    new: int | None


@dataclass(frozen=True)
class Difference:
    """What differs between two releases.

    ``labels`` and ``gold``: changed or removed entries and new ones on traces that both have;
    ``new_traces`` / ``lost_traces``: how many came and went; ``files``: data files that differ.
    ``strangers``: both name people, but nobody in common. A pseudonym belongs to a store, so
    nobody can tell whose label follows whose: people's labels are not in ``labels`` then.
    """

    labels: tuple[LabelChange, ...]
    gold: tuple[LabelChange, ...]
    rates: tuple[NumberChange, ...]
    ranks: tuple[RankChange, ...]
    new_traces: int
    lost_traces: int
    files: tuple[str, ...]
    strangers: bool = False

    @property
    def breaking(self) -> bool:
        """Whether something that was published is no longer so, as labels under other names."""
        changed = any(change.old is not None for change in (*self.labels, *self.gold))
        return changed or self.lost_traces > 0 or self.strangers

    @property
    def added(self) -> bool:
        """Whether rows or labels came in addition."""
        return self.new_traces > 0 or any(c.old is None for c in (*self.labels, *self.gold))

    @property
    def other(self) -> bool:
        """Whether anything at all differs."""
        return bool(self.files)


def difference(old: Path, new: Path) -> Difference:
    """Compare two releases of the same rubric.

    Raises:
        FormatError: a folder is no release, or a file of it is missing or damaged.
        InputError: they are releases of rubrics of different names.
    """
    schemes = [head_of(folder)["rubric"]["name"] for folder in (old, new)]
    if schemes[0] != schemes[1]:
        raise InputError(
            f"{old} is a release of the rubric {schemes[0]}, {new} of {schemes[1]}; compare two "
            "releases of one rubric"
        )
    people = _people(old), _people(new)
    names = [set(one.values()) for one in people]
    strangers = all(names) and names[0].isdisjoint(names[1])
    before, after = (
        _labels(folder, leaving_out=raters if strangers else ())
        for folder, raters in zip((old, new), people, strict=True)
    )
    old_traces = {row["digest"] for row in _rows(old, "traces")}
    new_traces = {row["digest"] for row in _rows(new, "traces")}
    results = read_json(old / "results.json"), read_json(new / "results.json")
    return Difference(
        labels=tuple(_changes(before, after)),
        gold=tuple(_changes(_gold(old), _gold(new))),
        rates=tuple(_rates(*results)),
        ranks=tuple(_ranks(*results)),
        new_traces=len(new_traces - old_traces),
        lost_traces=len(old_traces - new_traces),
        files=tuple(_files(old, new)),
        strangers=strangers,
    )


Key = tuple[str, str, str, int]


def _rows(folder: Path, name: str) -> Iterator[dict[str, Any]]:
    return (row for _, row in numbered(folder, name))


def _people(folder: Path) -> dict[str, str]:
    """The names of the people who labelled, by digest of the rater."""
    rows = _rows(folder, "raters")
    return {row["digest"]: row["name"] for row in rows if row["kind"] == "person"}


def _labels(folder: Path, *, leaving_out: Container[str]) -> dict[Key, str]:
    """The label in force by trace, question, rater and repeat; a state in brackets."""
    found: dict[Key, tuple[int, str]] = {}
    for row in _rows(folder, "labels"):
        if row["rater"] in leaving_out:
            continue
        key = (row["trace"], row["question"], row["rater"], row["repeat"])
        said = row["value"] if row["value"] is not None else f"({row['outcome']})"
        if key not in found or found[key][0] < row["version"]:
            found[key] = (row["version"], said)
    return {key: said for key, (_, said) in found.items()}


def _gold(folder: Path) -> dict[Key, str]:
    return {
        (row["trace"], row["question"], row["sample"] or "", 0): row["value"]
        for row in _rows(folder, "gold")
    }


def _changes(before: Mapping[Key, str], after: Mapping[Key, str]) -> Iterator[LabelChange]:
    for key in sorted(before.keys() | after.keys()):
        old, new = before.get(key), after.get(key)
        if old != new:
            yield LabelChange(key[0], key[1], key[2], old, new)


def _rates(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[NumberChange]:
    before, after = _values(old), _values(new)
    for name in sorted(before.keys() | after.keys()):
        if not same_number(before.get(name), after.get(name)):
            yield NumberChange(name, before.get(name), after.get(name))


def _values(results: Mapping[str, Any]) -> dict[str, float | None]:
    """Every rate and measure by question, name and group."""
    return {
        f"{question['question']} {one['name']} {one['group']}": one["value"]
        for question in results["questions"]
        for kind in ("rates", "measures")
        for one in question["report"][kind]
    }


def _ranks(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[RankChange]:
    before, after = _places(old), _places(new)
    for rate, group in sorted(before.keys() | after.keys()):
        first, second = before.get((rate, group)), after.get((rate, group))
        if first != second:
            yield RankChange(rate, group, first, second)


def _places(results: Mapping[str, Any]) -> dict[tuple[str, str], int]:
    """Rank of every model by every rate; equal values share the better rank."""
    by_rate: dict[str, dict[str, float]] = {}
    for question in results["questions"]:
        for rate in question["report"]["rates"]:
            if rate["group"].startswith("model=") and rate["value"] is not None:
                by_rate.setdefault(rate["name"], {})[rate["group"]] = rate["value"]
    return {
        (rate, group): 1 + sum(other > value for other in values.values())
        for rate, values in by_rate.items()
        for group, value in values.items()
    }


def _files(old: Path, new: Path) -> Iterator[str]:
    """Data files that differ; what only describes the data follows from it and from the version."""
    data = {name for name in (*files_of(old), *files_of(new)) if not name.startswith(_DESCRIBES)}
    for name in sorted(data):
        paths = old / name, new / name
        if not all(path.exists() for path in paths) or sha256(paths[0]) != sha256(paths[1]):
            yield name


def same_number(one: Any, other: Any) -> bool:
    """Whether two values are the same; floats to nine digits, since sums may be added otherwise."""
    if isinstance(one, float) and isinstance(other, float | int) and not isinstance(other, bool):
        return math.isclose(one, other, rel_tol=_SAME, abs_tol=_SAME)
    return type(one) is type(other) and one == other
