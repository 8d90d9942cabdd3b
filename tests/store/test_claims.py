"""Claims on PostgreSQL: one worker per row, rows of a dead worker return, nobody waits."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest
from sqlalchemy import func, select, text

from labelkit.store import Store
from labelkit.store.claims import Claims, claims_for
from labelkit.store.tables import CLAIM

pytestmark = pytest.mark.postgres
WORK = "a" * 64


@pytest.fixture
def store(postgres_url: str) -> Iterator[Store]:
    with Store.open(postgres_url, create=True) as opened:
        yield opened


def held(store: Store) -> int:
    with store.reading() as connection:
        return int(connection.execute(select(func.count()).select_from(CLAIM)).scalar_one())


def let_run_out(store: Store) -> None:
    with store.writing() as connection:
        connection.execute(text("UPDATE claim SET expires_at = now() - interval '1 second'"))


def test_an_item_has_one_holder_until_it_is_released(store: Store) -> None:
    one, other = Claims(store, WORK), Claims(store, WORK)
    assert one.take(["1", "2", "3"]) == {"1", "2", "3"}
    assert other.take(["2", "3", "4"]) == {"4"}
    assert one.take(["1", "2"]) == {"1", "2"}, "what is held may be taken again"
    one.release(["2"])
    assert other.take(["1", "2", "3"]) == {"2"}
    other.release(["1"])
    assert Claims(store, WORK).take(["1"]) == set(), "only the holder can release"
    one.release_all()
    assert other.take(["1", "3"]) == {"1", "3"}
    other.release_all()
    assert held(store) == 0


def test_another_piece_of_work_is_claimed_apart(store: Store) -> None:
    assert Claims(store, WORK).take(["1"]) == {"1"}
    assert Claims(store, "b" * 64).take(["1"]) == {"1"}


def test_a_claim_runs_out_unless_it_is_renewed(store: Store) -> None:
    dead, living = Claims(store, WORK), Claims(store, WORK)
    assert dead.take(["1", "2"]) == {"1", "2"}
    let_run_out(store)
    assert dead.renew() == 2
    assert living.take(["1"]) == set()
    let_run_out(store)
    assert living.take(["1"]) == {"1"}
    # A worker that comes back too late keeps only what nobody took meanwhile.
    assert dead.renew() == 1
    dead.release(["1"])
    assert Claims(store, WORK).take(["1"]) == set()


def test_a_row_that_somebody_is_taking_is_skipped_and_not_waited_for(store: Store) -> None:
    assert Claims(store, WORK).take(["1", "2"])
    let_run_out(store)
    with store.writing() as busy:
        busy.execute(text("SELECT id FROM claim WHERE item = '1' FOR UPDATE"))
        assert Claims(store, WORK).take(["1", "2"]) == {"2"}


def test_many_workers_share_everything_and_nothing_twice(store: Store) -> None:
    items = [str(n) for n in range(300)]
    got: list[set[str]] = []

    def work() -> None:
        mine = Claims(store, WORK)
        got.append({item for start in range(0, 300, 20) for item in mine.take(items[start:][:20])})

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert set().union(*got) == set(items)
    assert sum(len(mine) for mine in got) == len(items)


def test_sqlite_has_one_writer_and_claims_nothing(sqlite_url: str) -> None:
    with Store.open(sqlite_url, create=True) as opened:
        assert claims_for(opened, WORK) is None
