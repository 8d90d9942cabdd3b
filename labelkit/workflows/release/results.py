"""Every number of a release, computed from a store that holds the release and nothing else.

Writing a release and verifying it call the same function on the same rows, read back from the
files, so a number in ``results.json`` is one that anybody can recompute.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from labelkit.domain.person import Person, Role
from labelkit.domain.rubric import Question, Rubric
from labelkit.stats.undefined import as_json
from labelkit.store import Store
from labelkit.store.reports import TraceTable, counts, trace_table
from labelkit.workflows.agreement import Scale, agreement_of
from labelkit.workflows.release.load import Loaded, load_release
from labelkit.workflows.report import report
from labelkit.workflows.review.judge_quality import judge_quality
from labelkit.workflows.review.live import agreement
from labelkit.workflows.rubric_ratings import ratings_of_rubric

_MOST_GROUPS = 200
READER = Person(id=0, name="labelkit", role=Role.ADMIN, added_at=datetime(1970, 1, 1, tzinfo=UTC))
"""Who asks: there is nobody to be blind in a store that only recomputes."""


@contextmanager
def recomputing(folder: Path, beside: Path | None = None) -> Iterator[tuple[Store, Loaded]]:
    """Load a release into a store that lives as long as the block.

    Args:
        folder: the release.
        beside: the folder to make the store in; default: the system's for temporary files.

    Raises:
        FormatError: a file is missing or damaged.
    """
    with TemporaryDirectory(prefix="labelkit-release-", dir=beside) as place:
        url = f"sqlite:///{Path(place) / 'release.db'}"
        with Store.open(url, create=True) as store:
            yield store, load_release(folder, store, placeholders=True)


def results(store: Store, loaded: Loaded) -> dict[str, Any]:
    """Return every number of the release as plain JSON values; undefined is null with a reason.

    ``questions`` holds for every labelled question its report (rates with denominators, n,
    coverage, intervals and bounds) and its agreement dossier, ``samples`` for every sample the
    agreement of people and judges and rates against them.
    """
    rubric, table = loaded.rubric, trace_table(store)
    found = counts(store)
    by = _cuts(table)
    return {
        "rubric": {"name": rubric.name, "version": rubric.version, "digest": rubric.digest},
        "counts": {
            **asdict(found),
            "traces_by_state": dict(found.traces_by_state),
            "traces_by_model": dict(found.traces_by_model),
        },
        "questions": [_question(store, rubric, question, by) for question in rubric.questions],
        "samples": [_sample(store, rubric, sample) for sample in loaded.samples],
    }


def _cuts(table: TraceTable) -> tuple[str, ...]:
    """The tags that rates are broken down by: those that tell some groups apart, not too many."""
    columns = {"model": table.model, "domain": table.domain, "condition": table.condition}
    return tuple(
        name for name, column in columns.items() if 1 < len(set(column.tolist())) <= _MOST_GROUPS
    )


def _question(
    store: Store, rubric: Rubric, question: Question, by: tuple[str, ...]
) -> dict[str, Any]:
    numbers = as_json(report(store, rubric, by=by, question=question.id))
    # The dossier below says the same in full.
    del numbers["agreement"]
    rated, remarks = ratings_of_rubric(store, rubric, question=question.id)
    groups = [group for one in rated for group in agreement_of(one, Scale())]
    return {
        "question": question.id,
        "report": numbers,
        "agreement": as_json(tuple(groups)),
        "remarks": remarks,
    }


def _sample(store: Store, rubric: Rubric, sample: str) -> dict[str, Any]:
    """People and judges on one sample, question by question."""
    questions = []
    for question in rubric.questions:
        live = agreement(store, READER, sample, question.id)
        if live.n_labels == 0:
            continue
        questions.append(
            {
                "question": question.id,
                "n_items": live.n_items,
                "n_complete": live.n_complete,
                "n_labels": live.n_labels,
                "agreement": as_json(live.groups),
                "consistency": as_json(live.consistency),
                "judges": as_json(judge_quality(store, READER, sample, question.id)),
            }
        )
    return {"id": sample, "questions": questions}
