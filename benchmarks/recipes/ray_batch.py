"""Runs a request file of ``labelkit judge --batch-out`` with Ray Data LLM, on one node or many.

    pip install 'ray[data]'
    python ray_batch.py requests.jsonl results.jsonl http://HOST:8000/v1 [--key-env NAME]

Every line is sent to an OpenAI-compatible HTTP endpoint by Ray's own request processor; the result
lines are those of an OpenAI batch, for ``labelkit judge --batch-in results.jsonl``. It needs
nothing of labelkit. A line that fails is left out and stays owed. Without an endpoint, two other
engines read the same file: ``labelkit batch submit`` (a Batch API), and
``vllm run-batch -i requests.jsonl -o results.jsonl --model MODEL``.
"""

from __future__ import annotations

import argparse
import json
import os
from pathlib import Path
from typing import Any


def rows_of(path: Path) -> list[dict[str, Any]]:
    """The requests as rows of two texts, which every column format holds."""
    with path.open(encoding="utf-8") as file:
        lines = [json.loads(line) for line in file if line.strip()]
    return [{"custom_id": line["custom_id"], "body": json.dumps(line["body"])} for line in lines]


def result_line(custom_id: str, reply: Any) -> str:
    """One line of a result file."""
    response = {"status_code": 200, "request_id": "ray", "body": reply}
    return json.dumps({"custom_id": custom_id, "response": response, "error": None})


def preprocess(row: dict[str, Any]) -> dict[str, Any]:
    """What Ray sends for a row."""
    return {"payload": json.loads(row["body"])}


def postprocess(row: dict[str, Any]) -> dict[str, Any]:
    """What is kept of a reply."""
    return {"custom_id": row["custom_id"], "reply": json.dumps(row["http_response"])}


def run(requests: Path, results: Path, base_url: str, key: str | None, concurrency: int) -> int:
    """Send every request; returns the number of result lines."""
    import ray  # noqa: PLC0415 - the pure parts above are tested without it
    from ray.data.llm import HttpRequestProcessorConfig, build_processor  # noqa: PLC0415

    config = HttpRequestProcessorConfig(
        url=f"{base_url.rstrip('/')}/chat/completions",
        headers={"Authorization": f"Bearer {key}"} if key else None,
        qps=None,
        concurrency=concurrency,
        batch_size=64,
    )
    processor = build_processor(config, preprocess=preprocess, postprocess=postprocess)
    data = processor(ray.data.from_items(rows_of(requests)))
    count = 0
    with results.open("w", encoding="utf-8") as file:
        for row in data.iter_rows():
            file.write(result_line(row["custom_id"], json.loads(row["reply"])) + "\n")
            count += 1
    return count


def main() -> None:
    """Parse options and run."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("requests", type=Path)
    parser.add_argument("results", type=Path)
    parser.add_argument("base_url")
    parser.add_argument("--key-env", help="environment variable that holds the key")
    parser.add_argument("--concurrency", type=int, default=1, help="Ray workers")
    options = parser.parse_args()
    key = os.environ[options.key_env] if options.key_env else None
    count = run(options.requests, options.results, options.base_url, key, options.concurrency)
    print(f"{count} result lines in {options.results}")


if __name__ == "__main__":
    main()
