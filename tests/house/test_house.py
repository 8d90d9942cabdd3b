"""The rules of the house that a linter does not know. Change the house, not the test around it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import ROOT

PACKAGE = ROOT / "labelkit"
SOURCES = sorted(p for folder in ("labelkit", "app") for p in (ROOT / folder).rglob("*.py"))
TOP_LEVEL = {
    ".ci",
    ".git",
    ".gitignore",
    "CHANGELOG.md",
    "LICENSE",
    "Makefile",
    "README.md",
    "app",
    "benchmarks",
    "datasets",
    "labelkit",
    "pyproject.toml",
    "rubrics",
    "tests",
}
# Start-up is a feature: these two load what is asked for by name, and nothing else may.
LAZY_BY_DESIGN = {PACKAGE / "__init__.py", PACKAGE / "cli" / "main.py"}


def name_of(path: Path) -> str:
    return str(path.relative_to(ROOT))


@pytest.mark.parametrize("path", SOURCES, ids=name_of)
def test_modules_stay_readable(path: Path) -> None:
    lines = path.read_text(encoding="utf-8").count("\n")
    assert lines <= 400, f"{name_of(path)} has {lines} lines: find the noun that wants out"


@pytest.mark.parametrize("path", SOURCES, ids=name_of)
def test_every_module_says_why_it_exists(path: Path) -> None:
    assert ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))), name_of(path)


@pytest.mark.parametrize("path", SOURCES, ids=name_of)
def test_no_deferred_imports(path: Path) -> None:
    if path in LAZY_BY_DESIGN:
        return
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for scope in ast.walk(tree):
        if isinstance(scope, ast.FunctionDef | ast.AsyncFunctionDef):
            found = [n for n in ast.walk(scope) if isinstance(n, ast.Import | ast.ImportFrom)]
            assert not found, f"{name_of(path)}:{found[0].lineno} imports inside {scope.name}"


@pytest.mark.parametrize("path", SOURCES, ids=name_of)
def test_no_vague_names(path: Path) -> None:
    assert path.stem not in {"utils", "util", "helpers", "helper", "manager", "common", "misc"}


def opened_files(tree: ast.AST) -> Iterator[ast.Call]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            called = node.func
            of_path = isinstance(called, ast.Attribute) and called.attr in {
                "read_text",
                "write_text",
            }
            if of_path or (isinstance(called, ast.Name) and called.id == "open"):
                yield node


@pytest.mark.parametrize("path", SOURCES, ids=name_of)
def test_every_text_file_is_opened_as_utf8(path: Path) -> None:
    for call in opened_files(ast.parse(path.read_text(encoding="utf-8"))):
        words = {k.arg: k.value for k in call.keywords}
        mode = words.get("mode") or (call.args[1] if len(call.args) > 1 else None)
        binary = isinstance(mode, ast.Constant) and "b" in str(mode.value)
        assert binary or "encoding" in words, f"{name_of(path)}:{call.lineno} names no encoding"


def test_the_top_level_holds_nothing_without_a_reason() -> None:
    ignored = {
        line.strip("/")
        for line in (ROOT / ".gitignore").read_text(encoding="utf-8").splitlines()
        if line
    }
    strays = [
        p.name
        for p in ROOT.iterdir()
        if p.name not in TOP_LEVEL
        and p.name not in ignored
        and not any(re.fullmatch(i.replace(".", r"\.").replace("*", ".*"), p.name) for i in ignored)
    ]
    assert not strays


def test_packages_are_mirrored_by_tests() -> None:
    missing = [
        p.name
        for p in PACKAGE.iterdir()
        if p.is_dir()
        and (p / "__init__.py").exists()
        and not list((ROOT / "tests" / p.name).glob("test_*.py"))
    ]
    assert not missing, f"no tests for {missing}"
