"""Stands in for vLLM: same options, health check, key and kind of log; started as a program.

``STANDIN`` in the environment says how it behaves: ``slow``, ``crash``, ``deaf`` (listens nowhere),
``other`` (serves another model), ``taken`` (the first start finds its port taken; ``STANDIN_MARK``
is a file that remembers it). A worker process of its own is started as vLLM does.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path


def main() -> None:
    """Behave as told."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--model", required=True)
    parser.add_argument("--served-model-name", required=True)
    parser.add_argument("--host", required=True)
    parser.add_argument("--port", type=int, required=True)
    options, others = parser.parse_known_args()
    way = os.environ.get("STANDIN", "")
    print("INFO 10-01 10:00:00 [api_server.py:1] others: " + json.dumps(others), flush=True)
    if way == "crash":
        print("(EngineCore pid=7) Traceback (most recent call last):")
        print(f"(EngineCore pid=7) ValueError: {options.model} has 3 heads for 2 GPUs")
        print("RuntimeError: Engine core initialization failed. See root cause above.")
        sys.exit(1)
    if way == "taken" and not Path(os.environ["STANDIN_MARK"]).exists():
        Path(os.environ["STANDIN_MARK"]).write_text(str(options.port), encoding="utf-8")
        print("OSError: [Errno 98] Address already in use")
        sys.exit(1)
    worker = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    print(f"worker {worker.pid}", flush=True)
    if way == "deaf":
        print("INFO loading weights", flush=True)
        time.sleep(600)
    name = "another" if way == "other" else options.served_model_name
    ready = time.monotonic() + (1.0 if way == "slow" else 0.0)

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            key = f"Bearer {os.environ['VLLM_API_KEY']}"
            if self.path == "/health":
                self._send(200 if time.monotonic() >= ready else 503, {})
            elif self.headers.get("authorization") != key:
                self._send(401, {"error": "Unauthorized"})
            else:
                self._send(200, {"data": [{"id": name}]})

        def _send(self, status: int, value: object) -> None:
            body = json.dumps(value).encode()
            self.send_response(status)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    ThreadingHTTPServer((options.host, options.port), Handler).serve_forever()


if __name__ == "__main__":
    main()
