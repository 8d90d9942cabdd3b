"""What OIDC needs before the review pages start: Authlib, and a provider that is wholly named.

Streamlit finds out about a missing key when somebody clicks, and tells nobody. Here it is told
before anything starts. No secret is ever printed.
"""

from __future__ import annotations

import importlib.util
import tomllib
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from labelkit.errors import InputError

SECRETS = Path(".streamlit") / "secrets.toml"
CALLBACK = "/oauth2callback"
SHORTEST_SECRET = 32
NEEDED = ("redirect_uri", "cookie_secret", "client_id", "client_secret", "server_metadata_url")


@dataclass(frozen=True)
class Provider:
    """Where Streamlit reads the provider's secrets, and the address that people must call."""

    secrets: Path
    origin: str


def provider_of(folder: Path, port: int, hosts: Collection[str]) -> Provider:
    """Check the provider that a working folder names.

    Args:
        folder: with labelkit.yaml; the secrets lie in ``.streamlit/secrets.toml`` below it.
        port: on which the pages will listen.
        hosts: names by which browsers may call the server.

    Raises:
        InputError: Authlib or the file is missing, or something in it; names the mend.
    """
    if importlib.util.find_spec("authlib") is None:
        raise InputError(
            "signing in with OIDC needs Authlib; `pip install 'labelkit[oidc]'` installs it"
        )
    path = (folder / SECRETS).resolve()
    if not path.is_file():
        raise InputError(
            f"`login: oidc` needs {path} with the section [auth], which names your provider:"
            f" {', '.join(NEEDED)}"
        )
    auth = _auth(path)
    missing = [key for key in NEEDED if not isinstance(auth.get(key), str) or not auth[key]]
    if missing:
        raise InputError(f"{path}: the section [auth] lacks {', '.join(missing)}")
    if len(auth["cookie_secret"]) < SHORTEST_SECRET:
        raise InputError(
            f"{path}: cookie_secret has fewer than {SHORTEST_SECRET} characters, so sessions could"
            " be forged; write a random one (`openssl rand -hex 32`)"
        )
    return Provider(path, _origin(path, auth["redirect_uri"], port, hosts))


def _auth(path: Path) -> Mapping[str, Any]:
    """The section of the provider.

    Raises:
        InputError: the file is no TOML, or has no such section.
    """
    try:
        read = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError):
        # What the parser says may quote a secret.
        raise InputError(f'{path} is no TOML; write `key = "value"` lines below [auth]') from None
    found = read.get("auth")
    if not isinstance(found, dict):
        raise InputError(f"{path} has no section [auth]; it names your provider")
    return found


def _origin(path: Path, redirect: str, port: int, hosts: Collection[str]) -> str:
    """The address that people must call: cookies of the sign-in belong to it alone.

    Raises:
        InputError: it does not end as Streamlit wants, or leads to another server.
    """
    parts = urlsplit(redirect.replace("{port}", str(port)))
    if parts.scheme not in {"http", "https"} or parts.path != CALLBACK:
        raise InputError(
            f"{path}: redirect_uri is {redirect!r}; it must be the address of these pages followed"
            f" by {CALLBACK}, for example http://127.0.0.1:{{port}}{CALLBACK}"
        )
    host = parts.hostname or ""
    if host not in hosts:
        raise InputError(
            f"{path}: redirect_uri leads to {host!r}, by which browsers may not call this server;"
            f" add it to `app: {{hosts: [{host}]}}` in labelkit.yaml"
        )
    local = host in {"localhost", "127.0.0.1", "::1"}
    if local and parts.scheme == "http" and parts.port != port:
        raise InputError(
            f"{path}: redirect_uri leads to port {parts.port or 80}, the pages listen on {port};"
            " write {port} there, or start with --port"
        )
    return f"{parts.scheme}://{parts.netloc}"
