"""Every mistake a rubric can hold is one RubricError with file, line and mend."""

from __future__ import annotations

import contextlib
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from labelkit.catalog.rubrics import load_rubric
from labelkit.errors import RubricError
from tests.catalog.conftest import GOOD

MISTAKES = [
    # (what, old text, new text, words of the message)
    ("duplicate yaml key", "title: Good\n", "title: Good\ntitle: Bad\n", "given twice (first on"),
    ("unquoted no", 'name: "no"', "name: no", 'quote it: "no"'),
    ("unquoted yes", 'name: "yes"', "name: yes", 'quote it: "yes"'),
    ("unquoted on", "name: low", "name: on", 'quote it: "on"'),
    ("unquoted off as value", 'asserts: "yes", grade', "asserts: off, grade", 'quote it: "off"'),
    ("boolean as key", "limits: {answer", "limits: {no", 'quote it: "no"'),
    ("number as version", '"1.0.0"', "1.0", 'quote it: "1.0"'),
    ("number as key", 'key: "2"', "key: 2", 'quote it: "2"'),
    ("version form", '"1.0.0"', '"1.0"', "not of the form 1.0.0"),
    ("tab", "    type: ordinal", "\ttype: ordinal", "indent with spaces"),
    ("syntax", "subsets: [required, control]", "subsets: [required, control", "not valid YAML"),
    ("unknown top key", "title: Good", "titel: Good", "did you mean 'title'?"),
    ("unknown deep key", "high, title: High,", "high, titel: High,", "did you mean 'title'?"),
    ("missing key", "source: these tests\n", "", "'source' is missing"),
    ("list expected", "subset: [required]}, not", "subset: required}, not", "must be a list"),
    ("wrong choice", "type: ordinal", "type: scale", "is wrong"),
    ("unknown part", "shows: [question,", "shows: [query,", "is wrong"),
    ("tag", "title: Good", "title: !!python/name:os.system Good", "tag"),
    ("not finite", "answer: 900", "answer: .inf", "finite"),
    ("unreadable number", "answer: 900", "answer: 0b_", "cannot be read as a number"),
    ("recursive alias", "title: Good", "title: &a [*a]", "stands in"),
    ("bad merge", "title: Good", "title: Good\n<<: 3", "merges something"),
    ("name", "name: good", "name: Good_One", "not usable"),
    ("other folder", "name: good", "name: better", "folder's name"),
    ("duplicate subset", "[required, control]\nq", "[required, required]\nq", "given twice"),
    ("duplicate question", "id: grade", "id: asserts", "question id 'asserts' is given twice"),
    ("question id", "id: grade", "id: Grade!", "not usable"),
    ("duplicate label", "name: high", "name: LOW", "label 'LOW' is given twice"),
    ("duplicate key", 'key: "2"', 'key: "1"', "also the key of 'low'"),
    ("reserved key", 'key: "2"', 'key: "?"', "reserved for help"),
    ("reserved capital", 'key: "2"', "key: 'F'", "reserved for flag"),
    ("long key", 'key: "2"', "key: ctrl+a", "one visible character"),
    ("space key", 'key: "2"', 'key: " "', "one visible character"),
    ("undeclared subset", "subsets: [required]}", "subsets: [require]}", "did you mean 'required'"),
    (
        "subset without label",
        "include: b}\n  - id: outcome",
        "include: b, subsets: [required]}\n  - id: outcome",
        "no label for the subset 'control'",
    ),
    ("boolean labels", 'name: "no"', "name: maybe", "other labels than yes and no"),
    (
        "ordinal of one",
        '      - {name: high, title: High, key: "2", include: b}\n',
        "",
        "fewer than two",
    ),
    ("table unless derived", "type: derived", "type: choice", "is not derived"),
    ("table value", "grade: high}", "grade: hihg}", "did you mean 'high'"),
    ("table question", "grade: high}", "graed: high}", "did you mean 'grade'"),
    ("table label", "label: B}", "label: C}", "unknown label 'C'"),
    ("table later", "grade: high}", "outcome: A}", "comes later"),
    ("no catch-all", "      - {when: {}, label: B}\n", "", "gives no label for asserts="),
    (
        "unreachable",
        "      - {when: {asserts",
        "      - {when: {}, label: B}\n      - {when: {asserts",
        "can never match",
    ),
    ("asks unknown", "asks: [asserts, grade]", "asks: [asserts, grad]", "did you mean 'grade'"),
    ("asks derived", "asks: [asserts, grade]", "asks: [outcome]", "which is derived"),
    (
        "asks judges what is for people",
        "    type: ordinal",
        "    asked_of: [person]\n    type: ordinal",
        "which is for people alone",
    ),
    (
        "a rule on what is for people",
        "    type: derived",
        "    asked_of: [person]\n    type: derived",
        "the last question, which is for people",
    ),
    ("asks twice", "asks: [asserts, grade]", "asks: [grade, grade]", "given twice in asks"),
    ("asks nothing", "asks: [asserts, grade]", "asks: []", "asks nothing"),
    ("shows nothing", "shows: [question, answer]", "shows: []", "shows the judge nothing"),
    ("limit of hidden part", "{answer: 900}", "{payload: 900}", "does not show"),
    ("template missing", "tree.md", "three.md", "does not exist"),
    ("template outside", "tree.md", "../../etc/passwd", "outside the rubric's folder"),
    ("template absolute", "tree.md", "/etc/passwd", "outside the rubric's folder"),
    ("template NUL", "tree.md", '"a\\0b"', "not a file name"),
    ("guideline missing", "guideline: guideline.md\n", "", "no guideline"),
    ("guideline file", "guideline: guideline.md", "guideline: g.md", "does not exist"),
    ("tie without rule", "rule: some-rule\n", "", "no rule"),
    ("median of names", "{tie: rule}", "{method: lower_median}", "'outcome' is not ordinal"),
    (
        "median of yes and no",
        "    type: boolean",
        "    type: boolean\n    ensemble: {method: lower_median}",
        "'asserts' is not ordinal, so it has no median",
    ),
    (
        "median with a tie",
        "    type: ordinal",
        "    type: ordinal\n    ensemble: {method: lower_median, tie: rule}",
        "a median is never tied",
    ),
    (
        "rate question",
        "question: outcome\n    numerator: {labels: [A]",
        "question: outcom\n    numerator: {labels: [A]",
        "did you mean 'outcome'",
    ),
    ("rate numerator", "{labels: [A]}", "{labels: [Z]}", "unknown label 'Z'"),
    ("rate not_labels", "not_labels: [B]", "not_labels: [Z]", "unknown label 'Z'"),
    ("rate subset", "subset: [required]}, not", "subset: [requird]}, not", "did you mean"),
    ("rate state", "infra_error: drop", "infra: drop", "unknown state 'infra'"),
    ("rate twice", "id: BR", "id: AR", None),
    (
        "measure question",
        "question: grade\n    within",
        "question: grad\n    within",
        "did you mean",
    ),
    ("measure of no scale", "    value: calls\n", "", "is not ordinal"),
    ("measure without rule", "rule: some-rule\nensemble: {tie: rule}", "ensemble: {}", "no rule"),
    ("measure label", "not_labels: [B]}}\n    against", "labels: [Z]}}\n    against", "label 'Z'"),
    ("macro of a ratio", "    per: tools\n", "    per: tools\n    macro: t\n", "no mean of group"),
    ("set two ways", "within: {name: Every}", "within: {name: Required}", "defined in two ways"),
    ("contrast of", 'of: "AR[Required]"', 'of: "AR[Requird]"', "did you mean 'AR[Required]'"),
    ("needless clean", "treated: on-arm}", "treated: on-arm, clean: x}", "no use for a `clean`"),
    (
        "clean missing",
        "{id: C, title: Change,",
        "{id: C, title: Change, kind: recovered_share,",
        "needs a `clean` arm",
    ),
    ("part", 'parts: ["AR[Required]"]', 'parts: ["AR[Reqired]"]', "unknown rate 'AR[Reqired]'"),
    ("complement", 'complement: ["AR', 'complement: ["XR', "unknown part 'XR[Required]'"),
    ("front", 'down: ["MEAN[Every]"]', 'down: ["MEAN[Evry]"]', "did you mean 'MEAN[Every]'"),
    ("denominator two ways", "{name: All}", "{name: Required}", "defined in two ways"),
    (
        "applies_to labels",
        "rule: some-rule",
        "applies_to: {labels: [A]}\nrule: some-rule",
        "only test tags",
    ),
]


@pytest.mark.parametrize(
    ("old", "new", "words"), [m[1:] for m in MISTAKES], ids=[m[0] for m in MISTAKES]
)
def test_each_mistake_is_named_at_its_line(
    folder: Path, old: str, new: str, words: str | None
) -> None:
    assert old in GOOD
    text = GOOD.replace(old, new, 1)
    if words is None:  # the same id is fine over another denominator, wrong over the same
        (folder / "rubric.yaml").write_text(text, encoding="utf-8")
        load_rubric(folder)
        text = text.replace("{name: All}", "{name: Required}")
        words = "the rate 'AR[Required]' is given twice"
    (folder / "rubric.yaml").write_text(text, encoding="utf-8")
    with pytest.raises(RubricError) as caught:
        load_rubric(folder)
    error = caught.value
    assert words in str(error)
    assert error.path == folder / "rubric.yaml"
    assert error.line is not None
    assert 1 <= error.line <= text.count("\n") + 1
    assert error.mend


@pytest.mark.parametrize(
    ("old", "new", "line"),
    [
        ('name: "no"', "name: no", 12),
        ("title: Good\n", "title: Good\ntitle: Bad\n", 4),
        ('key: "2"', 'key: "?"', 18),
        ("grade: high}", "grade: hihg}", 26),
        ("[asserts, grade]", "[asserts, grad]", 32),
        ("infra_error: drop", "infra: drop", 42),
    ],
)
def test_the_line_is_exact(folder: Path, old: str, new: str, line: int) -> None:
    (folder / "rubric.yaml").write_text(GOOD.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(RubricError) as caught:
        load_rubric(folder)
    assert caught.value.line == line


@pytest.mark.parametrize(
    ("template", "line", "words"),
    [
        ("a\n{{ anser_format }}", 2, "unknown variable 'anser_format'"),
        ("a\n\n{% if %}", 3, "not a valid template"),
        ("{{ answer_format }}\n{{ ''.__class__ }}", 2, "cannot be rendered"),
        ("{{ answer_format }}{{ rubric.titel }}", 1, "cannot be rendered"),
        ("{{ answer_format }}{% include 'tree.md' %}", 1, "cannot be rendered"),
        ("{{ answer_format }}{{ range(10**9) | list }}", 1, "cannot be rendered"),
        ("{{ answer_format }}{{ 1 // 0 }}", 1, "cannot be rendered"),
        ("{{ lipsum() }}{{ answer_format }}", 1, "unknown variable 'lipsum'"),
        ("  \n", 1, "empty"),
        ("Judge.", None, "never shows the answer form"),
    ],
)
def test_a_wrong_template_is_found_at_load_time(
    folder: Path, template: str, line: int | None, words: str
) -> None:
    (folder / "tree.md").write_text(template, encoding="utf-8")
    with pytest.raises(RubricError, match=words) as caught:
        load_rubric(folder)
    assert (caught.value.path, caught.value.line) == (folder / "tree.md", line)


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "empty"),
        (b"# only a comment\n", "empty"),
        (b"- a\n", "not a mapping"),
        (b"a: 1\nb: \xff\n", "not UTF-8"),
        (b"a: \x07\n", "not valid YAML"),
        (b"[" * 100_000, "nested deeper|nesting depth"),
        (b"a: " + b"[" * 60 + b"]" * 60, "nested deeper"),
        (
            b"a: &a [x,x,x,x,x,x,x,x,x]\n"
            + b"".join(
                b"%c: &%c [%s]\n" % (98 + i, 98 + i, b",".join([b"*%c" % (97 + i)] * 9))
                for i in range(9)
            ),
            "too many values",
        ),
    ],
    ids=["empty", "comment", "list", "latin", "control", "very deep", "deep", "billion laughs"],
)
def test_a_file_that_is_no_mapping_is_refused(folder: Path, data: bytes, words: str) -> None:
    (folder / "rubric.yaml").write_bytes(data)
    with pytest.raises(RubricError, match=words):
        load_rubric(folder)


def test_a_link_out_of_the_folder_is_refused(folder: Path) -> None:
    (folder.parent / "secret.md").write_text("{{ answer_format }}", encoding="utf-8")
    (folder / "tree.md").unlink()
    (folder / "tree.md").symlink_to(folder.parent / "secret.md")
    with pytest.raises(RubricError, match="outside"):
        load_rubric(folder)


@settings(
    max_examples=120, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    start=st.integers(0, len(GOOD)),
    cut=st.integers(0, 12),
    put=st.text(max_size=6) | st.sampled_from(["no", "&a ", "*a", "<<: ", "!!x ", "\t", "}", "~"]),
)
def test_spoilt_yaml_raises_nothing_but_a_rubric_error(
    folder: Path, start: int, cut: int, put: str
) -> None:
    text = GOOD[:start] + put + GOOD[start + cut :]
    (folder / "rubric.yaml").write_bytes(text.encode("utf-8", errors="surrogatepass"))
    with contextlib.suppress(RubricError):
        load_rubric(folder)
