"""``labelkit sample``: draw a frozen sample for people to label, plan it, list samples."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from labelkit.catalog.rubrics import load_rubric
from labelkit.cli import console
from labelkit.cli.options import in_folder, opened_store
from labelkit.domain.sample import Sample
from labelkit.errors import InputError
from labelkit.printable import printable_json
from labelkit.stats.undefined import Number, Undefined, as_json
from labelkit.workflows.review import samples
from labelkit.workflows.review.samples import SamplePlan, Wanted

_GIVEN = click.core.ParameterSource.COMMANDLINE
SHARE = click.FloatRange(0, 1, min_open=True, max_open=True)


class Names(click.ParamType[tuple[str, ...]]):
    """``a,b,c``: names between commas."""

    name = "names"

    def convert(
        self,
        value: Any,
        param: click.Parameter | None,  # noqa: ARG002 - click's signature
        ctx: click.Context | None,  # noqa: ARG002
    ) -> tuple[str, ...]:
        """Split the text; a tuple is a default and passes."""
        if isinstance(value, tuple):
            return value
        return tuple(name for word in str(value).split(",") if (name := word.strip()))


@click.group("sample", invoke_without_command=True)
@click.option("--rubric", metavar="NAME|PATH", help="The rubric to label by.")
@click.option("--question", metavar="ID", help="Default: the rubric's primary question.")
@click.option("--margin", type=SHARE, default=0.05, show_default=True, help="+-, as a share.")
@click.option("--confidence", type=SHARE, default=0.95, show_default=True)
@click.option("--n", type=click.IntRange(min=1), help="Rows to draw, instead of --margin's.")
@click.option(
    "--strata",
    type=Names(),
    default=(),
    metavar="A,B",
    help="model, domain, subset, ensemble, disagreement, any tag.",
)
@click.option(
    "--allocation",
    type=click.Choice(["proportional", "equal", "neyman"]),
    default="proportional",
    show_default=True,
)
@click.option(
    "--minimum",
    type=click.IntRange(min=1),
    default=2,
    show_default=True,
    help="Rows per stratum at least.",
)
@click.option(
    "--method",
    type=click.Choice(["uniform", "mixed"]),
    default="uniform",
    show_default=True,
    help="mixed: half of the draw, in every stratum, follows the raters' uncertainty.",
)
@click.option(
    "--overlap", type=click.IntRange(min=1), default=2, show_default=True, help="People per item."
)
@click.option(
    "--repeats-share",
    type=click.FloatRange(0, 1),
    default=0.0,
    show_default=True,
    help="Hidden repeats, as a share.",
)
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True)
@click.option(
    "--people",
    "names",
    type=Names(),
    default=(),
    metavar="A,B",
    help="Who labels; default everybody.",
)
@click.option(
    "--plan", "only_plan", is_flag=True, help="Show sizes and expected widths; draw nothing."
)
@click.option("--json", "as_text", is_flag=True, help="Everything, for machines.")
@in_folder
@click.pass_context
def command(
    ctx: click.Context,
    /,
    *,
    rubric: str | None,
    names: tuple[str, ...],
    only_plan: bool,
    as_text: bool,
    folder: Path,
    **wishes: Any,
) -> None:
    """Draw a frozen sample (Cochran) for people to label; the same words give the same sample."""
    if ctx.invoked_subcommand is not None:
        return
    if not any(ctx.get_parameter_source(name) is _GIVEN for name in ctx.params):
        raise click.exceptions.NoArgsIsHelpError(ctx)
    if rubric is None:
        raise InputError("name the rubric to label by (--rubric NAME; see `labelkit rubric list`)")
    loaded, wanted = load_rubric(rubric), Wanted(**wishes)
    with opened_store(folder) as (store, _):
        planned = samples.plan(store, None, loaded, wanted)
        drawn = None
        if not only_plan:
            drawn = samples.draw(store, None, loaded, wanted, people=names)
    if as_text:
        out = as_json(planned) | {"drawn": drawn is not None and not planned.exists}
        click.echo(printable_json(out))
        return
    _show(planned, wanted)
    if drawn is None:
        click.echo("nothing drawn; leave out --plan to draw it")
    elif planned.exists:
        click.echo(f"sample {drawn.id[:12]} was drawn before and is as it was")
    else:
        click.echo(f"drawn: sample {drawn.id[:12]}; label it with `labelkit app`")


@command.command("list")
@click.option("--json", "as_text", is_flag=True, help="Everything, for machines.")
@in_folder
def show_list(as_text: bool, folder: Path) -> None:
    """Every sample with its rubric, size and design."""
    with opened_store(folder) as (store, _):
        found = samples.every_sample(store, None)
    if as_text:
        click.echo(printable_json([sample.model_dump(mode="json") for sample in found]))
        return
    if not found:
        click.echo("no sample yet; draw one with `labelkit sample --rubric NAME`")
        return
    columns = ("sample", "rubric", "question", "strata", "n", "of", "people per item")
    rows = [_row(sample) for sample in found]
    console.out().print(console.table("Samples", columns, rows, text_columns=4))


def _row(sample: Sample) -> tuple[str, ...]:
    design = sample.design
    return (
        sample.id[:12] + ("" if sample.open else " (closed)"),
        f"{design.rubric} {design.rubric_version}",
        design.question,
        ", ".join(design.strata),
        str(design.n),
        str(design.frame_size),
        str(design.overlap),
    )


def _show(planned: SamplePlan, wanted: Wanted) -> None:
    plan = planned.plan
    click.echo(
        f"{plan.n} of {plan.wish.population} rows, +- {_percent(plan.half_width)} at"
        f" {wanted.confidence:.0%} (rate 50%); {planned.labels} labels by people"
    )
    if planned.excluded:
        left_out = ", ".join(f"{count} {reason}" for reason, count in planned.excluded.items())
        click.echo(f"not in the frame: {left_out}")
    if plan.strata:
        rows = [
            (
                part.name,
                str(part.size),
                str(part.n),
                f"{part.inclusion:.1%}",
                _percent(part.half_width),
            )
            for part in plan.strata
        ]
        columns = ("stratum", "rows", "drawn", "share", "+-")
        console.out().print(console.table("Strata", columns, rows, text_columns=1))


def _percent(value: Number) -> str:
    return f"null ({value.reason.value})" if isinstance(value, Undefined) else f"{value:.1%}"
