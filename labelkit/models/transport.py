"""One HTTP exchange with an endpoint, over the ``openai`` package's aiohttp transport.

The package's own request method costs 0.68 ms of CPU per request (3.0 ms with its default
client) for headers, options models and retries that are not wanted here; its transport driven
directly costs 0.32 ms. Driving it directly also keeps the OPENAI_* environment variables (key,
organisation, custom headers) from being sent to somebody else's server. Proxies come from the
environment (HTTP_PROXY, HTTPS_PROXY, ALL_PROXY, NO_PROXY). This module never resends anything.
"""

from __future__ import annotations

import asyncio
import functools
import os
import ssl
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit, urlunsplit

import aiohttp
import httpx2
from openai import DefaultAioHttpClient

from labelkit.domain.endpoint import Endpoint
from labelkit.errors import EndpointError

_KEEPALIVE_S = 4.0
"""Shorter than the 5 s after which common servers close an idle connection."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back: status, headers with lower-case look-up, whole body."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class Unanswered(Exception):  # noqa: N818 - no error of the program: the endpoint's silence
    """Nothing usable came back: ``refused`` when no connection was made at all."""

    def __init__(self, message: str, *, refused: bool = False, timed_out: bool = False) -> None:
        super().__init__(message)
        self.refused = refused
        self.timed_out = timed_out


@functools.cache
def _certificates() -> ssl.SSLContext:
    """The trusted certificates (SSL_CERT_FILE and SSL_CERT_DIR honoured), read once: it is slow."""
    return httpx2.create_ssl_context()


class Transport:
    """Connections to one endpoint. Belongs to the event loop of its first request.

    Args:
        endpoint: base URL, and the number of connections that are kept.
        api_key: the key, or None to take it from the variable that the endpoint names.

    Raises:
        EndpointError: for an address or key that no request could be made with.
    """

    def __init__(self, endpoint: Endpoint, api_key: str | None = None) -> None:
        self.base_url = checked_base_url(endpoint)
        self.shown_url = _without_login(self.base_url)
        self._key = checked_key(endpoint, api_key)
        headers = {
            "accept": "application/json",
            "content-type": "application/json",
            "user-agent": "labelkit",
        }
        if self._key is not None:
            headers["authorization"] = f"Bearer {self._key}"
        self._headers = httpx2.Headers(headers)
        self._chat = httpx2.URL(f"{self.base_url}/chat/completions")
        self._models = httpx2.URL(f"{self.base_url}/models")
        self._http: httpx2.AsyncClient | None = None
        self._connections = endpoint.max_concurrency

    async def post(self, content: bytes, timeout_s: float) -> Answer:
        """Send one chat request and read the whole reply.

        Raises:
            Unanswered: after ``timeout_s`` seconds, or when the connection fails.
        """
        request = httpx2.Request("POST", self._chat, headers=self._headers, content=content)
        return await self._send(request, timeout_s)

    async def get_models(self, timeout_s: float) -> Answer:
        """Ask for the endpoint's list of models."""
        request = httpx2.Request("GET", self._models, headers=self._headers)
        return await self._send(request, timeout_s)

    async def _send(self, request: httpx2.Request, timeout_s: float) -> Answer:
        if self._http is None:
            self._http = self._open()
        try:
            async with asyncio.timeout(timeout_s):
                response = await self._http.send(request)
        except TimeoutError:
            raise Unanswered(f"no reply within {timeout_s:g} s", timed_out=True) from None
        except (httpx2.HTTPError, httpx2.InvalidURL, aiohttp.ClientError, OSError) as error:
            raise self._unanswered(error) from error
        return Answer(response.status_code, response.headers, response.content)

    def _open(self) -> httpx2.AsyncClient:
        limits = httpx2.Limits(
            max_connections=self._connections,
            max_keepalive_connections=self._connections,
            keepalive_expiry=_KEEPALIVE_S,
        )
        return DefaultAioHttpClient(
            timeout=None, limits=limits, follow_redirects=False, verify=_certificates()
        )

    def _unanswered(self, error: BaseException) -> Unanswered:
        """Name the cause: the transport reports a refused connection as a timeout."""
        chain: list[BaseException] = []
        cause: BaseException | None = error
        while cause is not None and cause not in chain:
            chain.append(cause)
            cause = cause.__cause__ or cause.__context__
        for one in chain:
            if isinstance(one, aiohttp.ClientConnectorError | ConnectionRefusedError):
                said = one.strerror or str(one) or type(one).__name__
                return Unanswered(f"no connection to {self.shown_url} ({said})", refused=True)
        for one in chain:
            if isinstance(one, aiohttp.ServerDisconnectedError | ConnectionResetError):
                return Unanswered("the connection was closed before the reply was complete")
        return Unanswered(self.redact(str(error) or type(error).__name__))

    def redact(self, text: str) -> str:
        """``text`` without the key, wherever an endpoint may have echoed it."""
        return text.replace(self._key, "[key]") if self._key else text

    def redact_body(self, body: bytes) -> bytes:
        """The same for a body that is about to be quoted."""
        return body.replace(self._key.encode(), b"[key]") if self._key else body

    async def aclose(self) -> None:
        """Close every connection; the transport may be used again afterwards."""
        http, self._http = self._http, None
        if http is not None:
            await http.aclose()


def checked_base_url(endpoint: Endpoint) -> str:
    """Return the endpoint's base URL without a trailing slash.

    Raises:
        EndpointError: when there is none, or none that a request could go to.
    """
    name, url = endpoint.name, (endpoint.base_url or "").strip().rstrip("/")
    if not url:
        raise EndpointError(
            f"endpoint {name!r} has no base_url; write one such as http://127.0.0.1:8000/v1"
        )
    try:
        parts = urlsplit(url)
        port_fits = parts.port is None or parts.port > 0
        parsed = httpx2.URL(url)
    except (ValueError, httpx2.InvalidURL) as error:
        raise EndpointError(f"endpoint {name!r}: base_url is no address ({error})") from None
    if parts.scheme not in ("http", "https") or not parsed.host or not port_fits:
        raise EndpointError(
            f"endpoint {name!r}: base_url {_without_login(url)!r} is no http(s) address; write one"
            " such as http://127.0.0.1:8000/v1"
        )
    if parts.query or parts.fragment:
        raise EndpointError(
            f"endpoint {name!r}: base_url may not have a query or fragment; put parameters in"
            " extra_body"
        )
    if parts.path.endswith("/chat/completions"):
        raise EndpointError(
            f"endpoint {name!r}: base_url ends in /chat/completions; leave that part out"
        )
    return url


def checked_key(endpoint: Endpoint, api_key: str | None) -> str | None:
    """Return the key to send, or None when the endpoint needs none. The key is never shown.

    Raises:
        EndpointError: when the named variable is empty or the key cannot be a header.
    """
    variable = endpoint.api_key_env
    where = "the given key"
    if api_key is None and variable:
        where = f"the key in {variable}"
        api_key = os.environ.get(variable, "").strip()
        if not api_key:
            raise EndpointError(
                f"endpoint {endpoint.name!r} takes its key from the environment variable"
                f" {variable}, which is not set; export it and run again"
            )
    if api_key is None:
        return None
    if not api_key or not all("!" <= c <= "~" for c in api_key):
        raise EndpointError(
            f"endpoint {endpoint.name!r}: {where} is empty or holds a space or a character"
            " outside ASCII; copy the key again"
        )
    return api_key


def _without_login(url: str) -> str:
    parts = urlsplit(url)
    return urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2]))
