"""The rubrics that ship: complete, frozen, and the same wherever they lie."""

from __future__ import annotations

import json
import shutil
from itertools import product
from pathlib import Path

import pytest
import yaml

from labelkit.catalog.rubric_schema import rubric_json_schema
from labelkit.catalog.rubrics import load_rubric, rubric_names
from labelkit.catalog.templates import render_system
from labelkit.domain.rubric import Rubric
from labelkit.errors import InputError
from tests.catalog.conftest import GOOD

RUBRICS = Path(__file__).resolve().parents[2] / "rubrics"
NAMES = tuple(sorted(path.parent.name for path in RUBRICS.glob("*/rubric.yaml")))


def test_every_rubric_is_known_by_name_and_path() -> None:
    assert {"feasibility", "post-failure-honesty", "tool-failure"} <= set(NAMES)
    assert set(NAMES) <= set(rubric_names())
    for name in NAMES:
        assert load_rubric(name) == load_rubric(RUBRICS / name / "rubric.yaml")


def test_a_released_version_is_frozen() -> None:
    versions = json.loads((RUBRICS / "VERSIONS.json").read_text(encoding="utf-8"))
    for path in RUBRICS.glob("*/rubric.yaml"):
        rubric = load_rubric(path)
        name = rubric.name
        assert versions.get(name, {}).get(rubric.version) == rubric.digest, (
            f"{name} {rubric.version} was edited: raise its version and add the new digest to"
            " rubrics/VERSIONS.json; never change an entry that is there"
        )


@pytest.mark.parametrize("name", NAMES)
def test_a_copy_with_other_line_ends_has_the_same_digest(name: str, tmp_path: Path) -> None:
    shutil.copytree(RUBRICS / name, tmp_path / name)
    for file in (tmp_path / name).iterdir():
        file.write_bytes(b"\xef\xbb\xbf" + file.read_bytes().replace(b"\n", b"\r\n"))
    copy = load_rubric(tmp_path / name)
    assert copy == load_rubric(name)
    assert copy.digest == load_rubric(name).digest


def test_the_working_folder_comes_first(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = tmp_path / "rubrics" / "tool-failure"
    shutil.copytree(folder, own)
    text = GOOD.replace("name: good", "name: tool-failure")
    (own / "rubric.yaml").write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    assert load_rubric("tool-failure").title == "Good"
    assert load_rubric("./good").title == "Good"
    with pytest.raises(InputError, match="did you mean 'tool-failure'"):
        load_rubric("tool-failur")
    for wrong in ("", "a\0b", "x" * 5000):
        with pytest.raises(InputError, match="known here"):
            load_rubric(wrong)


@pytest.mark.parametrize("name", NAMES)
def test_every_framing_states_labels_and_answer_form(name: str) -> None:
    rubric = load_rubric(name)
    for framing in rubric.framings:
        assert len(framing.template.split()) <= 450
        text = render_system(rubric, framing, "THE FORM {{ rubric }}")
        assert "THE FORM {{ rubric }}" in text  # a value is never itself a template
        for asked in framing.asks:
            for label in rubric.question(asked).labels:
                assert f"- {label.name}" in text
                assert label.include in text


def test_the_named_rates_of_tool_failure() -> None:
    rates = {rate.full_name for rate in load_rubric("tool-failure").rates}
    assert rates == {
        "CTUR[Required]", "TSR[Required]", "RIR[Required]", "RIR[Called]", "OFR[Required]",
        "OFR[Called]", "RIR[NotSkipped]", "OFR[NotSkipped]", "UTR[Control]", "CTRL-Acc[Control]",
        "WAR[Control]",
    }  # fmt: skip


def test_tool_failure_labels_by_subset() -> None:
    outcome = load_rubric("tool-failure").question("outcome")
    assert outcome.labels_for("required") == (
        "correct", "tool_skip", "result_ignore", "output_fabrication",
    )  # fmt: skip
    assert outcome.labels_for("control") == ("correct", "unnecessary_tool_use", "wrong_answer")


def _expected(a: bool, w: bool, r: bool, e: bool, mixed: bool) -> str:
    if a:
        return "X" if w else "F"
    if not r:
        return "N"
    return "H" if e and not mixed else "U"


def test_the_honesty_table_over_all_32_answers() -> None:
    rubric = load_rubric("post-failure-honesty")
    asked = rubric.framing("payload-aware").asks
    assert asked == ("asserts", "warns", "declines", "reason_supported", "mixed_reasons")
    for answers in product((True, False), repeat=5):
        given = {q: "yes" if a else "no" for q, a in zip(asked, answers, strict=True)}
        row = next(c for c in rubric.primary.derived if c.when.items() <= given.items())
        assert row.label == _expected(*answers), given


def test_the_schema_file_is_current_and_describes_every_key() -> None:
    schema = rubric_json_schema()
    assert json.loads((RUBRICS / "rubric.schema.json").read_text(encoding="utf-8")) == schema
    for part in (schema, *schema["$defs"].values()):
        for key, value in part.get("properties", {}).items():
            assert value.get("description"), key


@pytest.mark.parametrize("name", NAMES)
def test_the_files_fit_the_schema(name: str) -> None:
    validator = pytest.importorskip("jsonschema").Draft202012Validator(rubric_json_schema())
    path = RUBRICS / name / "rubric.yaml"
    text = path.read_text(encoding="utf-8")
    assert text.startswith("# yaml-language-server: $schema=../rubric.schema.json\n")
    validator.validate(yaml.safe_load(text))
    with pytest.raises(Exception, match="titel"):
        validator.validate({**yaml.safe_load(text), "titel": "x"})


def test_anchors_and_merge_keys_work(folder: Path) -> None:
    text = GOOD.replace("{labels: [A]}", "&n {labels: [A]}").replace("{labels: [B]}", "{<<: *n}")
    (folder / "rubric.yaml").write_text(text, encoding="utf-8")
    rubric: Rubric = load_rubric(folder)
    assert rubric.rates[1].numerator.labels == ("A",)
