"""The entry point: find the verb, load only its file, turn errors into one sentence.

Verbs are loaded by name when they are called for, so that ``labelkit report`` does not pay for
the model client and ``labelkit --help`` pays for nothing.
"""

from __future__ import annotations

import difflib
import importlib
import os
import re
import sys
from collections.abc import Iterable, Sequence
from typing import Any, NoReturn

import click

from labelkit.errors import LabelkitError, LocatedError
from labelkit.printable import printable

VERBS = {
    "demo": "run the whole line on the embedded model, on a small task set",
    "init": "make labelkit.db and a commented labelkit.yaml here",
    "import": "read traces or tasks from a file into the store",
    "tasks": "list and check task sets; take critical tools away",
    "run": "turn tasks into traces with a model",
    "judge": "label traces: rule, every configured judge",
    "batch": "hand request files to a Batch API, fetch results",
    "report": "rates with named denominators, coverage, intervals; agreement",
    "sensitivity": "failure modes under other thresholds of the rule",
    "agree": "agreement of raters: a ratings file, or a rubric's raters",
    "plan": "sample size, allocation over strata, expected interval widths",
    "sample": "draw a frozen sample for people to label, plan it, list samples",
    "people": "who labels and decides in the review app",
    "app": "open the review pages in the browser",
    "terms": "licences of task sets: what a release may pass on",
    "export": "write a release: tables, numbers, figures, checksums",
    "verify": "recompute every number of a release from its files",
    "diff": "what changed between two releases",
    "models": "models on this machine; fetch others",
    "rubric": "list, check and describe rubrics",
}
EXIT_USER_ERROR = 2
EXIT_INTERRUPTED = 130


class Verbs(click.Group):
    """A group whose commands live in one module each: ``labelkit.cli.<verb>_verb``."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        """The verbs in the order of the work, not of the alphabet."""
        return list(VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        """Load the module of one verb."""
        if cmd_name not in VERBS:
            return None
        module = importlib.import_module(f"labelkit.cli.{cmd_name}_verb")
        command: click.Command = module.command
        return command

    def invoke(self, ctx: click.Context) -> Any:
        """Run the verb; a reader that went away (`labelkit report | head`) is no error."""
        try:
            return super().invoke(ctx)
        except BrokenPipeError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            ctx.exit(0)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """List verbs from the table above, without loading any."""
        with formatter.section("Verbs"):
            formatter.write_dl(list(VERBS.items()))


@click.group(cls=Verbs, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="labelkit", message="labelkit %(version)s")
def cli() -> None:
    """From agent traces to validated labels and honest rates."""


def fail(message: str, others: Sequence[str] = ()) -> NoReturn:
    """Print one sentence to standard error, further ones below it, and leave with exit code 2."""
    click.echo(f"labelkit: {printable(message)}", err=True)
    for other in others:
        click.echo(f"  also {printable(other)}", err=True)
    sys.exit(EXIT_USER_ERROR)


def usage(error: click.UsageError) -> str:
    """What was wrong with the words of a command, as one sentence with the nearest guess."""
    word = getattr(error, "command_name", None)
    context = error.ctx
    known: Iterable[str] = getattr(error, "possibilities", None) or ()
    if word is not None and context is not None and isinstance(context.command, click.Group):
        known = difflib.get_close_matches(word, context.command.list_commands(context))
    guess = f"; did you mean {' or '.join(map(repr, known))}?" if known else ""
    where = f" (see `{context.command_path} --help`)" if context else ""
    # click appends its own guesses, as sentences of their own, to these two messages only.
    message = error.message if hasattr(error, "possibilities") else error.format_message()
    # click breaks its lists of choices into lines.
    message = re.sub(r"([:,])\n\t", r"\1 ", _of_path(error) or message)
    return f"{message.rstrip('.')}{guess}{where}"


def _of_path(error: click.UsageError) -> str | None:
    """What is wrong with a path, in plain words; None where the error is of another kind."""
    parameter = error.param if isinstance(error, click.BadParameter) else None
    if parameter is None or not isinstance(parameter.type, click.Path):
        return None
    kind = "file" if parameter.type.file_okay else "folder"
    found = re.fullmatch(r"\w+ ('.*') (does not exist|is a file|is a directory)\.", error.message)
    if found is None:
        return None
    if found[2] == "does not exist":
        return f"there is no {kind} {found[1]}"
    return f"{found[1]} {found[2].replace('directory', 'folder')}; name a {kind}"


def main() -> None:
    """Run the command line. Exit codes: 0 done, 2 an error to mend, 130 interrupted."""
    try:
        result = cli.main(standalone_mode=False)
    except LocatedError as error:
        fail(error.sentence, error.others)
    except LabelkitError as error:
        fail(str(error))
    except click.exceptions.NoArgsIsHelpError as error:
        # Who types a bare group wants to see what it holds, not a sentence.
        click.echo(error.format_message(), err=True)
        sys.exit(EXIT_USER_ERROR)
    except click.UsageError as error:
        fail(usage(error))
    except click.ClickException as error:
        fail(error.format_message())
    except (click.Abort, KeyboardInterrupt):
        click.echo(
            "labelkit: interrupted; what was committed is kept, run it again to go on", err=True
        )
        sys.exit(EXIT_INTERRUPTED)
    sys.exit(result if isinstance(result, int) else 0)


if __name__ == "__main__":
    main()
