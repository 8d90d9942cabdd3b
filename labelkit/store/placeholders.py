"""Tasks and traces whose texts were withheld: rows that carry a digest, tags and labels only.

Only a store that recomputes the numbers of a release holds such rows. They cannot be told from
real ones by their digest, so they never enter a store that people work in.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from labelkit.digest import canonical_json
from labelkit.store.engine import Store
from labelkit.store.inserting import insert_new
from labelkit.store.tables import TASK, TRACE, TRACE_BODY
from labelkit.store.tasks import tag_text, task_key


def add_task_placeholders(store: Store, tasks: Sequence[Mapping[str, Any]]) -> None:
    """Add current tasks of which ``digest``, ``task_set``, ``task_id`` and ``tags`` are known."""
    now = datetime.now(UTC)
    rows = [
        {
            "digest": task["digest"],
            "task_key": task_key(task["task_set"], task["task_id"]),
            "task_set": task["task_set"],
            "task_id": task["task_id"],
            "current": True,
            "domain": tag_text(task["tags"], "domain"),
            "subset": tag_text(task["tags"], "subset"),
            "tags": task["tags"],
            "imported_at": now,
            "body": canonical_json(
                {"set": task["task_set"], "id": task["task_id"], "tags": task["tags"]}
            ),
        }
        for task in tasks
    ]
    with store.writing() as connection:
        insert_new(connection, TASK, rows)


def add_trace_placeholders(store: Store, traces: Sequence[Mapping[str, Any]]) -> None:
    """Add traces of which everything but the messages is known, as in table ``traces``."""
    now = datetime.now(UTC)
    rows, bodies = [], {}
    for trace in traces:
        known = ("model", "condition", "repeat", "state", "task_set", "task_id", "tags")
        body = canonical_json({**{name: trace[name] for name in known}, "messages": []})
        bodies[trace["digest"]] = body
        rows.append(
            {
                "digest": trace["digest"],
                "task_key": task_key(trace["task_set"], trace["task_id"]),
                "domain": tag_text(trace["tags"], "domain"),
                "subset": tag_text(trace["tags"], "subset"),
                "source": "",
                "imported_at": now,
                "body_chars": len(body),
                **{name: trace[name] for name in known},
            }
        )
    with store.writing() as connection:
        insert_new(connection, TRACE, rows)
        found = connection.execute(
            TRACE.select()
            .with_only_columns(TRACE.c.id, TRACE.c.digest)
            .where(TRACE.c.digest.in_(list(bodies)))
        ).all()
        insert_new(
            connection,
            TRACE_BODY,
            [{"trace_id": row.id, "body": bodies[row.digest]} for row in found],
        )
