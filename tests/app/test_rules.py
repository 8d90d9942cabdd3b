"""The rules of the pages that neither a linter nor an import contract knows."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

import pytest

from app.plain import named, visible
from tests.app.stores import ATTACK
from tests.conftest import ROOT

PAGES = sorted((ROOT / "app").rglob("*.py"))
ALLOWED = ("labelkit.workflows", "labelkit.domain", "labelkit.settings")
# They render markdown, also in their labels and tooltips: no text of a trace may come near them.
READS_MARKUP = {
    *("markdown", "write", "caption", "info", "warning", "error", "success", "exception"),
    *("toast", "metric", "table", "expander", "radio", "popover", "latex", "json", "title"),
    # Verbatim, but it colours: half a megabyte stops the browser for a second, 30 MB for good.
    "code",
}


def name_of(path: Path) -> str:
    return str(path.relative_to(ROOT))


def imported(path: Path) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module)
    return found


@pytest.mark.parametrize("path", PAGES, ids=name_of)
def test_pages_know_only_the_verbs_and_the_nouns(path: Path) -> None:
    ours = {name for name in imported(path) if name.split(".")[0] == "labelkit"}
    assert not {name for name in ours if not name.startswith(ALLOWED)}


@pytest.mark.parametrize("path", PAGES, ids=name_of)
def test_nothing_that_reads_markup_is_called(path: Path) -> None:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            assert not (node.value.id == "st" and node.attr in READS_MARKUP), node.attr
        if isinstance(node, ast.keyword):
            assert node.arg not in {"help", "unsafe_allow_html"}, f"{name_of(path)}: {node.arg}"


def test_one_page_refreshes_itself_and_no_part_of_it_does_so_again() -> None:
    """Timers within timers leave a white page; callbacks are lost without a key."""
    timed = [
        node
        for path in PAGES
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.FunctionDef)
        and any("run_every" in ast.unparse(one) for one in node.decorator_list)
    ]
    assert [node.name for node in timed] == ["work"]
    assert "fragment" not in "".join(ast.unparse(line) for line in timed[0].body)


@pytest.mark.parametrize("path", PAGES, ids=name_of)
def test_every_button_has_a_key_of_its_own(path: Path) -> None:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "st.button":
            assert "key" in {word.arg for word in node.keywords}, ast.unparse(node)


def test_scripts_set_texts_and_never_markup() -> None:
    for path in (ROOT / "app" / "components").glob("*.js"):
        text = path.read_text(encoding="utf-8")
        for word in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval("):
            assert word not in text, f"{path.name}: {word}"


def test_a_visible_line_is_short_and_holds_no_acting_character() -> None:
    shown = visible(ATTACK, 1000)
    assert shown.isprintable()
    assert "\u27e8U+0000\u27e9" in shown
    assert "\u27e8U+202E\u27e9" in shown
    shown.encode("utf-8")  # lone surrogates would break the page
    assert len(visible("x" * 500)) == 70


def test_names_that_look_alike_can_be_told_apart() -> None:
    alike = ["x" * 100 + "a", "x" * 100 + "b", None, "(none)", ""]
    names = named(alike)
    assert len(set(names)) == len(alike)


def test_no_page_hides_a_module_of_python() -> None:
    """Streamlit puts the folder of the pages first on the path, and children inherit it."""
    own = {path.stem for path in (ROOT / "app").iterdir()} - {"__init__", "__pycache__"}
    assert not own & sys.stdlib_module_names
