"""The gate: who comes in, what a browser may claim about itself, and where it is sent."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route, WebSocketRoute
from starlette.testclient import TestClient
from starlette.websockets import WebSocket, WebSocketDisconnect

from app.gate import COOKIE, HEADER, ROUTES, Gate, own_path
from app.opened import SETTINGS, STORE, browser
from labelkit.domain.person import Role
from labelkit.settings import AppSettings
from labelkit.store import Store
from labelkit.workflows.review.people import add_person, person_of_token, set_retired

WORD = "correct horse"


async def echo(request: Request) -> JSONResponse:
    return JSONResponse({"tokens": request.headers.getlist(HEADER)})


async def echo_socket(socket: WebSocket) -> None:
    await socket.accept()
    await socket.send_json({"tokens": socket.headers.getlist(HEADER)})
    await socket.close()


@pytest.fixture
def url(tmp_path: Path) -> str:
    address = f"sqlite:///{tmp_path / 'labelkit.db'}"
    with Store.open(address, create=True) as store:
        add_person(store, None, "Ada", Role.ADMIN, passphrase=WORD, subject="ada@sso")
        add_person(store, None, "Ben", Role.ANNOTATOR, passphrase=WORD)
    return address


@pytest.fixture
def serve(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., TestClient]]:
    """The gate before a page that says which token it was given."""
    urls: list[str] = []

    def start(url: str, **settings: object) -> TestClient:
        urls.append(url)
        monkeypatch.setenv(STORE, url)
        monkeypatch.setenv(SETTINGS, AppSettings.model_validate(settings).model_dump_json())
        routes = [*ROUTES, WebSocketRoute("/socket", echo_socket), Route("/{any:path}", echo)]
        app = Starlette(routes=routes, middleware=[Middleware(Gate)])
        return TestClient(app, follow_redirects=False, client=("127.0.0.1", 5000))

    yield start
    for address in urls:
        browser(address).close()
    browser.cache_clear()


def signed_in(client: TestClient, name: str = "Ada", passphrase: str = WORD) -> TestClient:
    answer = client.post("/login", data={"name": name, "passphrase": passphrase, "next": "/"})
    assert answer.status_code == 303, answer.text
    return client


def test_a_stranger_is_sent_to_sign_in_and_back(serve: Callable[..., TestClient], url: str) -> None:
    client = serve(url)
    answer = client.get("/annotate?trace=ab")
    assert answer.status_code == 303
    assert answer.headers["location"] == "/login?next=/annotate%3Ftrace%3Dab"
    assert 'value="/annotate?trace=ab"' in client.get(answer.headers["location"]).text


def test_the_cookie_is_out_of_reach_of_scripts_and_other_sites(
    serve: Callable[..., TestClient], url: str
) -> None:
    client = serve(url, session_hours=1)
    answer = client.post("/login", data={"name": "ada ", "passphrase": WORD, "next": "/x"})
    cookie = answer.headers["set-cookie"].lower()
    assert answer.headers["location"] == "/x"
    assert all(part in cookie for part in ("httponly", "samesite=strict", "max-age=3600"))
    (token,) = client.get("/").json()["tokens"]
    person = person_of_token(browser(url).store, token)
    assert person is not None
    assert person.name == "Ada"


def test_a_wrong_passphrase_is_told_in_text_and_gives_nothing(
    serve: Callable[..., TestClient], url: str
) -> None:
    client = serve(url)
    name = '"><script>alert(1)</script>'
    answer = client.post("/login", data={"name": name, "passphrase": "no", "next": "/"})
    assert answer.status_code == 401
    assert "name or passphrase is wrong" in answer.text
    assert "<script>" not in answer.text
    assert COOKIE not in client.cookies


def test_what_a_browser_says_it_is_counts_for_nothing(
    serve: Callable[..., TestClient], url: str
) -> None:
    client = serve(url)
    assert client.get("/", headers={HEADER: "forged"}).status_code == 303
    signed_in(client)
    (token,) = client.get("/", headers={HEADER: "forged"}).json()["tokens"]
    assert token != "forged"
    client.cookies.clear()
    client.cookies.set(COOKIE, "forged")
    assert client.get("/").status_code == 303


def test_a_socket_without_a_session_is_refused(serve: Callable[..., TestClient], url: str) -> None:
    client = serve(url)
    with pytest.raises(WebSocketDisconnect), client.websocket_connect("/socket"):
        pass
    with signed_in(client).websocket_connect("/socket", headers={HEADER: "forged"}) as socket:
        (token,) = socket.receive_json()["tokens"]
    assert token != "forged"


def test_a_retired_person_is_out_at_once(serve: Callable[..., TestClient], url: str) -> None:
    client = signed_in(serve(url), "Ben")
    assert client.get("/").status_code == 200
    set_retired(browser(url).store, None, "Ben")
    assert client.get("/").status_code == 303


def test_signing_out_forgets_the_session(serve: Callable[..., TestClient], url: str) -> None:
    client = signed_in(serve(url))
    assert client.get("/logout").headers["location"] == "/login"
    assert client.get("/").status_code == 303


def test_two_servers_on_one_store_know_each_others_sessions(
    serve: Callable[..., TestClient], url: str
) -> None:
    one, other = serve(url), serve(url)
    other.cookies = signed_in(one).cookies
    assert other.get("/").status_code == 200


def test_a_form_of_another_site_is_refused(serve: Callable[..., TestClient], url: str) -> None:
    client = serve(url)
    data = {"name": "Ada", "passphrase": WORD}
    answer = client.post("/login", data=data, headers={"origin": "https://evil.example"})
    assert answer.status_code == 403
    assert client.post("/login", data=data | {"next": "x" * 20_000}).status_code == 413


@pytest.mark.parametrize(
    "elsewhere", ["//evil.example", "https://evil.example", "/\\evil.example", "x", "/a\nb"]
)
def test_signing_in_never_leads_to_another_host(elsewhere: str) -> None:
    assert own_path(elsewhere) == "/"
    assert own_path("/annotate?trace=ab") == "/annotate?trace=ab"


def test_a_proxy_is_believed_only_at_its_own_address(
    serve: Callable[..., TestClient], url: str
) -> None:
    known = {"X-Forwarded-User": "ada@sso"}
    client = serve(url, login="proxy")
    (token,) = client.get("/", headers=known).json()["tokens"]
    person = person_of_token(browser(url).store, token)
    assert person is not None
    assert person.name == "Ada"
    assert client.get("/").status_code == 403
    refused = client.get("/", headers={"X-Forwarded-User": "eve@sso"})
    assert refused.status_code == 403
    assert "labelkit people add" in refused.text
    assert (
        serve(url, login="proxy", proxies=["10.0.0.1"]).get("/", headers=known).status_code == 403
    )


def test_with_oidc_leaving_is_streamlits_and_a_refused_answer_is_told(
    serve: Callable[..., TestClient], url: str
) -> None:
    client = serve(url, login="oidc")
    assert client.get("/logout").headers["location"] == "/auth/logout"
    assert client.get("/login").headers["location"] == "/"
    said = client.get("/login?refused=1")
    assert (said.status_code, 'role="alert"' in said.text) == (401, True)
    assert client.get("/", headers={HEADER: "forged"}).json() == {"tokens": []}


@pytest.mark.parametrize("login", ["passphrase", "oidc"])
@pytest.mark.parametrize(
    ("method", "path"), [("GET", "/_stcore/metrics"), ("PUT", "/_stcore/upload_file/s/f")]
)
def test_what_no_page_needs_is_closed_to_everybody(
    serve: Callable[..., TestClient], url: str, login: str, method: str, path: str
) -> None:
    assert serve(url, login=login).request(method, path).status_code == 404


def test_a_name_that_comes_twice_through_the_proxy_is_nobodys(
    serve: Callable[..., TestClient], url: str
) -> None:
    named = [("X-Forwarded-User", "ada@sso"), ("X-Forwarded-User", "eve@sso")]
    assert serve(url, login="proxy").get("/", headers=named).status_code == 403


def test_without_any_people_there_is_nothing_to_sign_in_to(
    serve: Callable[..., TestClient], tmp_path: Path
) -> None:
    address = f"sqlite:///{tmp_path / 'empty.db'}"
    with Store.open(address, create=True):
        pass
    client = serve(address)
    assert client.get("/", headers={HEADER: "forged"}).json() == {"tokens": []}
    with Store.open(address) as store:
        add_person(store, None, "Ada", Role.ADMIN, passphrase=WORD)
    assert client.get("/").status_code == 303
