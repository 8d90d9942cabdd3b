"""``labelkit plan``: how many rows to label, from which strata, and how wide the intervals will be.

It needs no store: numbers on the command line or a table with a column of strata are enough.
"""

from __future__ import annotations

import re
from math import isfinite
from pathlib import Path
from typing import Any

import click

from labelkit.cli import console
from labelkit.errors import InputError
from labelkit.printable import printable_json
from labelkit.stats.undefined import Number, Undefined, as_json
from labelkit.workflows.plan import (
    KappaPlan,
    KappaWish,
    Plan,
    Progress,
    Spread,
    Wish,
    plan_kappa,
    plan_more,
    plan_sample,
    strata_of_file,
)

SHARE = click.FloatRange(0, 1, min_open=True, max_open=True)


class Pairs(click.ParamType[dict[str, float]]):
    """``name=number,name=number``; a name may hold anything but a comma and ``=``."""

    name = "pairs"

    def convert(
        self,
        value: Any,
        param: click.Parameter | None,
        ctx: click.Context | None,
    ) -> dict[str, float]:
        """Split the text into names and numbers."""
        if isinstance(value, dict):
            return value
        out: dict[str, float] = {}
        for part in str(value).split(","):
            name, _, number = (word.strip() for word in part.rpartition("="))
            if not name:
                self.fail(f"{part!r} is not NAME=NUMBER", param, ctx)
            if name in out:
                self.fail(f"{name!r} is named twice", param, ctx)
            try:
                out[name] = float(number)
            except ValueError:
                self.fail(f"{number!r} of {name!r} is no number", param, ctx)
            if not isfinite(out[name]):
                self.fail(f"{number!r} of {name!r} is not finite", param, ctx)
        return out


@click.command("plan")
@click.option("--population", type=click.IntRange(min=1), help="Rows there are; default endless.")
@click.option("--margin", type=SHARE, default=0.05, show_default=True, help="+-, as a share.")
@click.option("--confidence", type=SHARE, default=0.95, show_default=True)
@click.option("--p", "rate", type=SHARE, default=0.5, show_default=True, help="Expected rate.")
@click.option("--n", type=click.IntRange(min=1), help="Rows to draw, instead of --margin's.")
@click.option("--design-effect", type=float, default=1.0, help="Of clusters or weights.")
@click.option("--strata", type=Pairs(), metavar="NAME=SIZE,...", help="Rows per stratum.")
@click.option(
    "--strata-from",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Count the strata in a table (CSV, TSV, JSON) by the column of --by.",
)
@click.option("--by", metavar="COL", help="The column of strata in --strata-from.")
@click.option(
    "--allocation",
    type=click.Choice(["proportional", "equal", "neyman"]),
    default="proportional",
    show_default=True,
)
@click.option("--minimum", type=click.IntRange(min=0), default=0, help="Rows per stratum at least.")
@click.option("--sds", type=Pairs(), metavar="NAME=SD,...", help="Standard deviations (Neyman).")
@click.option("--rates", type=Pairs(), metavar="NAME=RATE,...", help="Expected rates of strata.")
@click.option("--have", metavar="HITS/N", help="Labels so far: how many more until +-margin?")
@click.option("--kappa", type=float, help="Items that tell this kappa from --kappa-null.")
@click.option("--kappa-null", type=float, default=0.6, show_default=True)
@click.option("--yes", metavar="A,B", help="Share of yes of the two raters  [default: --p twice]")
@click.option("--power", type=SHARE, default=0.8, show_default=True, help="For --kappa.")
@click.option("--json", "as_text", is_flag=True, help="Everything, for machines.")
@click.pass_context
def command(  # noqa: PLR0913 - one parameter per option is click's way
    context: click.Context,
    *,
    population: int | None,
    margin: float,
    confidence: float,
    rate: float,
    n: int | None,
    design_effect: float,
    strata: dict[str, float] | None,
    strata_from: Path | None,
    by: str | None,
    allocation: Any,
    minimum: int,
    sds: dict[str, float] | None,
    rates: dict[str, float] | None,
    have: str | None,
    kappa: float | None,
    kappa_null: float,
    yes: str | None,
    power: float,
    as_text: bool,
) -> None:
    """Sample size (Cochran), its split over strata, expected widths of the intervals.

    With --have: how many more labels; with --kappa: how many items for a kappa. A draw is then
    planned beside it only where --n or strata ask for one.
    """
    draw = n is not None or strata is not None or strata_from is not None
    draw = draw or (have is None and kappa is None)
    _refuse_unused(context, draw=draw, have=have, kappa=kappa)
    wish = Wish(margin, confidence, rate, population, n, design_effect)
    sizes = _sizes(strata, strata_from, by)
    results: dict[str, Any] = {}
    if draw:
        spread = Spread(allocation, minimum, sds or {}, rates or {})
        results["plan"] = plan_sample(wish, sizes, spread)
    if have is not None:
        results["have"] = plan_more(*_have(have), wish, sizes)
    if kappa is not None:
        asked = KappaWish(kappa, kappa_null, _shares(yes, rate), power)
        results["kappa"] = plan_kappa(asked, confidence)
    if as_text:
        click.echo(printable_json(as_json(results)))
    else:
        _show(results, confidence)


def _refuse_unused(
    context: click.Context, *, draw: bool, have: str | None, kappa: float | None
) -> None:
    """Refuse an option that would change nothing, instead of passing over it in silence."""
    typed = {
        name
        for name in context.params
        if context.get_parameter_source(name) == click.core.ParameterSource.COMMANDLINE
    }
    unused: tuple[str, ...] = ()
    needs = ""
    about_draw = ("minimum", "sds", "rates", "allocation")
    if kappa is None:
        unused, needs = ("kappa_null", "yes", "power"), "--kappa"
    elif not draw and have is None:
        unused, needs = ("population", "margin", "design_effect", *about_draw), "a draw (--n)"
    if have is not None and not draw:
        unused, needs = (*about_draw, *(("rate",) if kappa is None else ())), "a draw (--n)"
    for name in unused:
        if name in typed:
            option = next(p.opts[0] for p in context.command.params if p.name == name)
            raise InputError(f"{option} has a meaning with {needs} only; leave it out or add that")


def _sizes(
    strata: dict[str, float] | None, file: Path | None, by: str | None
) -> dict[str, int] | None:
    if (file is None) != (by is None):
        raise InputError("--strata-from FILE and --by COL belong together; give both")
    if file is not None and by is not None:
        if strata is not None:
            raise InputError("--strata and --strata-from exclude each other; give one")
        return strata_of_file(file, by)
    for name, size in (strata or {}).items():
        if size != int(size) or size < 0:
            raise InputError(f"stratum {name!r} has a size of {size}; count its rows")
    return None if strata is None else {name: int(size) for name, size in strata.items()}


def _have(text: str) -> tuple[int, int]:
    found = re.fullmatch(r"\s*(\d+)\s*/\s*(\d+)\s*", text)
    if found is None:
        raise InputError(f"--have {text!r} is not HITS/N; write 12/80 for 12 hits in 80 labels")
    return int(found[1]), int(found[2])


def _shares(text: str | None, rate: float) -> tuple[float, float]:
    if text is None:
        return rate, rate
    try:
        first, second = (float(word) for word in text.split(","))
    except ValueError:
        raise InputError(f"--yes {text!r} is not two shares; write 0.3,0.25") from None
    return first, second


def _show(results: dict[str, Any], confidence: float) -> None:
    out = console.out()
    if "plan" in results:
        _show_plan(results["plan"])
    if "have" in results:
        out.print(console.plain(_progress(results["have"], confidence)))
    if "kappa" in results:
        out.print(console.plain(_kappa(results["kappa"])))


def _show_plan(plan: Plan) -> None:
    out = console.out()
    for line in _sentences(plan):
        out.print(console.plain(line))
    if plan.strata:
        rows = [
            (
                s.name,
                f"{s.size:,}",
                f"{s.n:,}",
                f"{s.inclusion:.4f}",
                f"{s.rate:.1%}",
                _points(s.half_width),
            )
            for s in plan.strata
        ]
        columns = ("stratum", "rows", "draw", "inclusion", "expected rate", "expected +-")
        out.print(console.table(f"Strata ({plan.method} allocation)", columns, rows))
    whole = [s.name for s in plan.strata if s.n == s.size and s.n]
    if whole:
        verb = "is" if len(whole) == 1 else "are"
        out.print(
            console.plain(
                f"{', '.join(whole)} {verb} drawn whole: +-0 there, because no row is left over "
                "that could differ."
            )
        )


def _sentences(plan: Plan) -> list[str]:
    wish = plan.wish
    total = wish.population if not plan.strata else sum(s.size for s in plan.strata)
    of = "an endless population" if total is None else f"{total:,}"
    first = (
        f"Cochran: {plan.cochran.n0:.2f} rows for +-{_points(wish.margin)} at a rate of "
        f"{wish.rate:.1%} and {wish.confidence:.4g} confidence; {plan.cochran.n:,} of {of}."
    )
    lines = [first]
    if plan.n != plan.cochran.n:
        why = "as asked for" if wish.n is not None else f"design effect {wish.design_effect:g}"
        lines.append(f"Rows planned: {plan.n:,} ({why}).")
    width = _points(plan.half_width)
    return [*lines, f"Draw {plan.n:,} rows; expect +-{width} (Wilson) for the whole."]


def _progress(progress: Progress, confidence: float) -> str:
    now, more = progress.now, progress.more
    if isinstance(now.interval, Undefined) or isinstance(now.value, Undefined):
        head = "Nothing labelled yet"
    else:
        head = (
            f"Now {now.hits:g}/{now.n:g} = {now.value:.1%} "
            f"({now.interval.low:.1%} - {now.interval.high:.1%}, {confidence:.4g} Wilson"
            f"{_of_population(progress.population)})"
        )
    if isinstance(more.needed, Undefined) or isinstance(more.more, Undefined):
        return f"{head}: {more.needed} - no number of labels makes it +-{_points(progress.margin)}."
    return (
        f"{head}: {more.more:,.0f} more labels ({more.needed:,.0f} in all) make it "
        f"+-{_points(progress.margin)} if the rate stays."
    )


def _of_population(population: int | None) -> str:
    return "" if population is None else f" corrected for a population of {population:,}"


def _kappa(plan: KappaPlan) -> str:
    wish = plan.wish
    return (
        f"Kappa {wish.kappa:g} against {wish.kappa_null:g}, shares of yes {wish.yes[0]:g} and "
        f"{wish.yes[1]:g}, power {wish.power:g}, alpha {plan.alpha:g} (two-sided): "
        f"{plan.n_items:,} items."
    )


def _points(value: Number) -> str:
    if isinstance(value, Undefined):
        return f"null ({value.reason.value})"
    return f"{100 * value:.3g} points"
