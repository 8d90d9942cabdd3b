"""Tables of ratings as people write them; every expected number is counted in the test."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from labelkit.domain.rubric import LabelDefinition, Question
from labelkit.errors import FormatError, InputError, LabelkitError, StatisticsError
from labelkit.formats.rating_layout import Layout
from labelkit.stats.agreement import cohen_kappa, fleiss_kappa
from labelkit.stats.ratings import from_rows, from_triples
from labelkit.stats.undefined import Undefined
from labelkit.workflows import rubric_ratings
from labelkit.workflows.agreement import Scale, agreement_of, vote_tally, votes_of
from labelkit.workflows.ratings import RatingFile, read_ratings
from labelkit.workflows.rows import FAILED, Votes

WIDE = "item,ann,ben\nq1,yes,yes\nq2,yes,no\nq3,no,no\nq4,NA,yes\n"
LONG = """\
label,rater,item
yes,ann,q1
yes,ben,q1
yes,ann,q2
no,ben,q2
no,ann,q3
no,ben,q3
yes,ben,q4
"""
QUOTED = '"item","ann","ben"\n"q1","yes","yes"\n"q2","yes","no"\n"q3","no","no"\n"q4","","yes"\n'
RECORDS = [
    {"item": "q1", "ann": "yes", "ben": "yes"},
    {"item": "q2", "ann": "yes", "ben": "no"},
    {"item": "q3", "ann": "no", "ben": "no"},
    {"item": "q4", "ben": "yes"},
]
LINES = "\n\n".join(json.dumps(record) for record in RECORDS) + "\n"
ARRAY = json.dumps(RECORDS, indent=1)


def write(tmp_path: Path, text: str | bytes, name: str = "ratings.csv") -> Path:
    path = tmp_path / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode("utf-8"))
    return path


def read(tmp_path: Path, text: str | bytes, name: str = "ratings.csv", **layout) -> RatingFile:
    return read_ratings(write(tmp_path, text, name), Layout(**layout))


def cells(found: RatingFile) -> dict[tuple[str, str], object]:
    """(item, rater) -> label, None where it is missing."""
    out: dict[tuple[str, str], object] = {}
    for rated in found.rated:
        table = rated.table
        assert table.patterns is not None
        assert table.pattern_of is not None
        codes = table.patterns[table.pattern_of]
        for row, item in enumerate(rated.items):
            for k, rater in enumerate(table.raters):
                code = codes[row, k]
                out[item, str(rater)] = table.categories[code] if code >= 0 else None
    return out


EXPECTED = {
    ("q1", "ann"): "yes",
    ("q1", "ben"): "yes",
    ("q2", "ann"): "yes",
    ("q2", "ben"): "no",
    ("q3", "ann"): "no",
    ("q3", "ben"): "no",
    ("q4", "ann"): None,
    ("q4", "ben"): "yes",
}


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("wide.csv", WIDE),
        ("long.csv", LONG),
        ("wide.tsv", WIDE.replace(",", "\t")),
        ("semicolon.csv", WIDE.replace(",", ";")),
        ("bar.txt", LONG.replace(",", "|")),
        ("bom.csv", "\ufeff" + WIDE),
        ("windows.csv", WIDE.replace("\n", "\r\n")),
        ("blank_lines.csv", WIDE.replace("\n", "\n\n")),
        ("spaces.csv", WIDE.replace(",", " , ")),
        ("columns_in_capitals.csv", WIDE.replace("item", "Item-ID")),
        ("quoted.csv", QUOTED),
        ("lines.jsonl", LINES),
        ("array.json", ARRAY),
    ],
)
def test_the_same_ratings_in_every_dress(tmp_path: Path, name: str, text: str) -> None:
    found = read(tmp_path, text, name)
    assert cells(found) == EXPECTED
    (group,) = agreement_of(found.rated[0], Scale())
    # 3 items by two raters, 2 equal: po 2/3; ann yes 2/3, ben yes 1/3: pe 4/9; kappa 2/5.
    kappa = {c.name: c for c in group.coefficients}["cohen_kappa"]
    assert kappa.value == pytest.approx((2 / 3 - 4 / 9) / (1 - 4 / 9))
    assert kappa.n_items == 3


@pytest.mark.parametrize(
    "text",
    [
        "item;a;b\n1;3,5;3.5\n2;-2,0;NA\n3;1;0,5\n4;1;1\n",
        "item;rater;label\n1;a;3,5\n1;b;3.5\n2;a;-2,0\n2;b;NA\n3;a;1\n3;b;0,5\n",
    ],
)
def test_between_semicolons_a_comma_is_a_decimal_one(tmp_path: Path, text: str) -> None:
    found = read(tmp_path, text)
    assert found.rated[0].table.categories == (-2.0, 0.5, 1, 3.5)
    assert cells(found)["1", "a"] == cells(found)["1", "b"] == 3.5
    assert found.remarks == ("decimal commas are read as points: '3,5', '-2,0', '0,5'",)


def test_elsewhere_a_comma_makes_no_number(tmp_path: Path) -> None:
    found = read(tmp_path, "item\ta\tb\n1\t1,2\t1,3\n2\t1,2\t1,2\n")
    assert found.rated[0].table.categories == ("1,2", "1,3")
    assert found.remarks == ()


def test_missing_is_counted_and_never_a_label(tmp_path: Path) -> None:
    found = read(tmp_path, "item,a,b\n1,x,\n2,NA,x\n3,None,null\n4,nan,y\n5,x,N/A\n")
    (rated,) = found.rated
    assert rated.table.categories == ("x", "y")
    assert rated.missing == {"": 1, "NA": 1, "None": 1, "null": 1, "nan": 1, "N/A": 1}


def test_a_declared_label_is_no_missing_value(tmp_path: Path) -> None:
    found = read(tmp_path, "item,a,b\n1,None,None\n2,skip,\n", labels=("None", "skip"))
    assert found.rated[0].table.categories == ("None", "skip")
    assert found.rated[0].missing == {"": 1}


def test_further_missing_texts_add_to_the_usual_ones(tmp_path: Path) -> None:
    """Somebody who names one more would else get empty cells as a label, without a word."""
    text = "item,a,b\n1,?,x\n2,NA,x\n3,,y\n4,x,y\n"
    (rated,) = read(tmp_path, text, missing=("?",)).rated
    assert rated.table.categories == ("x", "y")
    assert rated.missing == {"?": 1, "NA": 1, "": 1}
    (kept,) = read(tmp_path, text, missing=("?",), labels=("NA", "x", "y")).rated
    assert kept.table.categories == ("NA", "x", "y")


def test_numbers_are_numbers_only_when_all_are(tmp_path: Path) -> None:
    text = "item,a,b\n1,1,1.0\n2,10,2\n3,2,\n"
    assert read(tmp_path, text).rated[0].table.categories == (1, 2, 10)
    assert read(tmp_path, text, kind="text").rated[0].table.categories == ("1", "1.0", "10", "2")
    mixed = read(tmp_path, "item,a,b\n1,1,2\n2,2,1\n3,low,2\n")
    assert mixed.rated[0].table.categories == ("1", "2", "low")
    assert "'low'" in mixed.rated[0].remarks[0]
    # What Python would read as a number and no person would write.
    assert read(tmp_path, "item,a,b\n1,1_0,١\n").rated[0].table.categories == ("1_0", "١")


def test_json_keeps_the_kind_of_a_value(tmp_path: Path) -> None:
    rows = [{"item": k, "a": v, "b": v} for k, v in enumerate([True, False, None])]
    found = read(tmp_path, json.dumps(rows), "r.json")
    assert found.rated[0].table.categories == (False, True)
    rows = [{"item": 1, "a": True, "b": 1}]
    with pytest.raises(StatisticsError, match=r"item '1', rater 'b': label 1 is number.*truth"):
        read(tmp_path, json.dumps(rows), "r.json")


def test_questions_and_strata(tmp_path: Path) -> None:
    text = (
        "question,item,domain,a,b\n"
        "tone,1,law,kind,kind\ntone,2,law,kind,rude\ntone,3,tax,rude,rude\n"
        "grade,1,law,1,1\ngrade,2,law,2,2\ngrade,3,tax,2,1\n"
    )
    found = read(tmp_path, text, question="question", by=("domain",))
    tone, grade = found.rated
    assert (tone.question, grade.question) == ("tone", "grade")
    assert tone.table.categories == ("kind", "rude")
    assert grade.table.categories == (1, 2)
    groups = agreement_of(tone, Scale())
    assert [(g.group, g.n_items) for g in groups] == [
        ("all", 3),
        ("domain=law", 2),
        ("domain=tax", 1),
    ]
    by_name = {c.name: c for c in groups[1].coefficients}
    assert by_name["percent_agreement"].value == 0.5
    # Law alone: a kind, kind; b kind, rude. po 1/2, pe 1 * 1/2: kappa 0.
    assert by_name["cohen_kappa"].value == pytest.approx(0.0)
    assert groups[2].labels == ("kind", "rude"), "a stratum keeps the label set of its question"


def test_a_column_plays_one_part(tmp_path: Path) -> None:
    text = "item,worker,ann,label\n1,w1,x,x\n2,w1,y,x\n3,w2,y,y\n"
    found = read(tmp_path, text, by=("worker",))
    assert (found.layout, found.columns["raters"]) == ("wide", ["ann", "label"])
    found = read(tmp_path, text, raters=("ann", "label"))
    assert (found.layout, found.columns["raters"]) == ("wide", ["ann", "label"])
    found = read(tmp_path, text)
    assert (found.layout, found.columns["rater"]) == ("long", "worker")
    found = read(tmp_path, text, label="ann")
    assert (found.columns["item"], found.columns["label"]) == ("item", "ann")


def test_long_strata_follow_the_item(tmp_path: Path) -> None:
    text = "item,rater,label,set\nq2,a,x,s\nq2,b,x,s\nq1,a,x,t\nq1,b,y,t\n"
    (rated,) = read(tmp_path, text, by=("set",)).rated
    assert {s.name: s.table.n_items for s in rated.strata} == {"set=s": 1, "set=t": 1}
    assert cells(read(tmp_path, text))["q1", "b"] == "y"
    with pytest.raises(InputError, match=r"item 'q2' has two values of 'set', 's' and 't'"):
        read(tmp_path, text.replace("q2,b,x,s", "q2,b,x,t"), by=("set",))


@pytest.mark.parametrize(
    ("text", "layout", "sentence"),
    [
        ("", {}, r"ratings\.csv is empty"),
        ("  \n \n", {}, r"is empty"),
        ("item,a,b\n", {}, r"has a header but no row"),
        ("item\nq1\n", {}, r"one column only, 'item'"),
        ("item,a,a\nq1,x,y\n", {}, r"two columns 'a'"),
        ("item,a,b\nq1,x\n", {}, r"row 1 \(begins with 'q1'\) has 2 cells.*3 columns"),
        ("item,a,b\nq1,x,y\nq2,x,y,z\n", {}, r"row 2 \(begins with 'q2'\) has 4 cells"),
        ("item,a,b\nq1,x,x\nq1,x,y\n", {}, r"item 'q1' has two rows, 1 and 2.*'a': 'x' and 'x'"),
        ("item,a,b\n,x,x\nq1,x,y\n", {}, r"row 1 has no 'item'"),
        (WIDE, {"item": "nr"}, r"no column 'nr'; its columns are: 'item', 'ann', 'ben'"),
        (WIDE, {"raters": ("ann", "eve")}, r"no column 'eve'"),
        (WIDE, {"by": ("domain",)}, r"no column 'domain'"),
        (WIDE, {"rater": "ann"}, r"no column looks like the label; name it with --label"),
        (WIDE, {"labels": ("yes", "maybe")}, r"item 'q2', rater 'ben': label 'no' is not among"),
        (WIDE, {"kind": "number"}, r"item 'q1', rater 'ann': label 'yes' is no number"),
        ("item,a,b\nq1,1,2\nq2,7,2\n", {"labels": ("1", "2")},
         r"item 'q2', rater 'a': label 7 is not among the declared labels \[1, 2\]"),
        ("item,a,b\nq1,1,2\nq2,x,2\n", {"kind": "number"},
         r"item 'q2', rater 'a': label 'x' is no number"),
        ("item,a,b\nq1,1,2\nq2,x,2\n", {"labels": ("1", "2")}, r"item 'q2', rater 'a': label 'x'"),
        (LONG + "no,ann,q1\n", {}, r"item 'q1', rater 'ann': rated 2 times \('yes' and 'no'\)"),
        (LONG.replace("ann,q3", ",q3"), {}, r"row 5 has no 'rater'"),
        ("Q,a,b\nq1,x,y\nq2,x,x\nq3,y,y\n", {}, r"column 'Q' holds another value.*--item 'Q'"),
        ("item,id,a,b\nq1,1,2,2\nq2,2,2,3\nq3,3,1,1\n", {},
         r"column 'id' holds another value in every row .*; name the rater columns"),
        ("item,a,b,why\nq1,x,x,it is\nq2,x,y,is not\nq3,y,y,so\n", {}, r"column 'why' holds"),
        (b"item,a,b\nq1,x,y\nq2,caf\xe9,y\n", {}, r"line 3: byte 0xe9 is not UTF-8"),
        ("item,a,b\nq1,x,y\n".encode("utf-16"), {}, r"is UTF-16 text"),
        (b"PK\x03\x04\xff\xfe\x00", {}, r"spreadsheet; save the sheet as CSV"),
    ],
)  # fmt: skip
def test_bad_tables_get_one_sentence(
    tmp_path: Path, text: str | bytes, layout: dict, sentence: str
) -> None:
    with pytest.raises(LabelkitError, match=sentence):
        read(tmp_path, text, **layout)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ('{"item": 1, "a": "x"', r"line 1 is not valid JSON"),
        ('{"item": 1, "a": "x", "b": "x"}\n[1]\n', r"record 2 is no JSON object"),
        ('{"item": 1, "a": "x", "b": ["x"]}\n', r"record 1: 'b' holds a list"),
        ('{"item": 1}\n', r"one column only"),
        ("[]", r"holds no record"),
        ("[1, 2", r"not valid JSON"),
    ],
)
def test_bad_json_gets_one_sentence(tmp_path: Path, text: str, sentence: str) -> None:
    with pytest.raises(FormatError, match=sentence):
        read(tmp_path, text, "ratings.jsonl")


def test_files_that_are_none(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"there is no file .*gone\.csv"):
        read_ratings(tmp_path / "gone.csv")
    with pytest.raises(InputError, match=r"is a folder"):
        read_ratings(tmp_path)


def test_scores_without_a_label_set_are_refused_before_memory_is(tmp_path: Path) -> None:
    lines = "".join(f"q{k},{k / 7:.6f},{k / 9:.6f}\n" for k in range(900))
    with pytest.raises(InputError, match=r"different labels .* are no label set"):
        read(tmp_path, "item,a,b\n" + lines, raters=("a", "b"))
    with pytest.raises(InputError, match=r"holds another value in every row"):
        read(tmp_path, "item,a,b\n" + lines)


def test_hostile_cells_are_labels_like_any_other(tmp_path: Path) -> None:
    text = "item,a,b\n1,[bold]{{x}}\x00,\u202eyes\n2,=cmd()|x,\u202eyes\n"
    found = read(tmp_path, text)
    assert set(found.rated[0].table.categories) == {"[bold]{{x}}\x00", "\u202eyes", "=cmd()|x"}
    long_cell = "x" * 200_000
    assert read(tmp_path, f"item,a,b\n1,{long_cell},y\n").rated[0].table.q == 2


def test_a_column_nobody_filled_is_named(tmp_path: Path) -> None:
    (rated,) = read(tmp_path, "item,a,b,note\n1,x,y,\n2,y,y,\n").rated
    assert rated.remarks == ("without any rating: note",)
    (group,) = agreement_of(rated, Scale())
    assert group.n_raters == 2


def test_a_column_that_may_be_no_rater_is_remarked(tmp_path: Path) -> None:
    text = "item,domain,a,b\n1,law,x,x\n2,law,y,x\n3,tax,y,y\n"
    found = read(tmp_path, text)
    assert found.remarks[0].startswith("'domain' shares no label with any other column")
    assert len(found.remarks) == 1
    assert read(tmp_path, text, raters=("domain", "a")).remarks == ()
    assert read(tmp_path, text, by=("domain",)).remarks == ()


def test_nothing_rated_is_undefined_and_no_error(tmp_path: Path) -> None:
    (rated,) = read(tmp_path, "item,a,b\n1,,\n2,NA,\n").rated
    (group,) = agreement_of(rated, Scale())
    assert all(isinstance(c.value, Undefined) for c in group.coefficients)
    assert vote_tally(votes_of(rated)) == {"too_few": 2}


def test_votes_report_ties_and_items_without_ratings(tmp_path: Path) -> None:
    text = "item,a,b,c,d\n1,x,x,x,y\n2,x,x,y,y\n3,,,,\n4,y,,,\n"
    one, two, three, four = votes_of(read(tmp_path, text).rated[0])
    assert (one.majority, one.outcome, one.n_votes, one.share) == ("x", "majority", 4, 0.75)
    assert (two.majority, two.outcome, two.tied, two.share) == (None, "tie", ("x", "y"), 0.5)
    assert (three.majority, three.outcome, three.dawid_skene) == (None, "too_few", None)
    assert (four.majority, four.n_votes) == ("y", 1)
    assert one.dawid_skene == "x"


def test_order_of_text_labels_is_asked_for(tmp_path: Path) -> None:
    text = "item,a,b\n1,low,mid\n2,high,high\n3,mid,mid\n"
    (rated,) = read(tmp_path, text).rated
    for scale in (Scale(level="ordinal"), Scale(weights="linear")):
        with pytest.raises(InputError, match=r"have no order.*--labels"):
            agreement_of(rated, scale)
    (rated,) = read(tmp_path, text, labels=("low", "mid", "high")).rated
    (group,) = agreement_of(rated, Scale(level="ordinal", weights="linear"))
    names = [c.name for c in group.coefficients]
    assert names[-2:] == ["krippendorff_alpha_ordinal", "krippendorff_alpha_weighted"]
    with pytest.raises(LabelkitError, match="interval alpha needs numeric labels"):
        agreement_of(rated, Scale(level="interval"))


LABELS = st.sampled_from(["a", "b", "c", None])


@settings(max_examples=40, deadline=None)
@given(st.lists(st.lists(LABELS, min_size=3, max_size=3), min_size=1, max_size=25), st.randoms())
def test_wide_and_long_hold_the_same_ratings(
    tmp_path_factory: pytest.TempPathFactory, rows: list[list[str | None]], random
) -> None:
    folder = tmp_path_factory.mktemp("both")
    wide = "item,r1,r2,r3\n" + "".join(
        f"i{k}," + ",".join(v or "" for v in row) + "\n" for k, row in enumerate(rows)
    )
    triples = [(f"i{k}", f"r{j + 1}", v) for k, row in enumerate(rows) for j, v in enumerate(row)]
    random.shuffle(triples)
    long = "item,rater,label\n" + "".join(f"{i},{r},{v or ''}\n" for i, r, v in triples)
    first, second = read(folder, wide, "w.csv"), read(folder, long, "l.csv")
    assert cells(first) == cells(second)
    of_file = fleiss_kappa(second.rated[0].table)
    assert of_file == fleiss_kappa(from_triples(triples)) or np.isclose(
        of_file.value,
        fleiss_kappa(from_triples(triples)).value,  # type: ignore[arg-type]
    )
    pair = cohen_kappa(first.rated[0].table.columns([0, 1]))
    direct = cohen_kappa(
        from_rows([row[:2] for row in rows], first.rated[0].table.categories or ["a"])
    )
    if not isinstance(direct.value, Undefined):
        assert pair.value == pytest.approx(direct.value)


def test_a_subset_is_compared_within_its_own_labels() -> None:
    def label(name: str, *subsets: str) -> LabelDefinition:
        return LabelDefinition(name=name, title=name, key=name, include=name, subsets=subsets)

    asked = Question(
        id="q",
        type="choice",
        text="?",
        labels=(label("a"), label("b", "required"), label("c", "control")),
    )
    votes = [
        Votes(name=name, kind="judge", digest=name, codes=np.array(codes, dtype=np.int32))
        for name, codes in (("one", [0, 1, 0, 2, FAILED]), ("two", [0, 1, 1, 2, 2]))
    ]
    required = np.array([True, True, True, False, False])
    strata = [("subset=required", required, "required"), ("subset=control", ~required, "control")]
    rated = rubric_ratings.rated_votes(asked, votes, strata)
    assert rated.table.categories == ("a", "b", "c")
    assert [s.table.categories for s in rated.strata] == [("a", "b"), ("a", "c")]
    assert [(s.table.n_items, s.table.n_pairable) for s in rated.strata] == [(3, 3), (2, 1)]
    assert rated.missing == {"failed": 1}
