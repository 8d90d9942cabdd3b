"""Options that several verbs share, and how a verb gets its store and settings."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import click

from labelkit.errors import InputError
from labelkit.settings import Settings, load_settings
from labelkit.store import Store
from labelkit.workflows.setup import SETTINGS_FILE

Function = TypeVar("Function", bound=Callable[..., Any])


def in_folder(function: Function) -> Function:
    """``--in FOLDER``: the working folder; default the current one."""
    option = click.option(
        "--in",
        "folder",
        type=click.Path(path_type=Path),
        default=Path(),
        help="Working folder with labelkit.yaml (default: the current one).",
    )
    return option(function)


def rubric_option(function: Function) -> Function:
    """``--rubric NAME``: a packaged rubric, or a path to your own."""
    option = click.option(
        "--rubric",
        required=True,
        metavar="NAME|PATH",
        help="A packaged rubric (see `labelkit rubric list`) or the folder of your own.",
    )
    return option(function)


def settings_in(folder: Path) -> Settings:
    """Read the folder's settings.

    Raises:
        InputError: when there are none yet.
        SettingsError: when they cannot be read.
    """
    path = folder / SETTINGS_FILE
    if not path.is_file():
        raise InputError(
            f"no {SETTINGS_FILE} in {folder.resolve()}; run `labelkit init` there first"
        )
    return load_settings(path)


@contextmanager
def opened_store(folder: Path) -> Iterator[tuple[Store, Settings]]:
    """Open the store that the folder's settings name."""
    settings = settings_in(folder)
    with Store.open(settings.store) as store:
        yield store, settings
