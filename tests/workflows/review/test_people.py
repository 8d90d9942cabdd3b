from __future__ import annotations

from base64 import urlsafe_b64decode, urlsafe_b64encode
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path

import pytest
from argon2 import PasswordHasher
from sqlalchemy import select

from labelkit.domain.person import Role
from labelkit.errors import InputError, StoreError
from labelkit.store import Store
from labelkit.store.labels import label_counts
from labelkit.store.review_tables import PERSON, SIGN_IN
from labelkit.store.samples import items
from labelkit.workflows.review import (
    adjudicate,
    annotate,
    assignment,
    judge_quality,
    live,
    overview,
    people,
    samples,
)
from labelkit.workflows.review.access import RIGHTS, NotAllowedError, Right, allowed, require
from labelkit.workflows.review.annotate import Choice, Draft
from labelkit.workflows.review.samples import Wanted
from tests.workflows.review import desk


@pytest.fixture(autouse=True)
def quick_hash(monkeypatch: pytest.MonkeyPatch) -> None:
    """The slow hash at its least costly parameters; it is slow on purpose."""
    quick = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)
    monkeypatch.setattr(people, "_hasher", lambda: quick)
    people._nobody.cache_clear()


def test_names_and_passphrases(store: Store) -> None:
    ana = people.add_person(store, None, "  Ana ", "admin", passphrase="correct horse")
    assert (ana.name, ana.role, ana.has_passphrase) == ("Ana", Role.ADMIN, True)
    assert people.sign_in(store, "ANA", "correct horse") == ana
    with store.reading() as connection:
        stored = connection.execute(select(PERSON.c.passphrase)).scalar()
    assert stored.startswith("$argon2id$")
    for name, secret, said in (
        ("ana", "correct horse", "is taken"),
        ("  ", "correct horse", "is no name"),
        ("a\x00", "correct horse", "is no name"),
        ("bo", "short", "8 to 1024"),
        ("bo", "x" * 1025, "8 to 1024"),
        ("bo", None, "never sign in"),
    ):
        with pytest.raises(InputError, match=said):
            people.add_person(store, None, name, "annotator", passphrase=secret)
    with pytest.raises(InputError, match="no role 'boss'"):
        people.add_person(store, None, "bo", "boss", passphrase="correct horse")
    odd = people.add_person(store, None, "İbo", "annotator", passphrase="\ud800\x00 é ß 日本")
    assert people.sign_in(store, "İbo", "\ud800\x00 é ß 日本").id == odd.id


def test_a_wrong_name_and_a_wrong_passphrase_say_the_same(store: Store) -> None:
    people.add_person(store, None, "ana", "admin", passphrase="correct horse")
    said = set()
    for name, secret in (("ana", "wrong horse"), ("nobody", "correct horse"), ("ana", "")):
        with pytest.raises(people.SignInError) as caught:
            people.sign_in(store, name, secret)
        said.add(str(caught.value))
    assert len(said) == 1


def test_guessing_slows_down_and_a_right_passphrase_after_the_wait_resets(store: Store) -> None:
    people.add_person(store, None, "ana", "admin", passphrase="correct horse")
    people.add_person(store, None, "bo", "annotator", passphrase="correct horse")
    now = desk.START
    for _ in range(5):
        with pytest.raises(people.SignInError, match="is wrong"):
            people.sign_in(store, "ana", "wrong horse", now=now)
    for right in (False, True):
        with pytest.raises(people.SignInError, match=r"wait 2 s"):
            people.sign_in(store, "Ana", "correct horse" if right else "guess again", now=now)
    assert people.sign_in(store, "bo", "correct horse", now=now).name == "bo"
    with pytest.raises(people.SignInError, match="is wrong"):
        people.sign_in(store, "ana", "wrong horse", now=now + timedelta(seconds=3))
    with pytest.raises(people.SignInError, match=r"wait 3 s"):
        people.sign_in(store, "ana", "correct horse", now=now + timedelta(seconds=4))
    later = now + timedelta(seconds=10)
    assert people.sign_in(store, "ana", "correct horse", now=later).name == "ana"
    with pytest.raises(people.SignInError, match="is wrong"):
        people.sign_in(store, "ana", "wrong horse", now=later)


def test_tries_side_by_side_count_as_well(store: Store) -> None:
    people.add_person(store, None, "ana", "admin", passphrase="correct horse")

    def guess(_: int) -> str:
        with pytest.raises(people.SignInError) as caught:
            people.sign_in(store, "ana", "wrong horse")
        return str(caught.value)

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(guess, range(8)))
    with pytest.raises(people.SignInError, match="too many tries"):
        people.sign_in(store, "ana", "correct horse")


def test_a_session_outlives_a_reload_but_not_its_age_or_a_new_passphrase(store: Store) -> None:
    ana = people.add_person(store, None, "ana", "admin", passphrase="correct horse")
    token = people.issue_token(store, ana, now=desk.START)
    hour = timedelta(hours=1)
    assert people.person_of_token(store, token, now=desk.START + hour) == ana
    assert people.person_of_token(store, token, now=desk.START + 13 * hour) is None
    assert people.person_of_token(store, token, now=desk.START - hour) is None
    assert people.person_of_token(store, token, max_age=hour / 2, now=desk.START + hour) is None
    people.set_passphrase(store, None, "ana", "another horse")
    assert people.person_of_token(store, token, now=desk.START + hour) is None
    fresh = people.issue_token(store, people.person_named(store, "ana"), now=desk.START)
    bo = people.add_person(store, None, "bo", "admin", passphrase="correct horse")
    people.set_retired(store, bo, "ana")
    assert people.person_of_token(store, fresh, now=desk.START) is None
    with pytest.raises(people.SignInError):
        people.sign_in(store, "ana", "another horse")


def test_a_token_cannot_be_forged(store: Store, tmp_path) -> None:
    ana = people.add_person(store, None, "ana", "annotator", passphrase="correct horse")
    people.add_person(store, None, "bo", "admin", passphrase="correct horse")
    token = people.issue_token(store, ana)
    raw = bytearray(urlsafe_b64decode(token))
    for place in range(len(raw)):
        changed = bytes(raw[:place]) + bytes([raw[place] ^ 1]) + bytes(raw[place + 1 :])
        assert people.person_of_token(store, urlsafe_b64encode(changed).decode()) is None
    for junk in ("", "é", "AAAA", token[:-4], token + "AAAA", "%%%"):
        assert people.person_of_token(store, junk) is None
    with Store.open(f"sqlite:///{tmp_path / 'other.db'}", create=True) as other:
        people.add_person(other, None, "eve", "admin", passphrase="correct horse")
        assert people.person_of_token(other, token) is None


def test_external_identities(store: Store) -> None:
    people.add_person(store, None, "ana", "annotator", subject="https://id/ana")
    assert people.person_of_subject(store, "https://id/ana").name == "ana"
    with pytest.raises(people.SignInError, match="nobody here"):
        people.person_of_subject(store, "https://id/ANA")
    with pytest.raises(InputError, match="is taken"):
        people.add_person(store, None, "bo", "annotator", subject="https://id/ana")
    with pytest.raises(people.SignInError):
        people.sign_in(store, "ana", "")


def test_the_last_admin_stays_one(store: Store) -> None:
    ana = people.add_person(store, None, "ana", "admin", subject="a")
    for change in (
        lambda: people.set_role(store, ana, "ana", "annotator"),
        lambda: people.set_retired(store, ana, "ana"),
    ):
        with pytest.raises(StoreError, match="last admin"):
            change()
    bo = people.add_person(store, ana, "bo", "annotator", subject="b")
    people.set_role(store, ana, "bo", "admin")
    assert people.set_role(store, ana, "ana", "annotator").role is Role.ANNOTATOR
    assert people.person_named(store, "bo").id == bo.id


def test_only_admins_manage_people(store: Store) -> None:
    ana = people.add_person(store, None, "ana", "admin", subject="a")
    bo = people.add_person(store, ana, "bo", "adjudicator", passphrase="correct horse")
    for act in (
        lambda: people.add_person(store, bo, "x", "annotator", subject="x"),
        lambda: people.everybody(store, bo),
        lambda: people.set_role(store, bo, "bo", "admin"),
        lambda: people.set_retired(store, bo, "ana"),
        lambda: people.set_passphrase(store, bo, "ana", "correct horse"),
    ):
        with pytest.raises(NotAllowedError, match=r"manage people.*takes the role admin"):
            act()
    assert people.set_passphrase(store, bo, "bo", "my own horse").name == "bo"
    assert [person.name for person in people.everybody(store, ana)] == ["ana", "bo"]


def test_rights_grow_with_the_role_and_end_with_retirement(store: Store) -> None:
    assert RIGHTS[Role.ANNOTATOR] < RIGHTS[Role.ADJUDICATOR] < RIGHTS[Role.ADMIN]
    assert RIGHTS[Role.ADMIN] == frozenset(Right)
    assert RIGHTS[Role.ANNOTATOR] == {Right.LABEL}
    boss = desk.person(store, "boss", Role.ADMIN)
    gone = boss.model_copy(update={"retired_at": desk.START})
    for right in Right:
        assert allowed(boss, right)
        assert not allowed(gone, right)
        with pytest.raises(NotAllowedError, match="retired"):
            require(gone, right)


def test_no_table_holds_a_passphrase_in_the_clear(sqlite_url: str) -> None:
    with Store.open(sqlite_url, create=True) as store:
        people.add_person(store, None, "ana", "admin", passphrase="correct horse")
        with pytest.raises(people.SignInError):
            people.sign_in(store, "ana", "mistyped secret")
    folder = Path(sqlite_url.removeprefix("sqlite:///")).parent
    content = b"".join(path.read_bytes() for path in folder.iterdir())
    assert b"argon2id" in content
    assert b"correct horse" not in content
    assert b"mistyped secret" not in content


def test_old_tries_are_forgotten(store: Store) -> None:
    people.add_person(store, None, "ana", "admin", passphrase="correct horse")
    for k in range(6):
        with pytest.raises(people.SignInError):
            people.sign_in(store, f"guess{k}", "wrong horse", now=desk.START)
    with pytest.raises(people.SignInError):
        people.sign_in(store, "guess0", "wrong horse", now=desk.START + timedelta(days=2))
    with store.reading() as connection:
        assert len(connection.execute(select(SIGN_IN)).all()) == 1


def test_nobody_retired_gets_through_anywhere(store: Store) -> None:
    desk.fill(store, 4)
    boss = desk.person(store, "boss", Role.ADMIN)
    sample = samples.draw(store, boss, desk.rubric(), Wanted(n=4))
    offer = assignment.next_item(store, boss, sample.id)
    assert offer is not None
    item = items(store, sample.key)[0].key
    gone = boss.model_copy(update={"retired_at": desk.START})
    choice = Choice("c", offer.lease, offer.trace, Draft({"q": "good"}))
    verdict = adjudicate.Verdict("v", sample.id, item, "q", "good", "r")
    acts = {
        "people.add": lambda: people.add_person(store, gone, "x", "admin", subject="x"),
        "people.list": lambda: people.everybody(store, gone),
        "people.role": lambda: people.set_role(store, gone, "boss", "admin"),
        "people.retire": lambda: people.set_retired(store, gone, "boss"),
        "samples.plan": lambda: samples.plan(store, gone, desk.rubric(), Wanted(n=2)),
        "samples.draw": lambda: samples.draw(store, gone, desk.rubric(), Wanted(n=2)),
        "samples.list": lambda: samples.every_sample(store, gone),
        "samples.give": lambda: samples.give_to(store, gone, sample.id, []),
        "samples.open": lambda: samples.set_open(store, gone, sample.id, is_open=False),
        "samples.adopt": lambda: samples.adopt_guideline(store, gone, sample.id, desk.rubric()),
        "next": lambda: assignment.next_item(store, gone, sample.id),
        "give back": lambda: assignment.give_back(store, gone, offer.lease),
        "progress": lambda: assignment.progress(store, gone, sample.id),
        "mine": lambda: assignment.samples_for(store, gone),
        "submit": lambda: annotate.submit(store, gone, choice),
        "skip": lambda: annotate.skip(store, gone, choice, "r"),
        "undo": lambda: annotate.undo(store, gone, sample.id, "u"),
        "draft": lambda: annotate.save_draft(store, gone, offer.lease, Draft()),
        "queue": lambda: adjudicate.queue(store, gone, sample.id),
        "case": lambda: adjudicate.case(store, gone, sample.id, item),
        "reveal": lambda: adjudicate.reveal(store, gone, sample.id, item, "f" * 64),
        "decide": lambda: adjudicate.decide(store, gone, verdict),
        "send back": lambda: adjudicate.send_back(store, gone, sample.id, item, "m"),
        "tags": lambda: adjudicate.known_tags(store, gone),
        "decisions": lambda: adjudicate.decisions(store, gone, sample.id),
        "agreement": lambda: live.agreement(store, gone, sample.id),
        "judges": lambda: judge_quality.judge_quality(store, gone, sample.id),
        "overview": lambda: overview.overview(store, gone),
    }
    for act in acts.values():
        with pytest.raises(NotAllowedError, match="retired"):
            act()
    assert label_counts(store) == {}


def test_an_annotator_reads_nothing_of_others(store: Store) -> None:
    desk.fill(store, 4)
    ana = desk.person(store, "ana")
    sample = desk.drawn(store, 4)
    item = items(store, sample.key)[0].key
    for act in (
        lambda: adjudicate.queue(store, ana, sample.id),
        lambda: adjudicate.case(store, ana, sample.id, item),
        lambda: adjudicate.decisions(store, ana, sample.id),
        lambda: live.agreement(store, ana, sample.id),
        lambda: judge_quality.judge_quality(store, ana, sample.id),
        lambda: overview.overview(store, ana),
        lambda: samples.every_sample(store, ana),
        lambda: people.everybody(store, ana),
    ):
        with pytest.raises(NotAllowedError, match="'ana' is annotator"):
            act()
