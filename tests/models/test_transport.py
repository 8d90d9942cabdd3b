"""A key or address that no request could be made with is one sentence before anything is sent."""

from __future__ import annotations

import pytest

from labelkit.domain.endpoint import Endpoint
from labelkit.errors import EndpointError
from labelkit.models.client import Client


def endpoint(base_url: str | None = "http://127.0.0.1:1/v1", key: str | None = None) -> Endpoint:
    return Endpoint(name="judge", model="m", base_url=base_url, api_key_env=key)


@pytest.mark.parametrize(
    ("base_url", "said"),
    [
        (None, "has no base_url"),
        ("", "has no base_url"),
        ("127.0.0.1:8000/v1", "no http(s) address"),
        ("ftp://host/v1", "no http(s) address"),
        ("http:///v1", "no http(s) address"),
        ("http://host:99999/v1", "no address"),
        ("http://[::1/v1", "no address"),
        ("http://host/v1?key=1", "query"),
        ("http://host/v1/chat/completions", "leave that part out"),
    ],
)
def test_a_malformed_base_url(base_url: str | None, said: str) -> None:
    with pytest.raises(EndpointError, match="endpoint 'judge'") as raised:
        Client(endpoint(base_url))
    assert said in str(raised.value)
    assert "\n" not in str(raised.value)


def test_a_login_in_the_address_is_not_shown() -> None:
    with pytest.raises(EndpointError) as raised:
        Client(endpoint("ftp://me:secret@host/v1"))
    assert "secret" not in str(raised.value)


def test_a_missing_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("JUDGE_KEY", raising=False)
    with pytest.raises(EndpointError, match="environment variable JUDGE_KEY, which is not set"):
        Client(endpoint(key="JUDGE_KEY"))


@pytest.mark.parametrize("key", ["sk-\u201cquoted\u201d", "sk-a\nb", "two words", "\x00"])
def test_a_key_that_cannot_be_a_header_is_never_shown(
    monkeypatch: pytest.MonkeyPatch, key: str
) -> None:
    with pytest.raises(EndpointError, match="outside ASCII") as given:
        Client(endpoint(), api_key=key)
    assert key not in str(given.value)
    if "\x00" not in key:
        monkeypatch.setenv("JUDGE_KEY", key)
        with pytest.raises(EndpointError, match="the key in JUDGE_KEY"):
            Client(endpoint(key="JUDGE_KEY"))


def test_a_key_with_a_line_end_is_trimmed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JUDGE_KEY", "sk-fine\n")
    assert "sk-fine" not in repr(Client(endpoint(key="JUDGE_KEY")))
