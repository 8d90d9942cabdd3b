"""What must hold before a release is written: licences known, personal data looked for.

The scan uses maintained libraries, not patterns of our own: e-mail-validator for addresses,
phonenumbers for international numbers, detect-secrets for keys and tokens. It reports and never
changes a text: the exporter decides.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from detect_secrets.core.scan import scan_line
from detect_secrets.settings import get_plugins, transient_settings
from email_validator import EmailNotValidError, validate_email
from phonenumbers import Leniency, PhoneNumberFormat, PhoneNumberMatcher, format_number

from labelkit.domain.terms import Terms

_PLUGINS = {
    "plugins_used": [
        {"name": name}
        for name in (
            "AWSKeyDetector",
            "AzureStorageKeyDetector",
            "BasicAuthDetector",
            "GitHubTokenDetector",
            "GitLabTokenDetector",
            "JwtTokenDetector",
            "NpmDetector",
            "OpenAIDetector",
            "PrivateKeyDetector",
            "PypiTokenDetector",
            "SendGridDetector",
            "SlackDetector",
            "StripeDetector",
            "TelegramBotTokenDetector",
            "TwilioKeyDetector",
        )
    ]
}
"""Detectors of tokens with a form of their own; those that guess by entropy flag every digest."""

_LONGEST = 20_000
_AROUND = ".,;:!?()[]{}<>\"'`"
_MOST = 1000


@dataclass(frozen=True)
class Finding:
    """Something that may identify a person or open a door. ``masked`` shows its ends only."""

    kind: str
    table: str
    row: str
    masked: str


@dataclass(frozen=True)
class Scan:
    """What the scan found: all counts by kind, the first thousand places."""

    counts: Mapping[str, int]
    findings: tuple[Finding, ...]


def licence_lines(terms: Iterable[Terms]) -> list[str]:
    """Say for every task set whether its texts are in the release, and why not."""
    lines = []
    for one in sorted(terms, key=lambda t: t.name):
        if one.redistributable:
            lines.append(f"{one.name}: {one.licence}, texts included")
        else:
            lines.append(
                f"{one.name}: {one.licence}, texts withheld (ids, tags and labels only); if you "
                f"may pass them on, say so: `labelkit terms {one.name} --licence NAME "
                "--redistributable`"
            )
    return lines


def scan(texts: Iterable[tuple[str, str, str]]) -> Scan:
    """Look for personal data and secrets in (table, row, text)."""
    counts: dict[str, int] = {}
    findings: list[Finding] = []
    with transient_settings(_PLUGINS):
        # The library asks each of its detectors about each line by a slow road; their own
        # patterns tell first whether there is anything to ask about.
        signs = [sign for plugin in get_plugins() for sign in plugin.denylist]
        for table, row, text in texts:
            for kind, value in _found(text, signs):
                counts[kind] = counts.get(kind, 0) + 1
                if len(findings) < _MOST:
                    findings.append(Finding(kind, table, row, masked(value)))
    return Scan(dict(sorted(counts.items())), tuple(findings))


def texts_of(table: str, row: Mapping[str, Any], key: str) -> Iterator[tuple[str, str, str]]:
    """Yield every text inside a row, bodies opened, as (table, row, text)."""
    name = str(row[key])
    for column, value in row.items():
        if column in {"digest", "trace", "rater", "view", "completion", "created_at"}:
            continue
        coded = column in {"body", "spec", "tags"} and isinstance(value, str)
        opened = json.loads(value) if coded else value
        for text in _strings(opened):
            yield table, name, text


def masked(value: str) -> str:
    """Show the first two and the last two characters only."""
    return value if len(value) < 5 else f"{value[:2]}{'*' * min(8, len(value) - 4)}{value[-2:]}"


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from _strings(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _strings(item)


def _found(text: str, signs: Sequence[re.Pattern[str]]) -> Iterator[tuple[str, str]]:
    for piece in _pieces(text):
        yield from _addresses(piece)
        yield from _numbers(piece)
        yield from _secrets(piece, signs)


def _pieces(text: str) -> Iterator[str]:
    """Cut a long text at white space, so that nothing that is looked for is cut in two."""
    start = 0
    while start < len(text):
        end = start + _LONGEST
        if end < len(text):
            half = start + _LONGEST // 2
            gap = max(text.rfind(" ", half, end), text.rfind("\n", half, end))
            end = gap if gap > 0 else end
        yield text[start:end]
        start = end


def _addresses(text: str) -> Iterator[tuple[str, str]]:
    if "@" not in text:
        return
    for word in text.split():
        if "@" not in word:
            continue
        candidate = word.strip(_AROUND).removeprefix("mailto:")
        try:
            found = validate_email(candidate, check_deliverability=False)
        except (EmailNotValidError, UnicodeError):
            continue
        yield "e-mail", found.original


def _numbers(text: str) -> Iterator[tuple[str, str]]:
    # Without a country only numbers in international form can be told from any other digits.
    if "+" not in text:
        return
    for match in PhoneNumberMatcher(text, None, leniency=Leniency.VALID):
        yield "phone", format_number(match.number, PhoneNumberFormat.E164)


def _secrets(text: str, signs: Sequence[re.Pattern[str]]) -> Iterator[tuple[str, str]]:
    for line in text.splitlines():
        if not any(sign.search(line) for sign in signs):
            continue
        for secret in scan_line(line):
            yield secret.type.lower(), secret.secret_value or ""
