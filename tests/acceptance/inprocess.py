"""The command line inside this process: the same entry point, without a second of start-up."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from labelkit.cli.main import main


@dataclass(frozen=True)
class Outcome:
    """How one command ended."""

    code: int
    out: str
    err: str

    @property
    def sentence(self) -> str:
        """The one error sentence; fails where there is none, several, or noise after it."""
        lines = [line for line in self.err.splitlines() if not line.startswith("  also ")]
        faults = [line for line in lines if line.startswith("labelkit: ")]
        assert len(faults) == 1, f"expected one error sentence:\n{self.err}"
        assert lines[-1] == faults[0], f"noise after the sentence:\n{self.err}"
        assert "Traceback" not in self.err + self.out
        return faults[0].removeprefix("labelkit: ")


Cli = Callable[..., Outcome]


@pytest.fixture
def cli(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Cli:
    """Run ``labelkit WORDS...`` in ``tmp_path``."""

    def run(*words: str) -> Outcome:
        monkeypatch.chdir(tmp_path)
        monkeypatch.setattr(sys, "argv", ["labelkit", *words])
        capsys.readouterr()
        with pytest.raises(SystemExit) as left:
            main()
        said = capsys.readouterr()
        code = left.value.code
        assert isinstance(code, int | None)
        return Outcome(code or 0, said.out, said.err)

    return run
