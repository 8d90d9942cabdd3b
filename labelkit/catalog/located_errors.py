"""A pydantic validation error as located sentences: every mistake named where it stands.

Serves rubric.yaml, card.yaml and labelkit.yaml alike; it knows their models only through pydantic.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from typing import Any, TypeVar, get_args

from pydantic import BaseModel, ValidationError

from labelkit.catalog.yaml_nodes import Loc, Located
from labelkit.errors import LocatedError

Model = TypeVar("Model", bound=BaseModel)


def validated(located: Located, model: type[Model]) -> Model:
    """Return the file as ``model``.

    Raises:
        LocatedError: of the reader's class, when it does not fit.
    """
    try:
        return model.model_validate(located.value)
    except ValidationError as fault:
        raise located_error(located, fault, model) from None


def located_error(located: Located, fault: ValidationError, model: type[BaseModel]) -> LocatedError:
    """Return all mistakes as one error, unknown keys before others, then in file order."""
    errors = fault.errors(include_url=False, include_context=False)
    # A misspelt key is both unknown and missing; the unknown one is what the author can see.
    errors.sort(key=lambda error: (error["type"] != "extra_forbidden", located.line(error["loc"])))
    told = [(error["loc"], *_words(located, error, model)) for error in errors]
    return located.mistakes(list(dict.fromkeys(told)))


def _words(located: Located, error: Mapping[str, Any], model: type[BaseModel]) -> tuple[str, str]:
    loc: Loc = error["loc"]
    name = dotted(loc)
    kind, given = error["type"], error.get("input")
    if kind == "extra_forbidden":
        known = sorted(fields_at(model, loc[:-1]))
        near = difflib.get_close_matches(str(loc[-1]), known, n=1)
        guess = f"did you mean {near[0]!r}? " if near else ""
        return f"unknown key {name!r}", f"{guess}known keys: {', '.join(known)}"
    if kind == "missing":
        return f"the key {name!r} is missing", f"add `{loc[-1]}: ...`"
    raw = located.raw.get(loc, str(given))
    if kind == "string_type" and isinstance(given, bool | int | float):
        read = "true or false" if isinstance(given, bool) else "a number"
        return f"{name!r} must be text, but `{raw}` is read as {read}", f'quote it: "{raw}"'
    if kind in {"tuple_type", "list_type"}:
        return f"{name!r} must be a list", f"write it in brackets: [{raw[:40]}]"
    return f"{name!r} is wrong: {error['msg'].lower()}", "correct this value"


def dotted(loc: Loc) -> str:
    """Return ``questions[0].labels`` for ``("questions", 0, "labels")``."""
    text = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in loc)
    return text.removeprefix(".") or "the file"


def fields_at(model: type[BaseModel], loc: Loc) -> set[str]:
    """Return the names of the keys that a model has at a place in it."""
    current = model
    for part in loc:
        if part in current.model_fields:
            annotation = current.model_fields[str(part)].annotation
            current = next(iter(_models_in(annotation)), current)
    return set(current.model_fields)


def _models_in(annotation: Any) -> list[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    return [model for part in get_args(annotation) for model in _models_in(part)]
