"""Terms of task sets: said once, said again, said differently."""

from __future__ import annotations

from labelkit.domain.terms import Terms
from labelkit.store import Store
from labelkit.store.terms import note_terms, terms_of


def test_what_was_said_last_counts(store: Store) -> None:
    assert terms_of(store) == {}
    mini = Terms(name="mini", licence="Apache-2.0", redistributable=True)
    odd = Terms(name="odd \ud800\x00", licence="none stated", redistributable=False)
    for terms in (mini, odd, mini):
        note_terms(store, terms)
    assert terms_of(store) == {"mini": mini, odd.name: odd}
    stricter = mini.model_copy(update={"redistributable": False})
    note_terms(store, stricter)
    assert terms_of(store)["mini"] == stricter
