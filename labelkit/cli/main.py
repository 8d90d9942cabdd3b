"""The entry point: find the verb, load only its file, turn errors into one sentence.

Verbs are loaded by name when they are called for, so that ``labelkit report`` does not pay for
the model client and ``labelkit --help`` pays for nothing.
"""

from __future__ import annotations

import importlib
import os
import sys
from typing import NoReturn

import click

from labelkit.errors import LabelkitError

VERBS = {
    "demo": "run the whole line on the embedded model, on a small task set",
    "init": "make labelkit.db and a commented labelkit.yaml here",
    "import": "read traces or tasks from a file into the store",
    "run": "turn tasks into traces with a model",
    "judge": "label traces: rule, every configured judge",
    "report": "rates with named denominators, coverage, intervals; agreement",
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

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """List verbs from the table above, without loading any."""
        with formatter.section("Verbs"):
            formatter.write_dl(list(VERBS.items()))


@click.group(cls=Verbs, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="labelkit", message="labelkit %(version)s")
def cli() -> None:
    """From agent traces to validated labels and honest rates."""


def fail(message: str) -> NoReturn:
    """Print one sentence to standard error and leave with exit code 2."""
    click.echo(f"labelkit: {message}", err=True)
    sys.exit(EXIT_USER_ERROR)


def main() -> None:
    """Run the command line. Exit codes: 0 done, 2 an error to mend, 130 interrupted."""
    try:
        result = cli.main(standalone_mode=False)
    except LabelkitError as error:
        fail(str(error))
    except click.UsageError as error:
        where = f" (see `{error.ctx.command_path} --help`)" if error.ctx else ""
        fail(f"{error.format_message().rstrip('.')}{where}")
    except click.ClickException as error:
        fail(error.format_message())
    except (click.Abort, KeyboardInterrupt):
        click.echo(
            "labelkit: interrupted; what was committed is kept, run it again to go on", err=True
        )
        sys.exit(EXIT_INTERRUPTED)
    except BrokenPipeError:
        # The reader went away (`labelkit report | head`): not an error, and nothing to say.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    sys.exit(result if isinstance(result, int) else 0)


if __name__ == "__main__":
    main()
