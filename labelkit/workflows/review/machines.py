"""What rules, judges and their ensemble said about the items of a sample."""

from __future__ import annotations

from dataclasses import dataclass

from labelkit.domain.rates import Predicate
from labelkit.store import Store
from labelkit.workflows.columns import read_rows, read_votes
from labelkit.workflows.ensemble import combine
from labelkit.workflows.review.reading import PeopleLabels
from labelkit.workflows.rows import Codes, Rows, RuleFacts, Votes, facts_of


@dataclass(frozen=True, eq=False)
class Machines:
    """Rules and judges over the items of a sample, in the items' order.

    Args:
        votes: one column per rule or judge; of several identities of a name the last registered.
        ensemble: the ensemble's codes; all unlabelled where nobody labelled.
        rows: tags of the items.
        facts: what the rule recorded.
        remarks: identities that were left out.
    """

    votes: tuple[Votes, ...]
    ensemble: Codes
    rows: Rows
    facts: RuleFacts
    remarks: tuple[str, ...]


def read_machines(store: Store, people: PeopleLabels) -> Machines:
    """Return the labels of rules and judges for the items and question of a sample."""
    key = people.sample.key
    # The sample is frozen: an item stays in it, whatever tags its task has by now.
    everything = people.rubric.model_copy(update={"applies_to": Predicate()})
    rows, ids = read_rows(store, everything, (), sample=key)
    found, remarks = read_votes(store, people.rubric, people.question, ids, sample=key)
    votes = tuple(column for column in found if column.kind != "person")
    policy = people.rubric.ensemble_of(people.question)
    ensemble = combine(policy, votes, len(people.labels), rows.infra).codes
    return Machines(votes, ensemble, rows, facts_of(votes, len(rows)), tuple(remarks))
