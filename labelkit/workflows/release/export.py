"""``labelkit export``: gates first, then the folder, written beside its place and moved whole.

The same store gives the same bytes: no clock, no path, no row number enters a file. A run that is
killed leaves no half release behind under the name that was asked for.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from labelkit.catalog.templates import render_system
from labelkit.domain.rubric import Rubric
from labelkit.domain.sample import Sample
from labelkit.errors import InputError
from labelkit.judging.prompt import answer_format
from labelkit.store import Store
from labelkit.workflows.progress import Progress, Silent
from labelkit.workflows.release.checksums import write_sums
from labelkit.workflows.release.contents import (
    Contents,
    contents,
    decision_records,
    label_rows,
    moment,
    rater_rows,
    review_records,
    sampling,
    task_rows,
    trace_rows,
)
from labelkit.workflows.release.describe import croissant, readme, terms_notes
from labelkit.workflows.release.difference import difference
from labelkit.workflows.release.figures import draw
from labelkit.workflows.release.gates import Scan, licence_lines, scan, texts_of
from labelkit.workflows.release.gold import truth
from labelkit.workflows.release.load import FORMAT, HEAD, head_of
from labelkit.workflows.release.placing import whole_folder
from labelkit.workflows.release.results import recomputing, results
from labelkit.workflows.release.tables import read_table, write_table
from labelkit.workflows.release.versions import next_version
from labelkit.workflows.release.working_place import clear_leftovers

RESULTS = "results.json"
NO_DATE = "1970-01-01"


@dataclass(frozen=True)
class Wanted:
    """What the exporter says about a release.

    ``name`` default: the rubric's name. ``version`` default: 1.0.0, or what follows from
    ``previous``, the folder of the earlier release. ``accept_findings`` goes on although the scan
    found something.
    """

    name: str | None = None
    version: str | None = None
    previous: Path | None = None
    url: str | None = None
    accept_findings: bool = False


@dataclass(frozen=True)
class Exported:
    """What was written.

    ``undecided``: disagreements of people that nobody has decided. ``withheld``: the task sets
    whose texts stayed out, so that nobody can go on working with the release. ``cleared``: hidden
    folders beside it that killed exports had left and that are gone now.
    """

    folder: Path
    version: str
    rows: Mapping[str, int]
    licences: tuple[str, ...]
    scan: Scan
    undecided: int
    withheld: tuple[str, ...] = ()
    cleared: tuple[str, ...] = ()


class FindingsError(InputError):
    """The texts of a release hold what looks like personal data or secrets."""


def export(
    store: Store,
    rubric: Rubric,
    out: Path,
    *,
    sample: Sample | None = None,
    wanted: Wanted | None = None,
    progress: Progress | None = None,
) -> Exported:
    """Write a release of everything labelled under a rubric, or of one sample's frame.

    Args:
        store: an open store.
        rubric: the rubric, in the version that was labelled under.
        out: a folder that does not exist yet, or is empty.
        sample: only what belongs to this sample.
        wanted: name, version, and what the exporter accepts.
        progress: hears of every table.

    Raises:
        InputError: nothing was labelled, or the folder is not free.
        FindingsError: the scan found something and nobody said that it may go out.
    """
    asked, listener = wanted or Wanted(), progress or Silent()
    cleared = clear_leftovers(out)
    with whole_folder(out) as folder:
        found = contents(store, rubric, sample)
        if not found.raters:
            raise InputError(
                f"nothing was labelled under rubric {rubric.name} (digest {rubric.digest[:12]}); "
                f"run `labelkit judge --rubric {rubric.name}` first"
            )
        written = _write(found, folder, asked, listener)
    return Exported(folder=out, cleared=cleared, **written)


def _write(found: Contents, folder: Path, asked: Wanted, listener: Progress) -> dict[str, Any]:
    stage = "export"
    listener.begin(stage, None)
    rows = _tables(found, folder, listener, stage)
    _write_rubrics(found, folder / "rubric")
    write_json(folder / "sampling.json", sampling(found))
    head = _head(found, folder, asked)
    write_json(folder / HEAD, head)
    inspected = scan(_texts(folder))
    _refuse_findings(inspected, asked)
    write_json(folder / "privacy.json", _privacy(inspected))
    with recomputing(folder, folder.parent) as (copy, loaded):
        known = truth(copy, loaded.rubric, loaded.samples)
        rows["gold"] = write_table(folder, "gold", known.gold)
        rows["disagreements"] = write_table(folder, "disagreements", known.disagreements)
        numbers = results(copy, loaded)
    write_json(folder / RESULTS, numbers)
    head |= {"version": _version(folder, head, asked)}
    write_json(folder / HEAD, head)
    _describe(found, folder, head, numbers, known.undecided, inspected)
    write_sums(folder)
    listener.end(stage)
    return {
        "version": head["version"],
        "rows": rows,
        "licences": tuple(licence_lines(found.terms.values())),
        "scan": inspected,
        "undecided": known.undecided,
        "withheld": tuple(name for name in sorted(found.terms) if found.withheld(name)),
    }


def _tables(found: Contents, folder: Path, listener: Progress, stage: str) -> dict[str, int]:
    records: dict[str, Iterator[Mapping[str, Any]]] = {
        "tasks": task_rows(found),
        "traces": trace_rows(found),
        "raters": rater_rows(found),
        "labels": label_rows(found),
        "reviews": (_plain(record) for record in review_records(found)),
        "decisions": (_plain(record) for record in decision_records(found)),
    }
    rows = {}
    for name, stream in records.items():
        rows[name] = write_table(folder, name, stream)
        listener.advance(stage, rows[name])
    return rows


def _plain(record: Any) -> dict[str, Any]:
    """A record with its times as texts of one length."""
    row: dict[str, Any] = record.model_dump()
    for name in ("created_at", "leased_at", "done_at"):
        if row.get(name) is not None:
            row[name] = moment(row[name])
    for act in row.get("acts", ()):
        act["created_at"] = moment(act["created_at"])
    return row


def _write_rubrics(found: Contents, folder: Path) -> None:
    folder.mkdir()
    for digest, rubric in found.rubrics.items():
        name = "rubric.json" if digest == found.rubric.digest else f"rubric-{digest[:12]}.json"
        write_json(folder / name, rubric.beyond_defaults())
    (folder / "guideline.md").write_text(found.rubric.guideline, encoding="utf-8", newline="\n")
    for framing in found.rubric.framings:
        text = render_system(found.rubric, framing, answer_format(found.rubric, framing))
        (folder / f"prompt-{framing.name}.md").write_text(text, encoding="utf-8", newline="\n")


def _head(found: Contents, folder: Path, asked: Wanted) -> dict[str, Any]:
    days = (row["created_at"][:10] for row in read_table(folder, "labels"))
    rubric = found.rubric
    return {
        "format": FORMAT,
        "name": asked.name or f"{rubric.name}-labels",
        "version": asked.version or "1.0.0",
        "url": asked.url or f"urn:labelkit:{rubric.name}:{rubric.digest[:12]}",
        # The day of the last label: the release says when its data is from, not when it was run.
        "date": max(days, default=NO_DATE),
        "rubric": {"name": rubric.name, "version": rubric.version, "digest": rubric.digest},
        "samples": [sample.id for sample in found.samples],
        "terms": [found.terms[name].model_dump() for name in sorted(found.terms)],
    }


def _version(folder: Path, head: Mapping[str, Any], asked: Wanted) -> str:
    if asked.version is not None or asked.previous is None:
        return str(head["version"])
    earlier = head_of(asked.previous)["version"]
    return next_version(earlier, difference(asked.previous, folder))


def _texts(folder: Path) -> Iterator[tuple[str, str, str]]:
    for table, key in (("tasks", "digest"), ("traces", "digest"), ("labels", "trace")):
        for row in read_table(folder, table):
            yield from texts_of(table, row, key)
    for row in read_table(folder, "decisions"):
        yield from texts_of("decisions", row, "trace")


def _refuse_findings(inspected: Scan, asked: Wanted) -> None:
    if not inspected.counts or asked.accept_findings:
        return
    counts = ", ".join(f"{number} {kind}" for kind, number in inspected.counts.items())
    first = inspected.findings[0]
    raise FindingsError(
        f"the texts hold what looks like personal data or secrets ({counts}); the first is "
        f"{first.masked} in {first.table} {first.row[:12]}; look at them, and if they may go out "
        "(invented people, for example), export again with --accept-findings"
    )


def _privacy(inspected: Scan) -> dict[str, Any]:
    return {
        "counts": dict(inspected.counts),
        "findings": [
            {"kind": f.kind, "table": f.table, "row": f.row, "masked": f.masked}
            for f in inspected.findings
        ],
    }


def _describe(
    found: Contents,
    folder: Path,
    head: Mapping[str, Any],
    numbers: Mapping[str, Any],
    undecided: int,
    inspected: Scan,
) -> None:
    drawn = draw(folder / "figures", numbers)
    notes = terms_notes([found.terms[name] for name in sorted(found.terms)])
    notes.append("People are named by pseudonyms; times are UTC.")
    notes.append(f"Disagreements of people without a decision: {undecided}.")
    kinds = ", ".join(f"{number} {kind}" for kind, number in inspected.counts.items()) or "nothing"
    notes.append(f"Looked for personal data and secrets, found: {kinds} (see `privacy.json`).")
    text = readme(folder, head, found.rubric, numbers, notes, drawn)
    (folder / "README.md").write_text(text, encoding="utf-8", newline="\n")
    write_json(folder / "croissant.json", croissant(folder, head, found.rubric))


def write_json(path: Path, value: Any) -> None:
    """Write indented JSON with sorted keys."""
    text = json.dumps(value, ensure_ascii=True, sort_keys=True, indent=1, allow_nan=False)
    path.write_text(text + "\n", encoding="utf-8", newline="\n")
