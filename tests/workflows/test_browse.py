"""Looking through a store without a page."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from labelkit.catalog.places import app_folder
from labelkit.store import Store
from labelkit.store.labels import commit_labels
from labelkit.workflows.browse import Browser, Fault, Filters
from tests.app.stores import JUDGE, RULE, Filled, fill, label


@pytest.fixture
def filled(tmp_path: Path) -> Filled:
    return fill(tmp_path)


@pytest.fixture
def opened(filled: Filled) -> Iterator[Browser]:
    browser = Browser.open(filled.url)
    yield browser
    browser.close()


def test_a_page_too_far_is_the_last_one(opened: Browser) -> None:
    (scheme,) = opened.schemes()
    far = opened.find(scheme, Filters(), page=99)
    assert (far.page, far.pages, far.total, len(far.lines)) == (0, 1, 5, 5)
    assert opened.find(scheme, Filters(), page=-3).page == 0


def test_filters_that_match_nothing_give_an_empty_page(opened: Browser) -> None:
    (scheme,) = opened.schemes()
    found = opened.find(scheme, Filters(models=("nobody",)))
    assert (found.lines, found.total, found.pages) == ((), 0, 1)


def test_a_rater_without_its_label_does_not_filter(opened: Browser) -> None:
    (scheme,) = opened.schemes()
    assert opened.find(scheme, Filters(rater=RULE.name)).total == 5
    assert opened.find(scheme, Filters(rater=RULE.name, code=1)).total == 1


def test_an_unknown_rater_is_named_with_the_known_ones(opened: Browser) -> None:
    (scheme,) = opened.schemes()
    with pytest.raises(Fault, match=f"'who'.*{JUDGE.name}"):
        opened.find(scheme, Filters(rater="who", code=0))


def test_without_a_scheme_traces_are_listed_and_nothing_disagrees(opened: Browser) -> None:
    assert opened.find(None, Filters()).total == 5
    assert opened.find(None, Filters(disagreement=True)).total == 0


def test_neighbours_follow_the_filters(opened: Browser, filled: Filled) -> None:
    (scheme,) = opened.schemes()
    first, _, third = (trace.digest for trace in filled.traces[:3])
    near = opened.neighbours(scheme, Filters(states=("ok",)), third)
    assert (near.place, near.total, near.after) == (2, 4, filled.attack.digest)
    assert opened.neighbours(scheme, Filters(models=("small",)), first).place is None


def test_a_new_label_changes_list_and_report(opened: Browser, filled: Filled) -> None:
    (scheme,) = opened.schemes()
    assert opened.report(scheme) is opened.report(scheme)
    before = opened.report(scheme).rates[0]
    third = filled.traces[2]
    with Store.open(filled.url) as store:
        commit_labels(store, [label(third, RULE, "rude", version=1)])
    assert opened.find(scheme, Filters()).lines[2].labels == ("rude", "rude", "(failed)")
    assert opened.report(scheme).rates[0].hits == before.hits + 1


def test_the_pages_are_found_in_the_repository() -> None:
    assert (app_folder() / "serve.py").is_file()
