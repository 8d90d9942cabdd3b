"""A release described for people (a Hugging Face dataset card) and for machines (Croissant)."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from labelkit.domain.rubric import Rubric
from labelkit.domain.terms import Terms
from labelkit.printable import printable
from labelkit.workflows.agreement_words import titled, why_unsure
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
_MARKS = re.compile(r"[\\`*_\[\]|~$&]")
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
        f"# {_shown(head['name'])} {_shown(head['version'])}\n",
        (
            f"{_shown(rubric.title)}. Labelled under the rubric {_quoted(rubric.name)} "
            f"{_shown(rubric.version)} (digest `{rubric.digest[:12]}`). Source of the scheme: "
            f"{_shown(rubric.source)}\n"
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
        "## Agreement of raters\n",
        *_agreement(results),
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
    # JSON is YAML, and quoted whatever is in it.
    name = json.dumps(printable(head["name"]))
    return (
        f"---\npretty_name: {name}\nlicense: {licence}\ntags:\n- agent-evaluation\n"
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
        lines += [f"Question {_quoted(question['question'])}, labels of the ensemble:\n"]
        lines += [
            "| rate | of what | value | 95% Wilson | hits / n | coverage |",
            "|---|---|---|---|---|---|",
        ]
        lines += [_rate(rate) for rate in rates]
        lines.append("")
        reasons = {reason for rate in rates for reason, n in rate["excluded"].items() if n}
        if reasons:
            lines += [
                f"Coverage is n of the rows that were planned; left out: {_left_out(rates)}.\n"
            ]
    return lines or ["No rate is defined for these labels.\n"]


def _left_out(rates: Sequence[Mapping[str, Any]]) -> str:
    """The reasons for which rows count in no rate, each with the most that one rate left out."""
    most: dict[str, int] = {}
    for rate in rates:
        for reason, number in rate["excluded"].items():
            most[reason] = max(most.get(reason, 0), number)
    return ", ".join(f"{number} {_shown(reason)}" for reason, number in most.items() if number)


def _agreement(results: Mapping[str, Any]) -> list[str]:
    """Every coefficient over all rows; groups, labels and pairs are in ``results.json``."""
    lines = []
    for question in results["questions"]:
        for group in question["agreement"]:
            if group["group"] == "all":
                weights = group["scale"]["weights"]
                lines += [
                    (
                        f"Question {_quoted(question['question'])}: {group['n_raters']} raters, "
                        f"{group['n_items']} items, {group['n_ratings']} labels.\n"
                    ),
                    "| coefficient | value | 95% interval | items |",
                    "|---|---|---|---|",
                    *(_coefficient(one, weights) for one in group["coefficients"]),
                    "",
                    *_remarks(group, weights),
                ]
    return lines or ["No question was labelled by two raters.\n"]


def _remarks(group: Mapping[str, Any], weights: str) -> list[str]:
    """What a reader of the table must know: weights, the paradox, weak intervals."""
    lines = []
    if weights != "identity":
        lines.append(
            f"Near labels agree in part: these coefficients have {weights} weights, all but the "
            "share of unanimous items and the nominal alpha.\n"
        )
    if group["remark"]:
        lines.append(f"{_shown(group['remark'])}\n")
    flags = {flag for one in group["coefficients"] for flag in one["flags"]}
    if why := why_unsure(flags):
        lines.append(f"\\* the interval may cover less than it says: {'; '.join(why)}.\n")
    return lines


def _coefficient(one: Mapping[str, Any], weights: str) -> str:
    name = titled(one["name"], weights)
    if one["value"] is None:
        reason = one["undefined"].get("value", {}).get("reason", "undefined")
        return f"| {name} | null ({reason}) | | {one['n_items']} |"
    interval = one["interval"]
    between = "" if interval is None else f"{interval['low']:.3f} to {interval['high']:.3f}"
    star = "\\*" if between and why_unsure(one["flags"]) else ""
    return f"| {name} | {one['value']:.3f} | {between}{star} | {one['n_items']} |"


def _rate(rate: Mapping[str, Any]) -> str:
    name = f"{_quoted(rate['name'])} | {_quoted(rate['title'])}"
    n = f"{rate['hits']} / {rate['scored']}"
    coverage = f"{rate['scored'] / rate['planned']:.0%}" if rate["planned"] else "null"
    if rate["value"] is None:
        return f"| {name} | null ({_shown(rate['reason'])}) | | {n} | {coverage} |"
    interval = f"{rate['low']:.1%} to {rate['high']:.1%}"
    return f"| {name} | {rate['value']:.1%} | {interval} | {n} | {coverage} |"


def _quoted(text: str) -> str:
    """A stranger's text as code: Markdown in it is shown, not obeyed, also within a table."""
    plain = printable(text).replace("`", "'").replace("|", "\\|")
    return f"`{plain}`" if plain.strip() else "(empty)"


def _shown(text: str) -> str:
    """A stranger's text within a line: every mark that Markdown or HTML would obey is escaped."""
    return _MARKS.sub(r"\\\g<0>", printable(text)).replace("<", "&lt;")


def terms_notes(terms: Sequence[Terms]) -> list[str]:
    """One line per task set."""
    return [
        f"{_quoted(one.name)}: {_quoted(one.licence)}, "
        + ("texts included" if one.redistributable else "texts withheld, ids and labels only")
        for one in terms
    ]
