"""``labelkit agree``: agreement statistics of a ratings file, or of a rubric's raters.

A file needs no store and no settings: whoever only wants the statistics gets them in a minute.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

import click

from labelkit.catalog.rubrics import load_rubric
from labelkit.cli.agree_tables import show
from labelkit.cli.options import in_folder, opened_store
from labelkit.errors import InputError
from labelkit.formats.rating_layout import Layout
from labelkit.printable import printable_json
from labelkit.stats.agreement.weights import SCHEMES
from labelkit.stats.undefined import as_json
from labelkit.workflows.agreement import (
    LEVELS,
    GroupAgreement,
    ItemVote,
    Scale,
    agreement_of,
    votes_of,
)
from labelkit.workflows.ratings import Rated, RatingFile, read_ratings
from labelkit.workflows.review.live import ratings_of_sample
from labelkit.workflows.review.samples import sample as find_sample
from labelkit.workflows.rubric_ratings import ratings_of_rubric

_IN_REPLY = "-"
"""``--votes`` without a file: the votes go into the reply itself."""

_MOST_INDENTED = 1000
"""Rater pairs and votes in a reply that is laid out for reading."""


class Words(click.ParamType[tuple[str, ...]]):
    """``a,b,c``: words between commas."""

    name = "words"

    def convert(
        self,
        value: Any,
        param: click.Parameter | None,  # noqa: ARG002 - click's signature
        ctx: click.Context | None,  # noqa: ARG002
    ) -> tuple[str, ...]:
        """Split the text; a tuple is a default and passes."""
        if isinstance(value, tuple):
            return value
        return tuple(word.strip() for word in str(value).split(","))


@click.command("agree")
@click.argument("file", required=False, type=click.Path(path_type=Path))
@click.option("--rubric", metavar="NAME|PATH", help="The raters of a rubric instead of a file.")
@click.option("--sample", metavar="ID", help="The people of a sample, as the review app shows it.")
@in_folder
@click.option("--item", metavar="COL", help="The column that names the item.")
@click.option("--raters", type=Words(), metavar="A,B,C", help="Wide: one column per rater.")
@click.option("--rater", metavar="COL", help="Long: the column that names the rater.")
@click.option("--label", metavar="COL", help="Long: the column that holds the label.")
@click.option("--question", metavar="COL|ID", help="Column of the question; a rubric's question.")
@click.option("--by", multiple=True, metavar="COL|TAG", help="Split by: a column; model, domain ..")
@click.option("--labels", type=Words(), metavar="A,B,C", help="The label set in scale order.")
@click.option("--numeric/--text", default=None, help="Read labels as numbers, or as text.")
@click.option(
    "--missing",
    type=Words(),
    default=(),
    metavar="A,B",
    help="What means 'no rating' beside an empty cell, NA, N/A, nan, null and None, which always "
    "do unless they are among --labels.",
)
@click.option("--delimiter", metavar="CHAR", help="Of a CSV file; default: found from its header.")
@click.option(
    "--level",
    type=click.Choice(LEVELS),
    help="Level of measurement, for alpha  [default: nominal; ordinal for an ordinal question]",
)
@click.option(
    "--weights",
    type=click.Choice(list(SCHEMES)),
    help="How much two different labels agree, for all coefficients  [default: identity; "
    "ordinal for an ordinal question, quadratic with --scores]",
)
@click.option("--scores", type=Words(), metavar="X,Y,Z", help="A number for each of --labels.")
@click.option(
    "--confidence",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    default=0.95,
    show_default=True,
    help="Of every interval.",
)
@click.option(
    "--votes",
    is_flag=False,
    flag_value=_IN_REPLY,
    metavar="[OUT.csv]",
    help="Majority and Dawid-Skene label of every item, in the JSON or in a file.",
)
@click.option("--json", "as_text", is_flag=True, help="Everything, for machines.")
def command(  # noqa: PLR0913 - one parameter per option is click's way
    *,
    file: Path | None,
    rubric: str | None,
    sample: str | None,
    folder: Path,
    level: str | None,
    weights: str | None,
    scores: tuple[str, ...] | None,
    confidence: float,
    votes: str | None,
    as_text: bool,
    question: str | None,
    by: tuple[str, ...],
    **layout: Any,
) -> None:
    """Agreement of raters: kappas, AC1, alpha with intervals, by question, stratum and pair.

    FILE is a CSV, TSV or JSON table: one row per item and one column per rater, or one row per
    rating (item, rater, label). Without FILE, --rubric compares the raters in the store.
    """
    scale = Scale(level, weights, confidence, _numbers(scores, layout))
    if file is None and rubric is None and sample is None:
        raise InputError(
            "labelkit agree needs a table of ratings, for example `labelkit agree ratings.csv "
            "--item id --raters ann,ben`, or the raters in a store, `labelkit agree --rubric NAME`"
        )
    if sum(given is not None for given in (file, rubric, sample)) > 1:
        raise InputError(
            "name a file of ratings (labelkit agree ratings.csv), the raters of a rubric "
            "(--rubric NAME) or the people of a sample (--sample ID), not both"
        )
    if file is not None:
        source, rated, remarks = _of_file(file, question, by, layout)
    elif sample is not None:
        _refuse_file_options(layout, votes)
        source, rated, remarks = _of_sample(sample, folder, question, by)
    else:
        _refuse_file_options(layout, votes)
        source, rated, remarks = _of_rubric(str(rubric), folder, question, by)
    if sample is not None and not as_text and not _any_label(rated):
        click.echo("nobody has labelled yet; `labelkit app`")
        return
    groups = [group for one in rated for group in agreement_of(one, scale)]
    ballots = [vote for one in rated for vote in votes_of(one)] if votes else None
    if ballots is not None and votes != _IN_REPLY:
        _write_votes(Path(str(votes)), ballots, file)
    if as_text:
        shown = ballots if votes == _IN_REPLY else None
        click.echo(_as_json(source, scale, groups, remarks, shown))
    else:
        show(source, scale, groups, remarks, ballots)


def _numbers(texts: tuple[str, ...] | None, layout: dict[str, Any]) -> tuple[float, ...] | None:
    if texts is None:
        return None
    try:
        scores = tuple(float(text) for text in texts)
    except ValueError:
        raise InputError(
            f"--scores {','.join(texts)!r} are not numbers; write 0,1,3 for --labels bad,fair,good"
        ) from None
    labels = layout["labels"]
    if not labels or len(labels) != len(scores):
        raise InputError(
            f"{len(scores)} scores for {len(labels or ())} labels; give --labels in scale order "
            "and one score for each"
        )
    return scores


def _of_file(
    file: Path, question: str | None, by: tuple[str, ...], options: dict[str, Any]
) -> tuple[dict[str, Any], Sequence[Rated], list[str]]:
    numeric = options.pop("numeric")
    kind: Literal["auto", "text", "number"] = "auto"
    if numeric is not None:
        kind = "number" if numeric else "text"
    options = {name: value or () for name, value in options.items() if value is not None}
    delimiter = options.get("delimiter")
    if delimiter in {"tab", "\\t"}:
        options["delimiter"] = "\t"
    elif delimiter is not None and len(delimiter) != 1:
        raise InputError(f"a delimiter is one character (or tab), not {delimiter!r}")
    found = read_ratings(file, Layout(question=question, by=by, kind=kind, **options))
    remarks = list(found.remarks)
    remarks += [
        f"question {one.question!r}: {remark}" if one.question is not None else remark
        for one in found.rated
        for remark in one.remarks
    ]
    return _source(found), found.rated, list(dict.fromkeys(remarks))


def _source(found: RatingFile) -> dict[str, Any]:
    missing: dict[str, int] = {}
    for one in found.rated:
        for text, number in one.missing.items():
            missing[text] = missing.get(text, 0) + number
    return {
        "file": str(found.path),
        "layout": found.layout,
        "columns": found.columns,
        "n_rows": found.n_rows,
        "n_missing": sum(missing.values()),
        "missing": missing,
    }


def _of_rubric(
    rubric: str, folder: Path, question: str | None, by: tuple[str, ...]
) -> tuple[dict[str, Any], Sequence[Rated], list[str]]:
    loaded = load_rubric(rubric)
    with opened_store(folder) as (store, _):
        rated, remarks = ratings_of_rubric(store, loaded, question=question, by=by)
    missing = {str(one.question): one.missing for one in rated}
    head = {"rubric": loaded.name, "version": loaded.version, "digest": loaded.digest}
    return {**head, "missing": missing}, rated, remarks


def _of_sample(
    sample: str, folder: Path, question: str | None, by: tuple[str, ...]
) -> tuple[dict[str, Any], Sequence[Rated], list[str]]:
    if by:
        raise InputError("a sample is split by its own strata; leave out --by")
    with opened_store(folder) as (store, _):
        found = find_sample(store, sample)
        rated = ratings_of_sample(store, found, question)
    design = found.design
    head = {"sample": found.id, "rubric": design.rubric, "version": design.rubric_version}
    return {**head, "digest": design.rubric_digest, "n": design.n}, rated, []


def _any_label(rated: Sequence[Rated]) -> bool:
    return any(bool(one.table.ratings_per_row.any()) for one in rated)


def _refuse_file_options(layout: dict[str, Any], votes: str | None) -> None:
    given = [k for k, v in layout.items() if v is not None and v != ()]
    if votes is not None:
        given.append("votes")
    if given:
        raise InputError(f"--{given[0]} belongs to a file of ratings; leave it out with --rubric")


def _as_json(
    source: dict[str, Any],
    scale: Scale,
    groups: Sequence[GroupAgreement],
    remarks: Sequence[str],
    votes: Sequence[ItemVote] | None,
) -> str:
    out = {"source": source, "scale": as_json(scale), "groups": as_json(tuple(groups))}
    out["remarks"] = list(remarks)
    if votes is not None:
        out["votes"] = [vote._asdict() for vote in votes]
    # The encoder that indents is many times slower; a long reply is not read by people anyway.
    long = sum(len(group.pairs) for group in groups) + len(votes or ()) > _MOST_INDENTED
    return json.dumps(out, allow_nan=False) if long else printable_json(out)


def _write_votes(path: Path, votes: Sequence[ItemVote], source: Path | None) -> None:
    """Write one line per item; an item without a label has an empty cell and its outcome."""
    if source is not None and path.exists() and path.samefile(source):
        raise InputError(f"{path} holds the ratings; write the votes to another file")
    try:
        with path.open("w", encoding="utf-8", errors="backslashreplace", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(ItemVote._fields)
            at = ItemVote._fields.index("tied")
            writer.writerows(
                (*vote[:at], "|".join(map(str, vote.tied)), *vote[at + 1 :]) for vote in votes
            )
    except OSError as error:
        raise InputError(f"{path} cannot be written: {error.strerror}") from None
