"""Signing in through others: an OpenID provider, and a proxy that is believed by its address."""

from __future__ import annotations

import http.client
from collections.abc import Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass

import pytest
from playwright.sync_api import Browser
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

from labelkit.store import Store
from labelkit.workflows.review.people import add_person, set_retired
from tests.browser.conftest import Visit, free_port, serving, visiting
from tests.browser.identity_provider import IdentityProvider, providing
from tests.browser.reviewing import AtDesk, Workplace, furnish

pytestmark = pytest.mark.browser

REFUSED = "the provider did not vouch for you"


@dataclass
class Office:
    """A workplace whose people an OpenID provider vouches for."""

    place: Workplace
    provider: IdentityProvider

    def visit(self, chromium: Browser) -> AbstractContextManager[Visit]:
        return visiting(chromium, self.place.address, also=(self.provider.address,))


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Office]:
    folder = tmp_path_factory.mktemp("oidc")
    made = furnish(folder, n=3)
    (folder / ".streamlit").mkdir()
    with providing() as provider, Store.open(made.url) as store:
        add_person(store, None, "Mia", "annotator", subject="mia-7")
        add_person(store, None, "Jun", "adjudicator", subject="jun-8")
        add_person(store, None, "Rex", "annotator", subject="rex-9")
        port = free_port()
        with (folder / "labelkit.yaml").open("a", encoding="utf-8") as settings:
            settings.write(f"app: {{login: oidc, port: {port}}}\n")
        secrets = folder / ".streamlit" / "secrets.toml"
        secrets.write_text(provider.toml(f"http://127.0.0.1:{port}"), encoding="utf-8")
        with serving(folder, port) as (address, _):
            made.address = address
            yield Office(made, provider)


@pytest.fixture
def office(running: Office) -> Office:
    running.provider.spoil = ""
    running.provider.asked.clear()
    return running


def sign_in(visit: Visit, office: Office, subject: str, **claims: object) -> None:
    """Press the button; the provider sends the browser back as this account."""
    office.provider.account = {"sub": subject, **claims}
    visit.go()
    visit.page.get_by_role("button", name="Sign in").click()


def test_an_account_of_the_provider_is_the_person_with_the_role(
    chromium: Browser, office: Office
) -> None:
    with office.visit(chromium) as visit:
        page, desk = visit.page, AtDesk(visit)
        sign_in(visit, office, "mia-7", email="somebody@else.example")
        desk.ready()
        assert page.locator(".lk-me span").inner_text() == "Mia"
        assert page.get_by_role("link", name="Adjudicate").count() == 0
        trace = desk.label("1")
        page.reload()
        desk.ready()
        page.get_by_role("link", name="Sign out").click()
        page.get_by_role("button", name="Sign in").wait_for()
        assert "/end" in office.provider.asked, "the provider was told"
        page.reload()
        page.get_by_role("button", name="Sign in").wait_for()
        assert page.locator(".st-key-desk").count() == 0
        sign_in(visit, office, "jun-8")
        page.get_by_role("link", name="Adjudicate").first.wait_for()
        assert page.locator(".lk-me span").inner_text() == "Jun"
    assert office.place.given("Mia") == [(trace, "correct")]


def test_an_account_that_was_not_added_is_told_so_in_one_sentence_and_can_leave(
    chromium: Browser, office: Office
) -> None:
    with office.visit(chromium) as visit:
        sign_in(visit, office, "<img src=x>eve", email="mia-7")
        alert = visit.page.get_by_role("alert")
        said = "nobody here has the identity '<img src=x>eve'; an admin adds it with"
        alert.filter(has_text=said).wait_for()
        assert visit.page.locator(".st-key-desk, .lk-me").count() == 0
        visit.page.get_by_role("link", name="Sign out").click()
        visit.page.get_by_text("sign in to go on").wait_for()


def test_who_is_retired_meanwhile_is_out_at_the_next_act(chromium: Browser, office: Office) -> None:
    with office.visit(chromium) as visit:
        desk = AtDesk(visit)
        sign_in(visit, office, "rex-9")
        desk.ready()
        with Store.open(office.place.url) as store:
            set_retired(store, None, "Rex")
        desk.press("1")
        desk.status("nobody here has the identity 'rex-9'")
        visit.page.reload()
        visit.page.get_by_role("alert").wait_for()
        assert visit.page.locator(".st-key-desk").count() == 0
    assert office.place.given("Rex") == []


def test_an_answer_that_does_not_hold_signs_nobody_in_and_is_told(
    chromium: Browser, office: Office
) -> None:
    with office.visit(chromium) as visit:
        page = visit.page
        for how in ("nonce", "expired", "signature", "audience", "issuer", "denied"):
            office.provider.spoil = how
            sign_in(visit, office, "mia-7")
            page.get_by_role("alert").filter(has_text=REFUSED).wait_for()
            held = {cookie["name"] for cookie in page.context.cookies()}
            assert not {name for name in held if name.startswith("_streamlit_user")}, how
        office.provider.spoil = ""
        page.get_by_role("link", name="Try again").click()
        page.get_by_role("button", name="Sign in").click()
        AtDesk(visit).ready()


def test_a_stranger_receives_no_text_of_a_trace_and_a_forged_cookie_is_none(
    chromium: Browser, office: Office
) -> None:
    frames: list[bytes] = []
    with office.visit(chromium) as visit:
        visit.page.context.add_cookies(
            [{"name": "_streamlit_user", "value": "forged", "url": office.place.address}]
        )
        visit.page.on(
            "websocket",
            lambda socket: socket.on(
                "framereceived", lambda d: frames.append(d.encode() if isinstance(d, str) else d)
            ),
        )
        for path in ("", "traces", "samples", f"?trace={office.place.traces[0].digest}"):
            visit.page.goto(f"{office.place.address}/{path}")
            visit.page.get_by_role("button", name="Sign in").wait_for()
    sent = b"".join(frames)
    assert b"sign in to go on" in sent
    assert b"search_orders" not in sent
    assert b"Mia" not in sent


def test_a_stranger_gets_nothing_of_the_store_by_any_address_of_the_server(office: Office) -> None:
    host, _, port = office.place.address.removeprefix("http://").partition(":")
    found = {}
    for path in (
        "",
        "traces",
        "_stcore/metrics",
        "_stcore/host-config",
        "_stcore/health",
        "media/a",
    ):
        connection = http.client.HTTPConnection(host, int(port), 30)
        connection.request("GET", f"/{path}")
        answer = connection.getresponse()
        found[path] = (answer.status, answer.read().decode("utf-8"))
        connection.close()
    assert {path: status for path, (status, _) in found.items()} == {
        "": 200,
        "traces": 200,
        "_stcore/metrics": 404,
        "_stcore/host-config": 200,
        "_stcore/health": 200,
        "media/a": 404,
    }
    assert found["traces"] == found[""], "the page into which scripts are loaded, for any address"
    for _, text in found.values():
        assert "search_orders" not in text
        assert "Mia" not in text


@pytest.fixture(scope="module")
def behind_proxy(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workplace]:
    """A server that believes the proxy at 127.0.0.2 alone."""
    folder = tmp_path_factory.mktemp("proxy")
    made = furnish(folder, n=1, sampled=False)
    with Store.open(made.url) as store:
        add_person(store, None, "Mia", "annotator", subject="mia@sso")
    with (folder / "labelkit.yaml").open("a", encoding="utf-8") as settings:
        settings.write("app: {login: proxy, header: X-Auth-User, proxies: [127.0.0.2]}\n")
    with serving(folder) as (address, _):
        made.address = address
        yield made


def asked_from(source: str, place: Workplace, *headers: tuple[str, str]) -> tuple[int, str]:
    """Status and text of the first page for a client at an address of this machine."""
    host, _, port = place.address.removeprefix("http://").partition(":")
    connection = http.client.HTTPConnection(host, int(port), 30, source_address=(source, 0))
    connection.putrequest("GET", "/")
    for name, value in headers:
        connection.putheader(name, value)
    connection.endheaders()
    answer = connection.getresponse()
    body = answer.read().decode()
    connection.close()
    return answer.status, body


MIA = ("X-Auth-User", "mia@sso")


def test_the_proxys_word_counts_from_the_proxy_alone(behind_proxy: Workplace) -> None:
    assert asked_from("127.0.0.2", behind_proxy, MIA)[0] == 200
    assert asked_from("127.0.0.2", behind_proxy)[0] == 403
    assert asked_from("127.0.0.1", behind_proxy, MIA)[0] == 403
    # A header by which a client claims to call from the proxy, or a proxy tells of its client.
    for forwarded in ("X-Forwarded-For", "X-Real-IP", "Forwarded"):
        claim = "for=127.0.0.2" if forwarded == "Forwarded" else "127.0.0.2"
        assert asked_from("127.0.0.1", behind_proxy, MIA, (forwarded, claim))[0] == 403
    assert asked_from("127.0.0.2", behind_proxy, MIA, ("X-Forwarded-For", "203.0.113.9"))[0] == 200


def test_a_name_that_comes_twice_is_nobodys(behind_proxy: Workplace) -> None:
    assert asked_from("127.0.0.2", behind_proxy, ("X-Auth-User", "ada@sso"), MIA)[0] == 403
    status, said = asked_from("127.0.0.2", behind_proxy, ("X-Auth-User", "eve@sso"))
    assert (status, "nobody here has the identity 'eve@sso'" in said) == (403, True)


def test_a_websocket_with_a_spoofed_name_is_refused(behind_proxy: Workplace) -> None:
    address = behind_proxy.address.replace("http", "ws") + "/_stcore/stream"
    named = {"X-Auth-User": "mia@sso", "X-Forwarded-For": "127.0.0.2"}
    with pytest.raises(InvalidStatus) as refused, connect(address, additional_headers=named):
        pass
    assert refused.value.response.status_code == 403
    with connect(address, additional_headers=named, source_address=("127.0.0.2", 0)):
        pass
