"""The trace store (SQLite, or PostgreSQL by URL): content-addressed, append-only, idempotent.

``Store.open`` gives a thin object; everything else is a function that takes it:

tasks        add_tasks, tasks, task
traces       add_traces, rows, row, trace
raters       add_rater, raters, add_rubric, rubric, rubrics
labels       commit_labels, append_label, labels_of, label_counts
pending      pending, pending_rows, pending_ids: the work list of a rater
claims       rows in the hands of one of several workers (PostgreSQL)
completions  completions (the cache), exchanges, usage (the ledger)
endpoints    learn, learnt: what an endpoint takes
growth       growth: has anything been added since?
reports      trace_table, label_table, counts: columns for statistics
people       who works in the review app
samples      frozen draws and their items
leases       who has which item in hands
submissions  what people submit, drafts
annotations  labels of people by sample, as columns
adjudications decisions, and who has seen what
selection    Selection: which traces are meant
"""

from labelkit.store.engine import Store
from labelkit.store.inserting import Added
from labelkit.store.selection import EVERYTHING, Selection

__all__ = ["EVERYTHING", "Added", "Selection", "Store"]
