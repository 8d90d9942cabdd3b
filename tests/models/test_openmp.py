"""A machine without libgomp still runs the embedded model."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from labelkit.models.openmp import NAME, bundled_copy, environment_with_openmp


def test_a_system_that_has_it_is_left_alone(tmp_path: Path) -> None:
    assert environment_with_openmp(tmp_path, lambda name: True) is None
    assert not list(tmp_path.iterdir())


def test_without_it_a_child_loads_the_bundled_copy(tmp_path: Path) -> None:
    if bundled_copy() is None:
        pytest.skip("this scikit-learn brings no libgomp of its own")
    environment = environment_with_openmp(tmp_path, lambda name: False)
    assert environment is not None
    # Twice changes nothing.
    assert environment_with_openmp(tmp_path, lambda name: False) == environment
    code = (
        f"import ctypes; ctypes.CDLL({NAME!r});"
        "print(any(line.split()[-1].rsplit('/', 1)[-1].startswith('libgomp-')"
        " for line in open('/proc/self/maps', encoding='utf-8') if 'libgomp' in line))"
    )
    shown = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    )
    assert shown.stdout.strip() == "True"
