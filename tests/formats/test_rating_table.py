"""Tables of ratings in every writing: the same ratings, and nothing missing made into a label."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from labelkit.errors import FormatError, InputError
from labelkit.formats.rating_layout import Layout
from labelkit.formats.reader import ReadOptions
from labelkit.formats.registry import read_file, sniff_format
from tests.formats.test_label_formats import read
from tests.formats.writing import one_file, write_lines

LONG = [
    {"item": "a", "rater": "r1", "label": "yes", "comment": "sure"},
    {"item": "a", "rater": "r2", "label": "no", "comment": ""},
    {"item": "b", "rater": "r1", "label": "NA", "comment": ""},
    {"item": "b", "rater": "r2", "label": "yes", "comment": ""},
]
WIDE = [
    {"item": "a", "r1": "yes", "r2": "no"},
    {"item": "b", "r1": "", "r2": "yes"},
    {"item": "c", "r1": "no", "r2": "no"},
    {"item": "d", "r1": "no", "r2": "yes"},
]


def written(path: Path, rows: list[dict[str, Any]], kind: str) -> Path:
    if kind == "parquet":
        pq.write_table(pa.Table.from_pylist(rows), path)
    elif kind == "jsonl":
        write_lines(path, rows)
    elif kind == "json":
        one_file(path, rows)
    else:
        mark = {"csv": ",", "tsv": "\t", "semicolon": ";"}[kind]
        lines = [mark.join(rows[0]), *(mark.join(map(str, row.values())) for row in rows)]
        path.write_text("\r\n".join(lines) + "\r\n", encoding="utf-8-sig")
    return path


@pytest.mark.parametrize("kind", ["csv", "tsv", "semicolon", "jsonl", "json", "parquet"])
def test_long_tables_in_every_writing(tmp_path: Path, kind: str) -> None:
    suffix = "csv" if kind == "semicolon" else kind
    path = written(tmp_path / f"t.{suffix}", LONG, kind)
    assert sniff_format(path).name == "ratings"
    traces, ratings, report = read(path)
    assert traces == []
    assert [(r.item, r.rater, r.value, r.rationale) for r in ratings] == [
        ("a", "r1", "yes", "sure"), ("a", "r2", "no", None), ("b", "r2", "yes", None),
    ]  # fmt: skip
    assert [(line.kind, line.count) for line in report.lines] == [("lost", 1)]


@pytest.mark.parametrize("kind", ["csv", "tsv", "parquet"])
def test_wide_tables(tmp_path: Path, kind: str) -> None:
    path = written(tmp_path / f"t.{kind}", WIDE, kind)
    assert sniff_format(path).name == "ratings"
    _, ratings, report = read(path)
    assert Counter((r.rater, r.value) for r in ratings) == {
        ("r1", "yes"): 1, ("r1", "no"): 2, ("r2", "yes"): 2, ("r2", "no"): 2,
    }  # fmt: skip
    assert report.total("lost") == 1


def test_columns_can_be_named(tmp_path: Path) -> None:
    rows = [{"who": "x", "what": "1", "thing": "a", "score": 2.0, "words": "said", "domain": "d"}]
    path = write_lines(tmp_path / "t.jsonl", rows)
    layout = Layout(item="thing", rater="who", label="score", question="what")
    options = ReadOptions(layout=layout, text="words", judges=frozenset({"x"}))
    _, (rating,), _ = read(path, "ratings", options)
    assert (rating.item, rating.rater, rating.value, rating.question) == ("a", "x", "2", "1")
    assert (rating.text, rating.kind) == ("said", "judge")
    wide = ReadOptions(layout=Layout(item="thing", raters=("score",)), text="words")
    _, (rating,), _ = read(path, "ratings", wide)
    assert rating.tags == {"who": "x", "what": "1", "domain": "d"}
    with pytest.raises(InputError, match="no column 'nope'"):
        list(read_file(path, "ratings", ReadOptions(layout=Layout(item="nope"))))


@pytest.mark.parametrize(
    ("cell", "value"),
    [(1, "1"), (1.0, "1"), (2.5, "2.5"), (True, "true"), (" x ", "x"), (None, None),
     ("", None), ("NaN", None), (float("nan"), None)],
)  # fmt: skip
def test_cells_become_labels(tmp_path: Path, cell: Any, value: str | None) -> None:
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table({"item": ["a"], "rater": ["r"], "label": [cell]}), path)
    if value is None:
        with pytest.raises(FormatError, match="no record could be read"):
            read(path)
    else:
        assert [r.value for r in read(path)[1]] == [value]


def test_rows_that_do_not_fit_end_nothing(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes("item,rater,label\na,r,é\nb,r\n,r,x\n".encode() + b"c,\xff,x\n\nd,r,x\n")
    _, ratings, report = read(path)
    assert [(r.item, r.record) for r in ratings] == [("a", 2), ("d", 7)]
    assert sorted(r for line in report.lines for r in line.records) == [3, 4, 5]
    assert report.broken == 3


def test_a_cell_with_line_ends_and_quotes(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text('item,rater,label,note\n"a\nb",r,x,"say ""no"""\nc,r,x,\n', encoding="utf-8")
    _, ratings, _ = read(path)
    assert [(r.item, r.rationale) for r in ratings] == [("a\nb", 'say "no"'), ("c", None)]


def test_a_damaged_parquet_file_is_refused(tmp_path: Path) -> None:
    path = written(tmp_path / "t.parquet", LONG, "parquet")
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(FormatError, match="damaged Parquet"):
        list(read_file(path))


@pytest.mark.parametrize(
    "text",
    ["role,content\nuser,hi\n", "id,prompt,response\n1,a,b\n2,c,d\n3,e,f\n4,g,h\n", "a\nb\n",
     "id,id\n1,2\n", "x,y\n1,2\n3,4\n"],
)  # fmt: skip
def test_other_tables_are_not_taken_for_ratings(tmp_path: Path, text: str) -> None:
    path = tmp_path / "t.csv"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(FormatError, match="no known format"):
        sniff_format(path)


# --- the real tables -------------------------------------------------------------------------


def test_the_crowds_entailment_labels(shared: Path) -> None:
    _, ratings, report = read(shared / "real/crowd_rte/rte.standardized.csv")
    assert len(ratings) == 8000
    items = Counter(r.item for r in ratings)
    raters = Counter(r.rater for r in ratings)
    assert set(items.values()) == {10}
    assert (len(items), len(raters)) == (800, 164)
    assert (min(raters.values()), max(raters.values())) == (20, 800)
    assert len({(r.item, r.rater) for r in ratings}) == 8000
    assert {r.value for r in ratings} == {"0", "1"}
    assert report.clean


def test_krippendorffs_table_has_empty_cells(shared: Path) -> None:
    _, ratings, report = read(shared / "real/reference_tables/krippendorff2011_12x4_missing.csv")
    assert (len(ratings), report.total("lost")) == (41, 4)
    assert len({r.rater for r in ratings}) == 4


def test_fleiss_diagnoses(shared: Path) -> None:
    _, ratings, _ = read(shared / "real/reference_tables/fleiss1971_diagnoses_30x6.csv")
    assert len(ratings) == 180
    assert len({r.item for r in ratings}) == 30
