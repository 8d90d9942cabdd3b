"""The reader serves any YAML file and any error class."""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import BaseModel

from labelkit.catalog.located_errors import validated
from labelkit.catalog.yaml_nodes import read_yaml
from labelkit.errors import SettingsError


class Judge(BaseModel, extra="forbid"):
    name: str
    endpoint: str


class Judges(BaseModel, extra="forbid"):
    store: str
    judges: tuple[Judge, ...]


def test_settings_errors_keep_their_class_and_line(tmp_path: Path) -> None:
    path = tmp_path / "labelkit.yaml"
    path.write_text("store: a\njudges:\n  - name: j\n    endpont: e\n", encoding="utf-8")
    with pytest.raises(SettingsError, match="did you mean 'endpoint'") as caught:
        validated(read_yaml(path, SettingsError), Judges)
    assert caught.value.line == 4
    with pytest.raises(SettingsError, match="cannot be read"):
        read_yaml(tmp_path / "none.yaml", SettingsError)


def test_own_keys_win_over_merged_ones_in_value_and_line(tmp_path: Path) -> None:
    path = tmp_path / "a.yaml"
    path.write_text(
        "a: &a {x: 1, y: 2}\nb: &b {x: 3, z: 4}\nc:\n  x: 5\n  <<: [*a, *b]\nd:\n  <<: [*a, *b]\n",
        encoding="utf-8",
    )
    found = read_yaml(path)
    assert found.value["c"] == {"x": 5, "y": 2, "z": 4}
    assert found.value["d"] == {"x": 1, "y": 2, "z": 4}
    assert found.line(("c", "x")) == 4
    assert found.line(("c", "y", "deeper")) == 1
