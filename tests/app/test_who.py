"""Whom a provider's statement names, and how long its word holds."""

from __future__ import annotations

import time
from datetime import timedelta

import pytest

from app import who
from app.who import SignedOutError, vouched_subject


@pytest.fixture(autouse=True)
def one_hour(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(who, "session_age", lambda: timedelta(hours=1))


def claims(**more: object) -> dict[str, object]:
    return {"is_logged_in": True, "sub": "mia-7", "iat": int(time.time()), **more}


def refused(stated: dict[str, object], claim: str = "sub") -> str:
    with pytest.raises(SignedOutError) as raised:
        vouched_subject(stated, claim)
    return str(raised.value)


def test_the_claim_of_the_settings_names_the_person() -> None:
    assert vouched_subject(claims(), "sub") == "mia-7"
    assert vouched_subject(claims(oid="o-1"), "oid") == "o-1"


def test_nobody_is_somebody_without_having_signed_in() -> None:
    assert refused({}) == refused(claims(is_logged_in=False)) == "sign in to go on"


@pytest.mark.parametrize(
    "issued", [time.time() - 3700, None, "now", float("nan")], ids=["old", "none", "word", "nan"]
)
def test_an_old_word_or_one_without_a_date_does_not_hold(issued: object) -> None:
    assert "your session has ended" in refused(claims(iat=issued))


@pytest.mark.parametrize("subject", [None, "", 7, ["mia-7"]])
def test_a_claim_that_is_no_name_is_told(subject: object) -> None:
    assert "says nothing under 'oid'" in refused(claims(oid=subject), "oid")


def test_an_address_must_be_verified() -> None:
    mine = "mia@example.org"
    assert vouched_subject(claims(email=mine, email_verified=True), "email") == mine
    assert vouched_subject(claims(email=mine), "email") == mine, "not every provider says so"
    for said in (False, "false", "no", 0):
        assert "has not verified" in refused(claims(email=mine, email_verified=said), "email")
