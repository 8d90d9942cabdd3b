"""Labels of people as they came in by submission: by item, and as columns for statistics."""

from __future__ import annotations

from sqlalchemy import func, select

from labelkit.domain.label import Label
from labelkit.store.engine import Store
from labelkit.store.labels import LABELS, read_label
from labelkit.store.review_tables import ANNOTATION, SUBMISSION
from labelkit.store.tables import LABEL


def last_labels(store: Store, assignment: int) -> list[Label]:
    """Return the labels of the last submission of an assignment, in order of question."""
    last = (
        select(func.max(SUBMISSION.c.id))
        .where(SUBMISSION.c.assignment_id == assignment)
        .scalar_subquery()
    )
    ids = select(ANNOTATION.c.label_id).where(ANNOTATION.c.submission_id == last)
    query = LABELS.where(LABEL.c.id.in_(ids)).order_by(LABEL.c.id)
    with store.reading() as connection:
        return [read_label(row) for row in connection.execute(query)]
