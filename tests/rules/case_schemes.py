"""How the labelling traps of each scheme are put to labelkit: one adapter per scheme.

A new scheme is one adapter in a file of its own and one line in ``SCHEMES``. An adapter turns a
case into a task and a trace, runs the scheme's rule under the given policy and says what came out
in the case's own words.
"""

from __future__ import annotations

from labelkit.rules.registry import classifier
from tests.rules.case_types import Adapter, Case, Policy, Said
from tests.rules.cases_apicall import apicall
from tests.rules.cases_fabrication import fabrication
from tests.rules.cases_feasibility import feasibility
from tests.rules.cases_hazard import hazard
from tests.rules.cases_react import react
from tests.rules.rows import RUBRIC, task_of_case, trace_of_case


def toolfail(case: Case, policy: Policy) -> Said:
    """The tool-failure rule."""
    rubric = RUBRIC.model_copy(update={"rule_policy": dict(policy)})
    trace = trace_of_case(case)
    ruling = classifier("tool_failure")(rubric, trace, task_of_case(case))
    # An endpoint failure is a state of the row; the rule must keep its hands off it.
    dead = not trace.state.labelled and ruling.abstained
    return Said("infra_error" if dead else ruling.label, ruling.flags, ruling.reason)


SCHEMES: dict[str, Adapter] = {
    "apicall": apicall,
    "fabrication": fabrication,
    "feasibility": feasibility,
    "hazard": hazard,
    "react_parse": react,
    "toolfail": toolfail,
}
