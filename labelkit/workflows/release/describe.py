"""A release described for people (a Hugging Face dataset card) and for machines (Croissant)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from labelkit.domain.rubric import Rubric
from labelkit.domain.terms import Terms
from labelkit.printable import printable
from labelkit.workflows.release.checksums import sha256
from labelkit.workflows.release.tables import TABLES

_NAMES = (
    "citeAs column conformsTo equivalentProperty extract field fileProperty fileObject fileSet "
    "format includes isLiveDataset jsonPath key md5 parentField path recordSet references regex "
    "repeated replace samplingRate separator source subField transform"
)
_CONTEXT: dict[str, Any] = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    **{name: f"cr:{name}" for name in _NAMES.split()},
    "conformsTo": "dct:conformsTo",
    "cr": "http://mlcommons.org/croissant/",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "dct": "http://purl.org/dc/terms/",
    "examples": {"@id": "cr:examples", "@type": "@json"},
    "sc": "https://schema.org/",
}
_TYPES = {pa.int64(): "sc:Integer", pa.bool_(): "sc:Boolean", pa.float64(): "sc:Float"}
_MEANING = {
    "tasks": "the benchmark problems; `body` is the task as JSON",
    "traces": "the rollouts; `body` is the trace as canonical JSON, `digest` its SHA-256",
    "raters": "who labelled: rules, judges (with everything that could change a label), people",
    "labels": "every label of every rater in every version; the highest version counts",
    "reviews": "what each person finished in a sample, act by act",
    "decisions": "adjudications, every version",
    "gold": "true labels: decided, or agreed by all people who labelled the item",
    "disagreements": "items that people labelled differently, and what was decided",
}


def croissant(folder: Path, head: Mapping[str, Any], rubric: Rubric) -> dict[str, Any]:
    """Return the Croissant 1.0 description of the tables in ``folder``."""
    tables = [name for name in TABLES if (folder / f"{name}.jsonl").exists()]
    files = [f"{name}.{ending}" for name in tables for ending in ("jsonl", "parquet")]
    return {
        "@context": _CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": "http://mlcommons.org/croissant/1.0",
        "name": head["name"],
        "description": f"Labels under the rubric {rubric.name} {rubric.version}: {rubric.title}.",
        "version": head["version"],
        "license": sorted({terms["licence"] for terms in head["terms"]}) or [rubric.licence],
        "url": head["url"],
        "datePublished": head["date"],
        "citeAs": head["name"],
        "distribution": [_file(folder, name) for name in files],
        "recordSet": [_records(name) for name in tables],
    }


def _file(folder: Path, name: str) -> dict[str, Any]:
    lines = name.endswith(".jsonl")
    return {
        "@type": "cr:FileObject",
        "@id": name,
        "name": name,
        "contentUrl": name,
        "encodingFormat": "application/jsonlines" if lines else "application/x-parquet",
        "sha256": sha256(folder / name),
    }


def _records(table: str) -> dict[str, Any]:
    """Scalar columns as fields; nested ones are described in the card."""
    fields = [
        {
            "@type": "cr:Field",
            "@id": f"{table}/{column.name}",
            "name": column.name,
            "dataType": _TYPES.get(column.type, "sc:Text"),
            "source": {
                "fileObject": {"@id": f"{table}.parquet"},
                "extract": {"column": column.name},
            },
        }
        for column in TABLES[table]
        if not pa.types.is_list(column.type)
    ]
    return {
        "@type": "cr:RecordSet",
        "@id": table,
        "name": table,
        "description": _MEANING[table],
        "field": fields,
    }


def readme(
    folder: Path,
    head: Mapping[str, Any],
    rubric: Rubric,
    results: Mapping[str, Any],
    notes: Sequence[str],
    figures: Sequence[str],
) -> str:
    """Return the dataset card: front matter that Hugging Face reads, then text for people."""
    tables = [name for name in TABLES if (folder / f"{name}.parquet").exists()]
    parts = [
        _front_matter(head, tables),
        f"# {head['name']} {head['version']}\n",
        (
            f"{rubric.title}. Labelled under the rubric `{rubric.name}` {rubric.version} "
            f"(digest `{rubric.digest[:12]}`). Source of the scheme: {rubric.source}\n"
        ),
        "## What is in it\n",
        *(f"- `{name}`: {_MEANING[name]}" for name in tables),
        "- `rubric/`: the scheme with its guideline and the prompts that judges saw",
        "- `sampling.json`: frame, design, seed and inclusion probability of every sampled row",
        "- `results.json`: every number, with denominator, n, coverage, interval and bounds",
        "- `SHA256SUMS`: checksums of all files\n",
        (
            "A text that begins with `json:` is JSON for what a file cannot hold (NUL, a lone "
            "surrogate).\n"
        ),
        (
            "```python\nimport json\nfrom datasets import load_dataset\n\n"
            'labels = load_dataset("parquet", data_files="labels.parquet")["train"]\n'
            'traces = load_dataset("parquet", data_files="traces.parquet")["train"]\n'
            'messages = [json.loads(body)["messages"] for body in traces["body"] if body]\n```\n'
        ),
        "## Numbers\n",
        *_numbers(results),
        *(f"![{name}](figures/{name}.png)\n" for name in figures),
        "## Licences, people, gaps\n",
        *(f"- {note}" for note in notes),
        "",
        "## Check it\n",
        "```sh\npip install labelkit\nlabelkit verify .\n```\n",
        "recomputes every number of `results.json` from these files alone.",
    ]
    return "\n".join(parts) + "\n"


def _front_matter(head: Mapping[str, Any], tables: Sequence[str]) -> str:
    configs = "\n".join(
        f"- config_name: {name}\n  data_files:\n  - split: train\n    path: {name}.parquet"
        for name in tables
    )
    licences = sorted({terms["licence"] for terms in head["terms"]})
    licence = licences[0].lower() if len(licences) == 1 and _plain(licences[0]) else "other"
    return (
        f"---\npretty_name: {head['name']}\nlicense: {licence}\ntags:\n- agent-evaluation\n"
        f"- human-labels\nconfigs:\n{configs}\n---\n"
    )


def _plain(licence: str) -> bool:
    return licence.replace("-", "").replace(".", "").isalnum()


def _numbers(results: Mapping[str, Any]) -> list[str]:
    """Rates over all rows as tables; everything else is in ``results.json``."""
    lines = []
    for question in results["questions"]:
        rates = [r for r in question["report"]["rates"] if r["group"] == "all"]
        if not rates:
            continue
        lines += [f"Question `{question['question']}`, labels of the ensemble:\n"]
        lines += ["| rate | value | 95% Wilson | hits / n | coverage |", "|---|---|---|---|---|"]
        lines += [_rate(rate) for rate in rates]
        lines.append("")
    return lines or ["No rate is defined for these labels.\n"]


def _rate(rate: Mapping[str, Any]) -> str:
    n = f"{rate['hits']} / {rate['scored']}"
    coverage = f"{rate['scored'] / rate['planned']:.0%}" if rate["planned"] else "null"
    if rate["value"] is None:
        return f"| {rate['name']} | null ({rate['reason']}) | | {n} | {coverage} |"
    interval = f"{rate['low']:.1%} to {rate['high']:.1%}"
    return f"| {rate['name']} | {rate['value']:.1%} | {interval} | {n} | {coverage} |"


def _quoted(text: str) -> str:
    """A stranger's text as code: Markdown in it is shown, not obeyed."""
    return f"`{printable(text).replace('`', chr(39))}`"


def terms_notes(terms: Sequence[Terms]) -> list[str]:
    """One line per task set."""
    return [
        f"{_quoted(one.name)}: {_quoted(one.licence)}, "
        + ("texts included" if one.redistributable else "texts withheld, ids and labels only")
        for one in terms
    ]
