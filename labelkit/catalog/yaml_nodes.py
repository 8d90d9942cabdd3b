"""YAML whose every key and value knows its line, so that a mistake can be named where it stands.

PyYAML's own loader keeps the last of two equal keys and forgets the lines; this reader walks the
node graph instead. It builds only text, numbers, booleans, null, lists and mappings with text
keys. It knows nothing about rubrics: the error class is the caller's.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml
from yaml.constructor import SafeConstructor

from labelkit.errors import LocatedError, RubricError

Loc = tuple[str | int, ...]

MAX_DEPTH = 50
MAX_NODES = 100_000
MAX_BYTES = 4_000_000

_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_PREFIX = "tag:yaml.org,2002:"
_TEXT = {_PREFIX + "str", _PREFIX + "timestamp", _PREFIX + "value"}
_PLAIN = {_PREFIX + kind for kind in ("int", "float", "bool", "null")}
_MERGE = _PREFIX + "merge"


@dataclass(frozen=True)
class Located:
    """A YAML file as plain values; ``lines`` and ``raw`` hold line and spelling by location."""

    path: Path
    value: dict[str, Any]
    error: type[LocatedError]
    lines: dict[Loc, int] = field(default_factory=dict)
    raw: dict[Loc, str] = field(default_factory=dict)

    def line(self, loc: Loc) -> int:
        """Return the 1-based line of ``loc`` or of the nearest thing around it that exists."""
        while loc and loc not in self.lines:
            loc = loc[:-1]
        return self.lines.get(loc, 1)

    def mistake(self, loc: Loc, problem: str, mend: str) -> LocatedError:
        """Return (not raise) the error for a mistake at ``loc``."""
        return self.error(self.path, self.line(loc), problem, mend)

    def mistakes(self, found: Sequence[tuple[Loc, str, str]]) -> LocatedError:
        """Return one error that tells all mistakes as ordered: nobody likes one per run."""
        (loc, problem, mend), *rest = found
        others = tuple(f"{self.path}:{self.line(at)}: {what}; {how}" for at, what, how in rest)
        return self.error(self.path, self.line(loc), problem, mend, others)


def read_text(path: Path, error: type[LocatedError] = RubricError) -> str:
    """Return a UTF-8 file with line ends as LF and without byte order mark.

    Raises:
        error: the file is missing, unreadable, too large or not UTF-8.
    """
    try:
        data = path.read_bytes()
    except (OSError, ValueError) as fault:
        reason = getattr(fault, "strerror", None) or "not a file name"
        raise error(path, None, f"the file cannot be read ({reason})", "check its name") from None
    if len(data) > MAX_BYTES:
        raise error(path, None, "the file is larger than 4 MB", "keep data out of it")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as fault:
        line = data.count(b"\n", 0, fault.start) + 1
        raise error(path, line, "the file is not UTF-8", "save it as UTF-8") from None
    return text.replace("\r\n", "\n").replace("\r", "\n")


def read_yaml(path: Path, error: type[LocatedError] = RubricError) -> Located:
    """Read one YAML mapping.

    Raises:
        error: for every mistake, with file, line and mend.
    """
    text = read_text(path, error)
    try:
        root = _compose(text, path, error)
    except yaml.YAMLError as fault:
        raise _syntax(fault, text, path, error) from None
    if root is None:
        raise error(path, None, "the file is empty", "fill in its keys")
    if not isinstance(root, yaml.MappingNode):
        mend = "start with lines such as `name: value`"
        raise error(path, _at(root), "the top level is not a mapping of keys", mend)
    located = Located(path=path, value={}, error=error)
    located.value.update(_Builder(located).mapping(root, ()))
    return located


def _compose(text: str, path: Path, error: type[LocatedError]) -> Any:
    # Depth first, from flat events: composing is recursive, in C without any guard.
    depth = 0
    for event in yaml.parse(text, Loader=_Loader):
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
            if depth > MAX_DEPTH:
                problem = f"lists and mappings are nested deeper than {MAX_DEPTH}"
                raise error(path, _at(event), problem, "flatten them")
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
    return yaml.compose(text, Loader=_Loader)


def _syntax(
    fault: yaml.YAMLError, text: str, path: Path, error: type[LocatedError]
) -> LocatedError:
    mark = getattr(fault, "problem_mark", None) or getattr(fault, "context_mark", None)
    position = getattr(fault, "position", None)
    line = mark.line + 1 if mark else text.count("\n", 0, position or 0) + 1
    words = getattr(fault, "problem", None) or getattr(fault, "reason", None) or "unreadable"
    lines = text.split("\n")
    spot = lines[line - 1] if line <= len(lines) else ""
    if "\t" in spot[: len(spot) - len(spot.lstrip())] or "'\\t'" in str(words):
        return error(path, line, "a tab in the indentation", "indent with spaces")
    mend = "check indentation, quotes and colons on and above this line"
    return error(path, line, f"not valid YAML ({' '.join(str(words).split())})", mend)


def _at(node: Any) -> int:
    return int(node.start_mark.line) + 1


class _Builder:
    """Turns nodes into values and notes their places; bounded in depth and number."""

    def __init__(self, located: Located) -> None:
        self.located = located
        self.open: set[int] = set()
        self.count = 0
        self.scalars = SafeConstructor()

    def fail(self, node: Any, problem: str, mend: str) -> LocatedError:
        return self.located.error(self.located.path, _at(node), problem, mend)

    def value(self, node: Any, loc: Loc) -> Any:
        self.count += 1
        if self.count > MAX_NODES or len(loc) > 2 * MAX_DEPTH:
            raise self.fail(node, "aliases unfold to too many values", "write fewer aliases")
        if isinstance(node, yaml.ScalarNode):
            return self.scalar(node, loc)
        if id(node) in self.open:
            raise self.fail(node, "an alias refers to the value it stands in", "remove the alias")
        if isinstance(node, yaml.MappingNode):
            return self.mapping(node, loc)
        self._known(node, "seq")
        self.open.add(id(node))
        items = []
        for i, item in enumerate(node.value):
            self.located.lines[*loc, i] = _at(item)
            items.append(self.value(item, (*loc, i)))
        self.open.discard(id(node))
        return items

    def mapping(self, node: Any, loc: Loc) -> dict[str, Any]:
        self._known(node, "map")
        self.open.add(id(node))
        found: dict[str, Any] = {}
        first: dict[str, int] = {}
        # Merged keys come first, so that the mapping's own keys replace them and their lines.
        merged = [value for key, value in node.value if key.tag == _MERGE]
        for source in reversed([part for value in merged for part in self._sources(value)]):
            found.update(self.value(source, loc))
        for key_node, value_node in node.value:
            if key_node.tag == _MERGE:
                continue
            key = self.key(key_node)
            if key in first:
                problem = f"the key {key!r} is given twice (first on line {first[key]})"
                raise self.fail(key_node, problem, "keep one of them")
            first[key] = _at(key_node)
            self.located.lines[*loc, key] = _at(key_node)
            found[key] = self.value(value_node, (*loc, key))
        self.open.discard(id(node))
        return found

    def _sources(self, node: Any) -> Iterator[Any]:
        parts = node.value if isinstance(node, yaml.SequenceNode) else [node]
        for part in parts:
            if not isinstance(part, yaml.MappingNode):
                raise self.fail(node, "`<<` merges something that is no mapping", "name a mapping")
            yield part

    def key(self, node: Any) -> str:
        if not isinstance(node, yaml.ScalarNode):
            raise self.fail(node, "a key is a list or mapping", "write a word as the key")
        if node.tag not in _TEXT:
            problem = f"the key `{node.value}` is read as {_kind(node.tag)}, not as text"
            raise self.fail(node, problem, f'quote it: "{node.value}"')
        return str(node.value)

    def scalar(self, node: Any, loc: Loc) -> Any:
        self.located.raw[loc] = node.value
        if node.tag in _TEXT:
            return node.value
        if node.tag not in _PLAIN:
            raise self.fail(node, f"the tag {node.tag!r} is not allowed", "remove the tag")
        try:
            value = self.scalars.construct_object(node)
        except (ValueError, KeyError, IndexError, yaml.YAMLError):
            problem = f"`{node.value[:40]}` cannot be read as {_kind(node.tag)}"
            raise self.fail(node, problem, "quote it if it is text") from None
        if isinstance(value, float) and not math.isfinite(value):
            raise self.fail(node, f"`{node.value}` is not a finite number", "write a number")
        return value

    def _known(self, node: Any, kind: str) -> None:
        if node.tag != _PREFIX + kind:
            raise self.fail(node, f"the tag {node.tag!r} is not allowed", "remove the tag")


def _kind(tag: str) -> str:
    names = {"bool": "true or false", "int": "a number", "float": "a number", "null": "nothing"}
    return names.get(tag.removeprefix(_PREFIX), tag)
