"""A working folder: a store and a commented labelkit.yaml. Making it twice changes nothing."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from labelkit.errors import InputError
from labelkit.settings import load_settings
from labelkit.store import Store

SETTINGS_FILE = "labelkit.yaml"

TEMPLATE = """\
# labelkit.yaml: where labels are kept, which models can be reached, who judges.
# Secrets never stand here: `api_key_env` names the environment variable that holds a key.

# SQLite beside this file; for several machines: postgresql://user@host/database
store: sqlite:///labelkit.db

endpoints:
  # The embedded model: no key, no GPU. It is small; its verdicts are near chance.
  # Any GGUF file does instead: add `model_path: /path/to/model.gguf` and name it in `model`.
  embedded:
    engine: local
    model: smollm2-135m-instruct

  # Any OpenAI-compatible server: a hosted API, vLLM, llama.cpp, Ollama ...
  # better:
  #   base_url: http://127.0.0.1:8000/v1
  #   model: Qwen/Qwen2.5-32B-Instruct
  #   api_key_env: MY_API_KEY            # leave out where no key is needed
  #   family: qwen                       # warns when it judges its own family
  #   price: {input: 0.15, output: 0.60, currency: USD}   # per million tokens; else unknown
  #   max_concurrency: 64
  #   request_timeout_s: 120
  #   row_budget_s: 600                  # all waiting and retries for one row
  #   thinking: false                    # a reasoning model: raises the token cap warning
  #   extra_body: {}                     # sent with every request, as it is

judges:
  # Every judge labels with each framing of the rubric, or with those listed.
  small:
    endpoint: embedded
    # framings: [decision-tree]
    # rubrics: [tool-failure]
    # repeats: 1                         # more: self-consistency of the judge is reported
    # temperature: 0.0
    # max_tokens: 1024
    # allow_self_judging: false          # true lets a model judge its own traces
"""


def open_store(url: str, *, create: bool = False) -> Store:
    """Open the store at ``url``; a context manager.

    Args:
        url: ``sqlite:///FILE``, ``sqlite:////ABSOLUTE/FILE`` or ``postgresql://USER@HOST/DATABASE``.
        create: make the store where there is none.

    Raises:
        StoreError: when it cannot be opened; the sentence says why and what to do.
    """
    return Store.open(url, create=create)


@dataclass(frozen=True)
class SetUp:
    """What ``init`` found or made."""

    settings: Path
    settings_made: bool
    store: str


def init(folder: Path) -> SetUp:
    """Make labelkit.yaml and the store it names in ``folder``; keep what is there.

    Raises:
        InputError: when the folder does not exist or cannot be written.
    """
    if not folder.is_dir():
        raise InputError(f"folder {folder} does not exist; make it first, or name another one")
    path = folder / SETTINGS_FILE
    made = not path.exists()
    if made:
        try:
            path.write_text(TEMPLATE, encoding="utf-8")
        except OSError as error:
            raise InputError(
                f"cannot write {path} ({error.strerror}); choose a folder you can write to"
            ) from error
    settings = load_settings(path)
    with Store.open(settings.store, create=True) as store:
        return SetUp(path, made, store.place)
