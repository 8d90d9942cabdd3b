"""``labelkit verify``: a release checked against its own files, by somebody who has nothing else.

Three questions: are the files the ones that were published, do both forms of every table say the
same, and does every number follow from the rows. A file that was changed by one character is
named with the line, or the place in it, that differs.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import Any

import pyarrow as pa

from labelkit.digest import canonical_json
from labelkit.errors import LabelkitError
from labelkit.workflows.release.checksums import files_of, read_sums, sha256
from labelkit.workflows.release.difference import same_number
from labelkit.workflows.release.gold import truth
from labelkit.workflows.release.load import HEAD, head_of, read_json
from labelkit.workflows.release.results import recomputing, results
from labelkit.workflows.release.tables import TABLES, parquet_rows, read_table

_MOST = 200


@dataclass(frozen=True)
class Fault:
    """Something that is not as published: the file, the place in it and what is wrong."""

    file: str
    place: str
    what: str


@dataclass(frozen=True)
class Verdict:
    """What verifying found. ``numbers`` is how many values of ``results.json`` were compared."""

    faults: tuple[Fault, ...]
    files: int
    numbers: int

    @property
    def intact(self) -> bool:
        """Whether everything is as published and follows from the rows."""
        return not self.faults


def verify(folder: Path) -> Verdict:
    """Check a release; stops at 200 faults.

    Raises:
        FormatError: the folder is no release at all, or one of another format.
    """
    sums = read_sums(folder)
    faults = list(_files(folder, sums))
    if not any(fault.file == HEAD for fault in faults):
        head_of(folder)
    faults += [fault for name in TABLES for fault in _twins(folder, name)]
    compared = 0
    try:
        recomputed = _recomputed(folder)
    except (LabelkitError, KeyError, TypeError, ValueError) as error:
        # The files no longer load: nothing can be recomputed, and the reason names the place.
        faults.append(Fault("results.json", "", f"cannot be recomputed: {error}"))
    else:
        stated = read_json(folder / "results.json")
        compared = sum(1 for _ in _leaves(stated))
        faults += list(_numbers(stated, recomputed, ""))
    return Verdict(tuple(faults[:_MOST]), len(sums), compared)


def _files(folder: Path, sums: Mapping[str, str]) -> Iterator[Fault]:
    present = set(files_of(folder))
    for name in sorted(sums.keys() - present):
        yield Fault(name, "", "is missing")
    for name in sorted(present - sums.keys()):
        yield Fault(name, "", "is not part of the release")
    for name in sorted(present & sums.keys()):
        if sha256(folder / name) != sums[name]:
            yield Fault(name, "", "is not the published file (SHA-256 differs)")


def _twins(folder: Path, name: str) -> Iterator[Fault]:
    """Compare the two forms of a table row by row; the first difference tells where."""
    lines = folder / f"{name}.jsonl"
    if not lines.exists():
        return
    number = 0
    try:
        # As bytes: a byte that is no UTF-8 is a difference in its line like any other.
        with lines.open("rb") as text:
            rows = parquet_rows(folder, name)
            for number, (line, row) in enumerate(zip_longest(text, rows), start=1):
                if line is None or row is None or line != f"{canonical_json(row)}\n".encode():
                    what = f"differs from row {number} of {name}.parquet"
                    yield Fault(lines.name, f"line {number}", what)
                    return
    except (pa.ArrowException, OSError, ValueError) as error:
        yield Fault(f"{name}.parquet", f"row {number + 1}", f"cannot be read ({error})")


def _recomputed(folder: Path) -> dict[str, Any]:
    with recomputing(folder) as (store, loaded):
        numbers = results(store, loaded)
        known = truth(store, loaded.rubric, loaded.samples)
    for name, rows in (("gold", known.gold), ("disagreements", known.disagreements)):
        numbers[f"({name})"] = [json.loads(canonical_json(row)) for row in rows]
        numbers[f"({name} stated)"] = list(read_table(folder, name))
    return numbers


def _numbers(stated: Any, found: Any, place: str) -> Iterator[Fault]:
    """Every value that differs, by its path."""
    if place == "":
        found = dict(found)
        for name in ("gold", "disagreements"):
            yield from _rows(name, found.pop(f"({name} stated)"), found.pop(f"({name})"))
    if isinstance(stated, dict) and isinstance(found, dict):
        for key in sorted(stated.keys() | found.keys()):
            yield from _numbers(stated.get(key), found.get(key), f"{place}.{key}".lstrip("."))
    elif isinstance(stated, list) and isinstance(found, list) and len(stated) == len(found):
        for number, (one, other) in enumerate(zip(stated, found, strict=True)):
            yield from _numbers(one, other, f"{place}[{number}]")
    elif not same_number(stated, found):
        yield Fault("results.json", place, f"says {stated!r}, the rows give {found!r}")


def _rows(name: str, stated: list[Any], found: list[Any]) -> Iterator[Fault]:
    for number, (one, other) in enumerate(zip_longest(stated, found), start=1):
        if one != other:
            yield Fault(f"{name}.jsonl", f"line {number}", f"the labels give {other!r}")
            return


def _leaves(value: Any) -> Iterator[Any]:
    if isinstance(value, dict):
        for item in value.values():
            yield from _leaves(item)
    elif isinstance(value, list):
        for item in value:
            yield from _leaves(item)
    else:
        yield value
