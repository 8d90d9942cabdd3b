"""The system message of a framing: rubric text through a sandboxed Jinja2 template.

Only text from a rubric folder comes here. Trace text must never be passed to this module: a
trace that holds template syntax would be executed. Templates cannot load files and see nothing
but the variables in ``VARIABLES``.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from jinja2 import StrictUndefined, Template, TemplateError, TemplateSyntaxError, nodes
from jinja2.sandbox import ImmutableSandboxedEnvironment

from labelkit.domain.rubric import Framing, Question, Rubric
from labelkit.errors import InputError

VARIABLES = {
    "rubric": "title, name, version",
    "questions": "the asked questions: id, type, text, labels (name, title, include, exclude,"
    " example, subsets)",
    "subsets": "names of the task subsets",
    "answer_format": "the answer form in words",
    "evidence": "whether quotes are asked for",
}
_MARK = "<<the answer form stands here>>"


class TemplateFaultError(InputError):
    """A template that cannot be used; ``line`` is 1-based within the template."""

    def __init__(self, line: int | None, problem: str, mend: str) -> None:
        super().__init__(f"template line {line or '?'}: {problem}; {mend}")
        self.line = line
        self.problem = problem
        self.mend = mend


def _environment() -> ImmutableSandboxedEnvironment:
    env = ImmutableSandboxedEnvironment(
        undefined=StrictUndefined,
        # The message is plain text for a model: escaping would change the rubric's words.
        autoescape=False,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    # The same rubric must give the same message every time: nothing random.
    env.globals = {"range": env.globals["range"]}
    env.filters.pop("random")
    return env


_ENV = _environment()


@cache
def _compiled(text: str) -> Template:
    return _ENV.from_string(text)


def render_system(rubric: Rubric, framing: Framing, answer_format: str) -> str:
    """Return the system message of one framing; the same text for every row.

    Raises:
        TemplateFaultError: the template is wrong or names an unknown variable.
    """
    try:
        return _compiled(framing.template).render(_variables(rubric, framing, answer_format))
    except TemplateSyntaxError as fault:
        raise _syntax(fault) from None
    except Exception as fault:
        # A template is a program: whatever it raises is its author's mistake, not ours.
        words = fault.message if isinstance(fault, TemplateError) else str(fault)
        problem = f"the template cannot be rendered ({words or type(fault).__name__})"
        raise TemplateFaultError(
            _line(fault), problem, "remove or correct the expression"
        ) from None


def check_template(rubric: Rubric, framing: Framing) -> None:
    """Render once, so that every mistake shows before any request.

    Raises:
        TemplateFaultError: as ``render_system``; or the template is empty or lacks the answer form.
    """
    if not framing.template.strip():
        raise TemplateFaultError(1, "the template is empty", "write the judge's instructions")
    _check_names(framing.template)
    if _MARK not in render_system(rubric, framing, _MARK):
        problem = "the template never shows the answer form"
        raise TemplateFaultError(None, problem, "add {{ answer_format }}")


def _syntax(fault: TemplateSyntaxError) -> TemplateFaultError:
    """Return the mistake with what Jinja2 says about it, its sentences made one."""
    said = (fault.message or "unreadable").rstrip(".").replace(". ", "; ")
    return TemplateFaultError(
        fault.lineno, f"not a valid template ({said})", "mend the Jinja2 syntax"
    )


def _check_names(text: str) -> None:
    try:
        tree = _ENV.parse(text)
    except TemplateSyntaxError as fault:
        raise _syntax(fault) from None
    except RecursionError:
        raise TemplateFaultError(None, "the template is nested too deeply", "simplify it") from None
    names = list(tree.find_all(nodes.Name))
    own = {name.name for name in names if name.ctx != "load"}
    for name in names:
        if name.name not in own and name.name not in VARIABLES and name.name not in _ENV.globals:
            known = "; ".join(f"{key} ({what})" for key, what in VARIABLES.items())
            problem = f"unknown variable {name.name!r}"
            raise TemplateFaultError(name.lineno, problem, f"known variables: {known}")


def _line(fault: BaseException) -> int | None:
    line, step = None, fault.__traceback__
    while step is not None:
        if step.tb_frame.f_code.co_filename == "<template>":
            line = step.tb_lineno
        step = step.tb_next
    return line


def _variables(rubric: Rubric, framing: Framing, answer_format: str) -> dict[str, Any]:
    return {
        "rubric": {"title": rubric.title, "name": rubric.name, "version": rubric.version},
        "questions": [_question(rubric.question(name)) for name in framing.asks],
        "subsets": list(rubric.subsets),
        "answer_format": answer_format,
        "evidence": framing.evidence,
    }


def _question(question: Question) -> dict[str, Any]:
    parts = {"name", "title", "include", "exclude", "example", "subsets"}
    labels = [label.model_dump(mode="json", include=parts) for label in question.labels]
    return {"id": question.id, "type": question.type, "text": question.text, "labels": labels}
