"""What the package promises beside its numbers: quick imports, and warnings in the results."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from labelkit.stats import agreement, ratings
from labelkit.stats.agreement.replicates import bootstrap_agreement


def test_a_report_does_not_wait_for_scipy() -> None:
    code = (
        "import sys, labelkit.stats.agreement, labelkit.stats.vote, labelkit.stats.clusters\n"
        "import labelkit.stats.intervals, labelkit.stats.comparison, labelkit.stats.missingness\n"
        "slow = {'scipy', 'statsmodels', 'sklearn', 'pandas'}\n"
        "print(sorted(slow & {name.split('.')[0] for name in sys.modules}))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_few_disagreements_and_rare_labels_are_flagged() -> None:
    # 4 disagreements; 10 items free of the commonest label.
    table = ratings.from_contingency([[86, 2], [2, 10]], ["ok", "bad"])
    assert set(agreement.cohen_kappa(table).flags) == {"few_disagreements", "few_rare_labels"}
    assert set(agreement.fleiss_kappa(table).flags) == {"few_disagreements", "few_rare_labels"}
    # AC1's chance agreement hardly moves with the shares: only the disagreements count.
    assert agreement.gwet_ac(table).flags == ("few_disagreements",)
    rich = ratings.from_contingency([[60, 6], [6, 28]], ["ok", "bad"])
    for name in ("cohen_kappa", "fleiss_kappa", "gwet_ac", "krippendorff_alpha"):
        assert agreement.COEFFICIENTS[name].compute(rich).flags == ()


@pytest.mark.parametrize("name", ["cohen_kappa", "fleiss_kappa"])
def test_two_forms_of_the_flags_agree(name: str) -> None:
    rng = np.random.default_rng(0)
    for p in (0.02, 0.1, 0.5):
        truth = rng.random(100) < p
        codes = (truth[:, None] ^ (rng.random((100, 2)) < 0.05)).astype(int)
        table = ratings.from_codes(codes, ["no", "yes"])
        wanted = set(agreement.fleiss_kappa(table).flags)
        assert set(agreement.COEFFICIENTS[name].compute(table).flags) == wanted
        assert wanted <= set(bootstrap_agreement(table, name, replicates=50).flags) | {
            "zero_width_interval"
        }


def test_undeclared_labels_are_flagged_where_their_number_matters() -> None:
    table = ratings.from_rows([["a", "b"], ["a", "a"], ["b", "b"]])
    assert "labels_not_declared" in agreement.gwet_ac(table).flags
    assert "labels_not_declared" not in agreement.fleiss_kappa(table).flags
