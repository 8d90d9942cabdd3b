"""What ``labelkit app`` says before it starts when the provider is not wholly named."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from labelkit.cli.app_login import SECRETS, provider_of
from labelkit.cli.app_verb import HOSTS, child_command
from labelkit.errors import InputError

WHOLE = {
    "redirect_uri": "http://127.0.0.1:{port}/oauth2callback",
    "cookie_secret": "0123456789abcdef0123456789abcdef",
    "client_id": "labelkit",
    "client_secret": "hush-hush-hush",
    "server_metadata_url": "https://provider.example/.well-known/openid-configuration",
}

pytest.importorskip("authlib", reason="needs the extra labelkit[oidc]")


def write(folder: Path, **change: str | None) -> Path:
    path = folder / SECRETS
    path.parent.mkdir(exist_ok=True)
    lines = [f'{k} = "{v}"' for k, v in {**WHOLE, **change}.items() if v is not None]
    path.write_text("\n".join(["[auth]", *lines]), encoding="utf-8")
    return path


def refused(folder: Path, port: int = 8501) -> str:
    with pytest.raises(InputError) as raised:
        provider_of(folder, port, HOSTS)
    said = str(raised.value)
    assert WHOLE["client_secret"] not in said
    assert WHOLE["cookie_secret"] not in said
    return said


def test_a_whole_file_gives_the_address_that_people_must_call(tmp_path: Path) -> None:
    path = write(tmp_path)
    found = provider_of(tmp_path, 8501, HOSTS)
    assert (found.secrets, found.origin) == (path, "http://127.0.0.1:8501")
    assert f"--secrets.files={path}" in child_command(tmp_path, 8501, provider=found)
    assert not [word for word in child_command(tmp_path, 8501) if "secrets" in word]
    write(tmp_path, redirect_uri="https://review.example.org/oauth2callback")
    there = provider_of(tmp_path, 8501, (*HOSTS, "review.example.org"))
    assert there.origin == "https://review.example.org", "a server in front may have another port"


def test_a_missing_or_broken_file_is_named(tmp_path: Path) -> None:
    assert str(tmp_path / SECRETS) in refused(tmp_path)
    write(tmp_path).write_text("[auth\nclient_secret = hush-hush-hush", encoding="utf-8")
    assert "is no TOML" in refused(tmp_path)
    write(tmp_path).write_text('[other]\na = "b"\n', encoding="utf-8")
    assert "no section [auth]" in refused(tmp_path)


@pytest.mark.parametrize("key", sorted(WHOLE))
def test_a_missing_key_is_named(tmp_path: Path, key: str) -> None:
    write(tmp_path, **{key: None})
    assert f"lacks {key}" in refused(tmp_path)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"cookie_secret": "short"}, "fewer than 32 characters"),
        ({"redirect_uri": "http://127.0.0.1:8501/"}, "followed by /oauth2callback"),
        ({"redirect_uri": "127.0.0.1:8501/oauth2callback"}, "followed by /oauth2callback"),
        ({"redirect_uri": "https://evil.example/oauth2callback"}, "hosts: [evil.example]"),
        ({"redirect_uri": "http://localhost:9000/oauth2callback"}, "the pages listen on 8501"),
    ],
)
def test_what_would_only_fail_at_the_click_is_told_before(
    tmp_path: Path, change: dict[str, str], said: str
) -> None:
    write(tmp_path, **change)
    assert said in refused(tmp_path)


def test_a_missing_package_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path)
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    assert "pip install 'labelkit[oidc]'" in refused(tmp_path)
