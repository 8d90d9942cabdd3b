"""An OpenID provider in this process: it knows one account and sends everybody back at once.

It speaks the protocol at the HTTP seam (discovery, authorize, token, keys, end of session) and
checks what a provider checks: the client's secret, the one-time code, and PKCE. ``spoil`` makes
its next answers wrong in one way.
"""

from __future__ import annotations

import base64
import contextlib
import hashlib
import json
import secrets
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

import pytest

jwt = pytest.importorskip("joserfc.jwt", reason="needs the package authlib")
jwk = pytest.importorskip("joserfc.jwk")

CLIENT = "labelkit-tests"
SECRET = "a secret of the client"


@dataclass
class IdentityProvider:
    """What the provider says, and what it was asked."""

    address: str = ""
    account: dict[str, Any] = field(default_factory=dict)
    spoil: str = ""
    asked: list[str] = field(default_factory=list)
    codes: dict[str, dict[str, str]] = field(default_factory=dict)
    key: Any = field(default_factory=lambda: jwk.RSAKey.generate_key(2048, {"kid": "k1"}))
    other_key: Any = field(default_factory=lambda: jwk.RSAKey.generate_key(2048, {"kid": "k1"}))

    def toml(self, address: str) -> str:
        """The secrets of a server at ``address``."""
        return (
            f'[auth]\nredirect_uri = "{address}/oauth2callback"\n'
            f'cookie_secret = "{secrets.token_hex(32)}"\nclient_id = "{CLIENT}"\n'
            f'client_secret = "{SECRET}"\n'
            f'server_metadata_url = "{self.address}/.well-known/openid-configuration"\n'
        )

    def discovery(self) -> dict[str, Any]:
        return {
            "issuer": self.address,
            "authorization_endpoint": f"{self.address}/authorize",
            "token_endpoint": f"{self.address}/token",
            "jwks_uri": f"{self.address}/keys",
            "end_session_endpoint": f"{self.address}/end",
            "id_token_signing_alg_values_supported": ["RS256"],
            "code_challenge_methods_supported": ["S256"],
        }

    def authorize(self, query: dict[str, str]) -> str:
        """Where the browser goes with a code; nobody is asked for a passphrase."""
        assert query["client_id"] == CLIENT
        assert "openid" in query["scope"].split()
        if self.spoil == "denied":
            said = {"error": "access_denied", "state": query["state"]}
            return f"{query['redirect_uri']}?{urlencode(said)}"
        code = secrets.token_hex(16)
        self.codes[code] = query
        return f"{query['redirect_uri']}?{urlencode({'code': code, 'state': query['state']})}"

    def token(self, form: dict[str, str], basic: str) -> dict[str, Any]:
        """The signed statement who it is."""
        login = base64.b64encode(f"{CLIENT}:{SECRET}".encode()).decode()
        asked = self.codes.pop(form["code"])
        hashed = hashlib.sha256(form["code_verifier"].encode()).digest()
        assert base64.urlsafe_b64encode(hashed).rstrip(b"=").decode() == asked["code_challenge"]
        assert basic in {f"Basic {login}", f"Basic {login.rstrip('=')}"}, basic
        now = int(time.time())
        claims = {
            "iss": "http://elsewhere.invalid" if self.spoil == "issuer" else self.address,
            "aud": "another-client" if self.spoil == "audience" else CLIENT,
            "iat": now - 4000 if self.spoil == "expired" else now,
            "exp": now - 3600 if self.spoil == "expired" else now + 300,
            "nonce": "forged" if self.spoil == "nonce" else asked["nonce"],
            **self.account,
        }
        key = self.other_key if self.spoil == "signature" else self.key
        return {
            "token_type": "Bearer",
            "access_token": secrets.token_hex(16),
            "expires_in": 300,
            "id_token": jwt.encode({"alg": "RS256", "kid": "k1"}, claims, key),
        }


@contextlib.contextmanager
def providing() -> Iterator[IdentityProvider]:
    """Run a provider on a free port of this machine."""
    provider = IdentityProvider()

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *_: object) -> None: ...

        def answer(self, body: object) -> None:
            sent = json.dumps(body).encode()
            self.send_response(200)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(sent)))
            self.end_headers()
            self.wfile.write(sent)

        def lead(self, where: str) -> None:
            self.send_response(302)
            self.send_header("location", where)
            self.send_header("content-length", "0")
            self.end_headers()

        def do_GET(self) -> None:
            parts = urlsplit(self.path)
            query = dict(parse_qsl(parts.query))
            provider.asked.append(parts.path)
            if parts.path == "/.well-known/openid-configuration":
                self.answer(provider.discovery())
            elif parts.path == "/keys":
                self.answer({"keys": [provider.key.as_dict(private=False)]})
            elif parts.path == "/authorize":
                self.lead(provider.authorize(query))
            elif parts.path == "/end":
                self.lead(query["post_logout_redirect_uri"])
            else:
                self.send_error(404)

        def do_POST(self) -> None:
            length = int(self.headers["content-length"])
            form = dict(parse_qsl(self.rfile.read(length).decode()))
            provider.asked.append(self.path)
            self.answer(provider.token(form, self.headers.get("authorization", "")))

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    provider.address = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield provider
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
