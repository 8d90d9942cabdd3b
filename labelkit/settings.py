"""labelkit.yaml: which store, which endpoints, which judges. Secrets stay in the environment."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from pathlib import Path
from typing import Literal

from pydantic import Field

from labelkit.catalog.located_errors import validated
from labelkit.catalog.yaml_nodes import Loc, Located, read_yaml
from labelkit.domain.endpoint import Endpoint
from labelkit.domain.frozen import Frozen
from labelkit.errors import LocatedError, SettingsError

_SQLITE = "sqlite:///"


class JudgeSettings(Frozen):
    """One configured judge: an endpoint that labels with some framings of a rubric.

    ``framings`` empty means every framing of the rubric; ``rubrics`` empty means every rubric.
    ``max_tokens``, ``temperature`` and ``rationale_chars`` override the framing's. ``max_quotes``
    and ``quote_chars`` bound the evidence of framings that ask for it. All of these are part of
    the judge's identity: another value is another rater.
    """

    name: str
    endpoint: str
    framings: tuple[str, ...] = ()
    rubrics: tuple[str, ...] = ()
    repeats: int = Field(default=1, ge=1, le=100)
    max_tokens: int | None = Field(default=None, ge=16)
    temperature: float | None = Field(default=None, ge=0.0)
    rationale_chars: int | None = Field(default=None, ge=0)
    max_quotes: int = Field(default=4, ge=1, le=16)
    quote_chars: int = Field(default=300, ge=20)
    seed: int | None = 0
    allow_self_judging: bool = False


class AppSettings(Frozen):
    """How the review app is reached and how people sign in.

    ``login``: ``passphrase`` asks for the name and passphrase of ``labelkit people add``. While
    nobody was added there is nothing to sign in to: traces and the report can be read by whoever
    sits at this machine. ``hosts`` are the names by which browsers may call the server.
    ``session_hours`` is how long a passphrase or a provider's word holds. ``refresh_s`` is how
    often the page on agreement asks whether a label was added.

    ``oidc`` leaves it to an OpenID provider through Streamlit's own login, which needs the extra
    ``labelkit[oidc]``. A person is who was added with ``labelkit people add NAME --subject S``, S
    being what the provider states as ``claim``: ``sub`` (never given to anybody else), or
    ``email`` where the provider verifies addresses. ``.streamlit/secrets.toml`` beside the
    settings names the provider; it holds secrets and stays out of version control::

        [auth]
        redirect_uri = "http://127.0.0.1:{port}/oauth2callback"
        cookie_secret = "<32 random characters>"
        client_id = "..."
        client_secret = "..."
        server_metadata_url = "https://provider.example/.well-known/openid-configuration"

    ``redirect_uri`` is registered with the provider, and its host is the one people call.

    ``proxy`` believes ``header`` when it comes from one of ``proxies``, by the address of the
    connection itself and never by a header. The proxy must set the header itself on every
    request, and replace what a browser sends under that name; a header that comes twice is
    refused. Whoever can log in to a proxy's machine can claim to be anybody.
    """

    login: Literal["passphrase", "oidc", "proxy"] = "passphrase"
    address: str = "127.0.0.1"
    port: int | None = Field(default=None, ge=1, le=65535)
    hosts: tuple[str, ...] = ()
    session_hours: float = Field(default=12.0, gt=0, le=24 * 30)
    refresh_s: float = Field(default=10.0, ge=0.5)
    header: str = "X-Forwarded-User"
    proxies: tuple[str, ...] = ("127.0.0.1", "::1")
    claim: str = "sub"


class Settings(Frozen):
    """Everything a working folder configures."""

    store: str = "sqlite:///labelkit.db"
    endpoints: dict[str, Endpoint] = Field(default_factory=dict)
    judges: dict[str, JudgeSettings] = Field(default_factory=dict)
    app: AppSettings = AppSettings()


def load_settings(file: Path | str) -> Settings:
    """Read and check a settings file. A relative SQLite path is taken from the file's folder.

    Raises:
        SettingsError: names file, line and mend.
    """
    path = Path(file)
    located = read_yaml(path, SettingsError)
    for section in ("endpoints", "judges"):
        entries = located.value.get(section)
        if isinstance(entries, dict):
            for name, entry in entries.items():
                if isinstance(entry, dict):
                    entry.setdefault("name", name)
    settings = validated(located, Settings)
    for name, endpoint in settings.endpoints.items():
        _check_endpoint(located, name, endpoint)
    for name, judge in settings.judges.items():
        if judge.endpoint not in settings.endpoints:
            place: Loc = ("judges", name, "endpoint")
            raise _unknown(located, place, judge.endpoint, settings.endpoints)
    return settings.model_copy(update={"store": _beside(settings.store, path)})


def _check_endpoint(located: Located, name: str, endpoint: Endpoint) -> None:
    """An API endpoint needs a base URL; a local one makes its own."""
    if endpoint.engine == "api" and not endpoint.base_url:
        raise located.mistake(
            ("endpoints", name),
            f"endpoint {name!r} has no base_url",
            "add `base_url: http://HOST:PORT/v1`, or `engine: local` for the embedded model,"
            " or `engine: vllm` to have vLLM started",
        )
    if endpoint.engine == "local" and endpoint.base_url:
        raise located.mistake(
            ("endpoints", name, "base_url"),
            f"endpoint {name!r} is local and names a base_url",
            "leave out base_url (the embedded server chooses a port) or the engine",
        )


def _unknown(located: Located, loc: Loc, name: str, known: Iterable[str]) -> LocatedError:
    """A name that is not among the configured ones, with the nearest guess."""
    names = list(known)
    near = difflib.get_close_matches(name, names, n=1)
    guess = f"did you mean {near[0]!r}? " if near else ""
    listed = ", ".join(names) or "none yet"
    return located.mistake(
        loc, f"there is no endpoint {name!r}", f"{guess}configured endpoints: {listed}"
    )


def _beside(url: str, settings: Path) -> str:
    """Make the path of a SQLite URL independent of where the command is run."""
    file = url.removeprefix(_SQLITE)
    if file == url or not file or file.startswith((":", "/")):
        return url
    return f"{_SQLITE}{settings.parent.resolve() / file}"
