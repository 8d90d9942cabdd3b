"""The embedded model: a llama.cpp server in a child process, so that labelkit runs without a key.

To the rest of labelkit it is an OpenAI-compatible endpoint like any other; this module only makes
its base URL come to exist, and go away again. The server listens on loopback, on a random port,
behind a random key. It may not interpret replies and it may not download anything
(``labelkit.models.weights`` does).
"""

from __future__ import annotations

import contextlib
import importlib.util
import json
import os
import re
import secrets
import select
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Self

from labelkit.domain.endpoint import Endpoint
from labelkit.errors import EndpointError
from labelkit.models import child
from labelkit.models.openmp import environment_with_openmp
from labelkit.models.weights import check_gguf, find_weights

CONTEXT_TOKENS = 8192
"""Default context: what the packaged model was trained for."""

CONCURRENCY = 2
"""One request in the slot and one waiting keep it busy; more would only wait into their timeout."""

_LOG_TAIL_LINES = 8
_LOGGED_ERROR = re.compile(r"^[\d.]+ E +")
"""How llama.cpp marks an error in its log; the first one is the cause of the others."""

_POLL_S = 0.05


class LocalServer(child.ChildServer):
    """One embedded model, running while the ``with`` (or ``async with``) block is open.

    Args:
        model: a GGUF file, the name of a fetched model, or None for the packaged one.
        n_ctx: context in tokens, shared by prompt and reply.
        threads: CPU threads; None takes every core this process may use.
        start_timeout_s: how long loading may take before it counts as failed.

    Raises:
        EndpointError: from ``start``, when the model cannot be found, read or served.
    """

    def __init__(
        self,
        model: str | Path | None = None,
        *,
        alias: str = "local",
        n_ctx: int = CONTEXT_TOKENS,
        threads: int | None = None,
        start_timeout_s: float = 180.0,
    ) -> None:
        self.model = model
        self.alias = alias
        self.n_ctx = n_ctx
        self.threads = threads or len(os.sched_getaffinity(0))
        self.start_timeout_s = start_timeout_s
        self.api_key = secrets.token_urlsafe(24)
        self.path: Path | None = None
        self._address = ""
        self._process: subprocess.Popen[bytes] | None = None
        self._log: Any = None
        self._folder: tempfile.TemporaryDirectory[str] | None = None

    @property
    def base_url(self) -> str:
        """``http://127.0.0.1:PORT/v1``.

        Raises:
            EndpointError: when the server is not running.
        """
        if not self._address:
            raise EndpointError("the embedded server is not running; start it before using its URL")
        return f"{self._address}/v1"

    @property
    def pid(self) -> int | None:
        """Process id of the child, or None while it is not running."""
        return self._process.pid if self._process else None

    def start(self) -> Self:
        """Start the child and return when it answers its health check; a no-op when running."""
        if self._process is not None:
            return self
        self.path = find_weights(self.model)
        check_gguf(self.path)
        if importlib.util.find_spec("xllamacpp") is None:
            raise EndpointError(
                "the embedded model needs the package xllamacpp, which is not installed; "
                "run `pip install 'labelkit[local]'`, or configure an endpoint with engine: api"
            )
        self._log = tempfile.TemporaryFile(prefix="labelkit-local-")  # noqa: SIM115
        self._folder = tempfile.TemporaryDirectory(prefix="labelkit-local-")
        self._process = subprocess.Popen(
            [sys.executable, "-m", "labelkit.models.local_server"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
            env=environment_with_openmp(Path(self._folder.name)),
            # Ctrl-C is for us: we end the server after the row in hand is recorded.
            start_new_session=True,
        )
        try:
            self._hand_over()
            self._wait_until_healthy()
        except BaseException:
            self.stop()
            raise
        return self

    def stop(self) -> None:
        """End the child; safe to call twice."""
        process, self._process, self._address = self._process, None, ""
        if process is not None:
            child.end(process)
        if self._folder is not None:
            self._folder.cleanup()
            self._folder = None
        if self._log is not None:
            self._log.close()
            self._log = None

    def log_tail(self) -> str:
        """The last lines of llama.cpp's own log, or "" while it does not run."""
        if self._log is None:
            return ""
        return "\n".join(child.last_lines(self._log, _LOG_TAIL_LINES))

    def _hand_over(self) -> None:
        """Tell the child what to serve and read the address it chose."""
        process = self._running()
        stdin, stdout = process.stdin, process.stdout
        if stdin is None or stdout is None:  # never: start() asks for both pipes
            raise EndpointError("the embedded server has no pipes")
        asked = {
            "path": str(self.path),
            "alias": self.alias,
            "api_key": self.api_key,
            "n_ctx": self.n_ctx,
            "threads": self.threads,
        }
        with contextlib.suppress(BrokenPipeError):
            stdin.write(json.dumps(asked).encode() + b"\n")
            stdin.flush()
        ready, _, _ = select.select([stdout], [], [], self.start_timeout_s)
        if not ready:
            raise self._failure(f"did not load within {self.start_timeout_s:g} s")
        line = stdout.readline()
        try:
            self._address = str(json.loads(line)["address"])
        except (ValueError, KeyError) as error:
            process.wait(child.STOP_PATIENCE_S)
            raise self._failure(child.how_it_ended(process.returncode)) from error

    def _wait_until_healthy(self) -> None:
        """Poll the health check until it says ok."""
        process = self._running()
        deadline = time.monotonic() + self.start_timeout_s
        while not child.healthy(self._address):
            if process.poll() is not None:
                raise self._failure(child.how_it_ended(process.returncode))
            if time.monotonic() > deadline:
                raise self._failure(f"was not healthy within {self.start_timeout_s:g} s")
            time.sleep(_POLL_S)

    def _running(self) -> subprocess.Popen[bytes]:
        if self._process is None:
            raise EndpointError("the embedded server is not running")
        return self._process

    def _failure(self, what: str) -> EndpointError:
        lines = self.log_tail().splitlines()
        error = next((line for line in lines if _LOGGED_ERROR.match(line)), "".join(lines[-1:]))
        said = f"; its log says: {_LOGGED_ERROR.sub('', error)}" if error else ""
        return EndpointError(
            f"the embedded server {what} on {self.path}; "
            f"check that the file is a complete GGUF chat model{said}"
        )


@contextlib.contextmanager
def resolve(endpoint: Endpoint, *, n_ctx: int = CONTEXT_TOKENS) -> Iterator[Endpoint]:
    """Yield an endpoint that can be called: engine ``local`` gets a running server behind it.

    Any other endpoint, and a local one that has its ``base_url`` already, is yielded as it is.
    The server's key is put into an environment variable of this process for the time of the
    block, because an endpoint never holds a key itself.

    Raises:
        EndpointError: when the server cannot be started.
    """
    if endpoint.engine != "local" or endpoint.base_url:
        yield endpoint
        return
    with LocalServer(endpoint.model_path, alias=endpoint.model, n_ctx=n_ctx) as server:
        variable = f"LABELKIT_LOCAL_KEY_{server.pid}"
        os.environ[variable] = server.api_key
        try:
            yield endpoint.model_copy(
                update={
                    "base_url": server.base_url,
                    "api_key_env": variable,
                    "max_concurrency": min(endpoint.max_concurrency, CONCURRENCY),
                }
            )
        finally:
            os.environ.pop(variable, None)
