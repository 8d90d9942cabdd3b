"""Small pages in a random order, for several processes that work on one store."""

from __future__ import annotations

from labelkit.store import Store
from labelkit.store.labels import commit_labels
from labelkit.store.pending import pending_ids, pending_pages, pending_rows
from labelkit.store.raters import add_rater
from labelkit.store.traces import PageReader, add_traces
from tests.store.values import RULE, make_label, make_trace


def filled(store: Store, number: int) -> list[str]:
    """Digests of new traces in the order of ``pending_rows``."""
    add_rater(store, RULE)
    add_traces(store, (make_trace(n, task_id=f"t{n:05d}") for n in range(number)))
    return [row.trace for row, _, _ in pending_rows(store, RULE.digest, ("q",))]


def test_pages_hold_every_row_once_and_keep_the_order_inside(store: Store) -> None:
    digests = filled(store, 300)
    drawn = [
        [row.trace for row, _, _ in page] for page in pending_pages(store, RULE.digest, ("q",))
    ]
    flat = [digest for page in drawn for digest in page]
    assert sorted(flat) == sorted(digests)
    place = {digest: n for n, digest in enumerate(digests)}
    assert all([place[d] for d in page] == sorted(place[d] for d in page) for page in drawn)
    # At least 32 pages, so that two processes seldom meet; in order once in 32! runs.
    assert len(drawn) >= 32
    assert flat != digests


def test_a_small_selection_keeps_its_order(store: Store) -> None:
    digests = filled(store, 64)
    drawn = [row.trace for page in pending_pages(store, RULE.digest, ("q",)) for row, _, _ in page]
    assert drawn == digests


def test_repeats_of_a_trace_lie_together(store: Store) -> None:
    filled(store, 70)
    (first, *_) = pending_pages(store, RULE.digest, ("q",), 3)
    assert [row.repeat for row, _, _ in first] == [0, 1, 2] * (len(first) // 3)


def test_two_readers_share_the_work_when_they_take_turns(store: Store) -> None:
    """Each takes a row and commits it a step later, as two processes would."""
    digests = filled(store, 300)
    taken = 0
    readers = [
        (row for page in pending_pages(store, RULE.digest, ("q",)) for row, _, _ in page)
        for _ in range(2)
    ]
    while readers:
        for reader in list(readers):
            row = next(reader, None)
            if row is None:
                readers.remove(reader)
            else:
                taken += 1
                commit_labels(store, [make_label(row.trace)])
    assert list(pending_rows(store, RULE.digest, ("q",))) == []
    # An order that both followed would take all 600; a random one takes 320 on average.
    assert len(digests) <= taken < 1.5 * len(digests)


def test_a_page_done_by_others_meanwhile_is_left_out(store: Store) -> None:
    digests = filled(store, 300)
    reader = pending_pages(store, RULE.digest, ("q",))
    first = {row.trace for row, _, _ in next(reader)}
    commit_labels(store, [make_label(digest) for digest in digests if digest not in first])
    assert list(reader) == []


def test_unread_pages_name_the_rows_that_read_ones_hold(store: Store) -> None:
    """Another process reads them with a reader of its own and comes to the same rows."""
    digests = filled(store, 600)
    commit_labels(store, [make_label(digest) for digest in digests[::7]])
    pages = list(pending_ids(store, RULE.digest, ("q",)))
    assert max(map(len, pages)) <= 256
    assert {version for page in pages for _, version in page} == {0}
    reader = PageReader(store)
    found = [trace.digest for page in pages for trace, _ in reader.read([i for i, _ in page])]
    assert found == [row.trace for row, _, _ in pending_rows(store, RULE.digest, ("q",))]
    assert found == [digest for n, digest in enumerate(digests) if n % 7]
