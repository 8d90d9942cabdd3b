"""Who may come in: the sign-in page, the session cookie, and the one header that pages believe.

The gate stands before Streamlit. It takes away what a browser says about its own identity and
puts in a signed token for who it really is; pages read nothing else. A page still asks the store
at every run who that is (``app.who``), so a role, a retirement or an end of session counts at once.

With OIDC Streamlit itself asks, and keeps the answer in a cookie of its own; the gate only says so
when the provider's answer was not accepted, about which Streamlit is silent. Who has not signed in
there reaches what holds nothing of a store: Streamlit's own page, script, style and fonts, the
scripts of our components, health and host settings, and a session in which every page ends at the
offer to sign in. A file for download is named by the hash of its content, which nobody guesses.
What counts sessions and what takes uploads is closed to everybody: no page needs it.
"""

from __future__ import annotations

import html
from http.cookies import CookieError, SimpleCookie
from urllib.parse import parse_qs, quote, urlsplit

from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.opened import app_settings, has_people, session_age, the_store
from labelkit.workflows.browse import Fault
from labelkit.workflows.review.people import (
    issue_token,
    person_of_subject,
    person_of_token,
    sign_in,
)

COOKIE = "labelkit_session"
HEADER = "x-labelkit-token"
"""What pages read. A browser's own is thrown away."""

OPEN = ("/login", "/logout", "/_stcore/health", "/favicon.png", "/static/")
CLOSED = ("/_stcore/metrics", "/_stcore/upload_file")
CALLBACK = "/oauth2callback"
"""Where a provider sends the browser back to, and the cookie Streamlit makes of its answer."""

VOUCHED = b"_streamlit_user="
LONGEST_FORM = 10_000
_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Sign in - labelkit</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<style>
:root {{ color-scheme: light dark }}
body {{ font: 1rem/1.5 system-ui, sans-serif; margin: 0; min-height: 100vh; display: grid;
  place-items: center; background: light-dark(#FCFCFE, #12151D);
  color: light-dark(#10131F, #E9ECF5) }}
main {{ width: min(22rem, 90vw) }}
h1 {{ font-size: 1.35rem }}
label {{ display: block; margin: .9rem 0 .25rem }}
input {{ font: inherit; width: 100%; box-sizing: border-box; padding: .5rem .7rem;
  border: 1px solid light-dark(#72798F, #8E96AC); border-radius: 8px; background: transparent;
  color: inherit }}
button {{ font: inherit; font-weight: 600; margin-top: 1.2rem; width: 100%; padding: .55rem;
  border: 0; border-radius: 8px; background: light-dark(#2F4BC7, #8FA5FF);
  color: light-dark(#fff, #10131F); cursor: pointer }}
:focus-visible {{ outline: 3px solid light-dark(#2F4BC7, #8FA5FF); outline-offset: 2px }}
[role=alert] {{ border-left: 4px solid #C4453D; padding: .3rem .8rem; overflow-wrap: anywhere }}
</style></head><body><main><h1>labelkit</h1>{said}{form}</main></body></html>
"""
_FORM = """
<form method="post"><input type="hidden" name="next" value="{after}">
<label for="name">Name</label>
<input id="name" name="name" autocomplete="username" required autofocus value="{name}">
<label for="passphrase">Passphrase</label>
<input id="passphrase" name="passphrase" type="password" autocomplete="current-password" required>
<button>Sign in</button></form>"""
_REFUSED = (
    "You are not signed in: the provider did not vouch for you, or its answer was too old or not"
    " meant for this server."
)


def token_of_cookie(headers: Headers) -> str | None:
    """The session token a browser holds, unread."""
    try:
        found = SimpleCookie(headers.get("cookie", "")).get(COOKIE)
    except CookieError:
        return None
    return found.value if found else None


def token_of(scope: Scope) -> str | None:
    """The true token of who asks, or None: nobody we know.

    Raises:
        Fault: a proxy vouches for somebody who was not added here.
    """
    settings, headers = app_settings(), Headers(scope=scope)
    if settings.login == "proxy":
        peer = (scope.get("client") or ("", 0))[0]
        named = headers.getlist(settings.header)
        # Twice: the proxy has let through what the browser says beside what it says itself.
        if peer not in settings.proxies or len(named) != 1 or not named[0]:
            return None
        return issue_token(the_store(), person_of_subject(the_store(), named[0]))
    token = token_of_cookie(headers)
    known = token and person_of_token(the_store(), token, max_age=session_age())
    return token if known else None


class Gate:
    """Lets in who signed in; everybody else is sent to the sign-in page, or refused."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on with the true token, or answer it here."""
        if scope["type"] not in {"http", "websocket"}:
            await self._app(scope, receive, send)
            return
        if scope["path"].startswith(CLOSED):
            await PlainTextResponse("there is no such page", 404)(scope, receive, send)
            return
        headers = [(key, value) for key, value in scope["headers"] if key.decode() != HEADER]
        inside = {**scope, "headers": headers}
        # With OIDC Streamlit itself asks: the pages show nothing but its sign-in until then.
        if app_settings().login == "oidc":
            await self._app(inside, receive, told(scope, send))
            return
        if scope["path"].startswith(OPEN) or not has_people():
            await self._app(inside, receive, send)
            return
        try:
            token = await run_in_threadpool(token_of, scope)
        except Fault as fault:
            await refuse(scope, receive, send, str(fault))
            return
        if token is None:
            await refuse(scope, receive, send)
            return
        inside["headers"] = [*headers, (HEADER.encode(), token.encode())]
        await self._app(inside, receive, send)


async def refuse(scope: Scope, receive: Receive, send: Send, why: str = "") -> None:
    """Answer somebody whom we do not know."""
    if scope["type"] == "websocket":
        await receive()
        await send({"type": "websocket.close", "code": 4401})
        return
    response: Response
    if app_settings().login == "passphrase" and scope["method"] == "GET":
        after = scope["path"] + (
            f"?{scope['query_string'].decode()}" if scope["query_string"] else ""
        )
        response = RedirectResponse(f"/login?next={quote(after)}", 303)
    else:
        response = PlainTextResponse(why or "sign in first", 403)
    await response(scope, receive, send)


def told(scope: Scope, send: Send) -> Send:
    """Send a browser whose answer from the provider was refused to where that is said."""
    if scope["path"] != CALLBACK:
        return send
    # Providers come back here after signing out as well, with neither.
    tried = {"code", "error"} & parse_qs(scope["query_string"].decode("latin-1")).keys()

    async def telling(message: Message) -> None:
        if tried and message["type"] == "http.response.start" and not vouched(message):
            kept = [(key, value) for key, value in message["headers"] if key != b"location"]
            message["headers"] = [*kept, (b"location", b"/login?refused=1")]
        await send(message)

    return telling


def vouched(answer: Message) -> bool:
    """Whether an answer gives the browser Streamlit's cookie rather than none, or an empty one."""
    return any(
        key == b"set-cookie" and value.startswith(VOUCHED) and b"max-age=0" not in value.lower()
        for key, value in answer["headers"]
    )


def own_path(wanted: str) -> str:
    """Where to go after signing in: a path of this server and never another host."""
    parts = urlsplit(wanted.replace("\\", "/"))
    local = not parts.scheme and not parts.netloc and wanted.startswith("/")
    return wanted if local and wanted.isprintable() else "/"


def sign_in_page(said: str = "", *, name: str = "", after: str = "/") -> HTMLResponse:
    """The form; ``said`` is why the last try failed."""
    alert = f'<p role="alert">{html.escape(said)}</p>' if said else ""
    form = _FORM.format(name=html.escape(name), after=html.escape(after))
    body = _PAGE.format(said=alert, form=form)
    return HTMLResponse(body, 401 if said else 200, headers={"cache-control": "no-store"})


def refused_page() -> HTMLResponse:
    """What is said after a provider's answer was refused."""
    body = _PAGE.format(
        said=f'<p role="alert">{_REFUSED}</p>', form='<p><a href="/">Try again</a></p>'
    )
    return HTMLResponse(body, 401, headers={"cache-control": "no-store"})


async def login(request: Request) -> Response:
    """Show the form; take name and passphrase and give a session."""
    if app_settings().login != "passphrase":
        return refused_page() if "refused" in request.query_params else RedirectResponse("/", 303)
    if request.method == "GET":
        return sign_in_page(after=own_path(request.query_params.get("next", "/")))
    origin = request.headers.get("origin")
    if origin and origin != "null" and urlsplit(origin).netloc != request.headers.get("host"):
        return PlainTextResponse("this form was sent from another site", 403)
    if int(request.headers.get("content-length") or LONGEST_FORM + 1) > LONGEST_FORM:
        return PlainTextResponse("the form is too long", 413)
    form = await request.form()
    name, passphrase = str(form.get("name", "")), str(form.get("passphrase", ""))
    after = own_path(str(form.get("next", "/")))
    try:
        person = await run_in_threadpool(sign_in, the_store(), name, passphrase)
    except Fault as fault:
        return sign_in_page(str(fault), name=name, after=after)
    response = RedirectResponse(after, 303)
    response.set_cookie(
        COOKIE,
        issue_token(the_store(), person),
        max_age=int(session_age().total_seconds()),
        httponly=True,
        samesite="strict",
        secure=request.url.scheme == "https",
    )
    return response


async def logout(_request: Request) -> Response:
    """Forget the session in this browser; with OIDC Streamlit does, and tells the provider."""
    if app_settings().login == "oidc":
        return RedirectResponse("/auth/logout", 303)
    response = RedirectResponse("/login", 303)
    response.delete_cookie(COOKIE, httponly=True, samesite="strict")
    return response


ROUTES = [Route("/login", login, methods=["GET", "POST"]), Route("/logout", logout)]
