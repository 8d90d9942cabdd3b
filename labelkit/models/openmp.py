"""libgomp for the embedded server on machines that have none.

llama.cpp needs OpenMP's runtime, ``libgomp.so.1``, which a minimal Debian does not install.
scikit-learn, which labelkit depends on, brings a copy under another name; a link with the name
that the loader asks for is all that is missing, so no package manager and no root is needed.
"""

from __future__ import annotations

import ctypes
import importlib.util
import os
from collections.abc import Callable
from pathlib import Path

NAME = "libgomp.so.1"


def loads(name: str) -> bool:
    """Whether the system's loader finds a shared library."""
    try:
        ctypes.CDLL(name)
    except OSError:
        return False
    return True


def bundled_copy() -> Path | None:
    """Return scikit-learn's copy of libgomp, found without importing it, or None."""
    found = importlib.util.find_spec("sklearn")
    if found is None or not found.origin:
        return None
    beside = Path(found.origin).parent.parent / "scikit_learn.libs"
    return next(iter(sorted(beside.glob("libgomp-*.so*"))), None)


def environment_with_openmp(
    folder: Path, system_has: Callable[[str], bool] = loads
) -> dict[str, str] | None:
    """Return the environment under which a child finds libgomp; None where it does anyway.

    Args:
        folder: where a link may be put for as long as the child runs.
        system_has: asks the loader.
    """
    copy = None if system_has(NAME) else bundled_copy()
    if copy is None:
        return None
    link = folder / NAME
    if not link.is_symlink():
        link.symlink_to(copy)
    known = os.environ.get("LD_LIBRARY_PATH")
    return {**os.environ, "LD_LIBRARY_PATH": f"{folder}:{known}" if known else str(folder)}
