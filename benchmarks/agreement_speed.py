"""How fast are the agreement statistics, as ratios to other packages within one run.

    python benchmarks/agreement_speed.py [--items 1000000] [--irrcac PYTHON]

Prints CPU seconds and ratios; a ratio holds on any machine, the seconds only on the one that
printed them. ``--irrcac`` names the python of an environment that has ``irrCAC`` installed (it is
no dependency of labelkit); without it that comparison is left out and said to be.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import krippendorff
import numpy as np

from labelkit.stats import agreement, ratings
from labelkit.stats.agreement.replicates import bootstrap_agreement

LABELS = ("correct", "partly", "wrong", "skipped", "invented", "other")

IRRCAC = """
import sys, time, json
import numpy as np, pandas as pd
from irrCAC.raw import CAC
n, seed = int(sys.argv[1]), int(sys.argv[2])
labels = np.array({labels!r}, dtype=object)
rng = np.random.default_rng(seed)
truth = rng.choice(6, size=n, p=[.6, .15, .1, .08, .05, .02])
noise = rng.random((n, 3)) < 0.2
codes = np.where(noise, rng.integers(0, 6, (n, 3)), truth[:, None])
frame = pd.DataFrame(labels[codes])
start = time.process_time()
est = CAC(frame, digits=9).gwet()["est"]
print(json.dumps([time.process_time() - start, est["coefficient_value"], est["se"]]))
"""


def cpu(work: Callable[[], Any], repeats: int = 1) -> tuple[float, Any]:
    """Return the least CPU seconds of a few runs, and the last result."""
    best, result = float("inf"), None
    for _ in range(repeats):
        start = time.process_time()
        result = work()
        best = min(best, time.process_time() - start)
    return best, result


def draw(n: int, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    truth = rng.choice(6, size=n, p=[0.6, 0.15, 0.1, 0.08, 0.05, 0.02])
    noise = rng.random((n, 3)) < 0.2
    return np.where(noise, rng.integers(0, 6, (n, 3)), truth[:, None])


def peak_mb() -> float:
    # Not ru_maxrss: a child would report the peak of the process that started it.
    status = Path("/proc/self/status").read_text(encoding="utf-8")
    return int(status.split("VmHWM:")[1].split()[0]) / 1024


def memory(n: int, kind: str) -> str:
    """Peak memory of a fresh process that makes the table and all coefficients."""
    code = (
        f"import sys; sys.path.insert(0, {str(Path(__file__).parent)!r})\n"
        "import agreement_speed as b, numpy as np\n"
        f"codes = b.draw({n}, 1).astype(np.int8)\n"
        "before = b.peak_mb()\n"
        f"values = codes if {kind!r} == 'codes' else np.array(b.LABELS)[codes]\n"
        "held = b.peak_mb()\n"
        f"make = b.ratings.from_codes if {kind!r} == 'codes' else b.ratings.from_rows\n"
        "b.agreement.agreement_table(make(values, b.LABELS))\n"
        "print(round(before), round(held), round(b.peak_mb()))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout.strip()


def large(n: int, irrcac: str | None) -> None:
    codes = draw(n, 1)
    text = np.array(LABELS)[codes]
    objects = np.array(LABELS, dtype=object)[codes]
    numeric = codes.T.astype(float)
    peer, alpha = cpu(
        lambda: krippendorff.alpha(reliability_data=numeric, level_of_measurement="nominal"), 2
    )
    peer_text, _ = cpu(
        lambda: krippendorff.alpha(reliability_data=text.T, level_of_measurement="nominal")
    )
    print(f"{n:,} items x 3 raters x 6 labels")
    print(
        f"  krippendorff, nominal alpha alone:  {peer:.2f} s on numbers, {peer_text:.2f} s on text"
    )
    for name, work in (
        ("codes", lambda: ratings.from_codes(codes, LABELS)),
        ("text array", lambda: ratings.from_rows(text, LABELS)),
        ("text array, labels not declared", lambda: ratings.from_rows(text)),
        ("python strings", lambda: ratings.from_rows(objects, LABELS)),
    ):
        spent, found = cpu(lambda work=work: agreement.agreement_table(work()), 2)
        ours = {c.name: c.value for c in found}["krippendorff_alpha"]
        assert abs(ours - alpha) < 1e-9, (ours, alpha)
        print(
            f"  labelkit, {len(found)} coefficients, {name}:  {spent:.2f} s = {spent / peer:.2f} x"
        )
    ac1, found = cpu(lambda: agreement.gwet_ac(ratings.from_rows(objects, LABELS)), 2)
    if irrcac:
        script = IRRCAC.format(labels=LABELS)
        done = subprocess.run(
            [irrcac, "-c", script, str(n), "1"], capture_output=True, text=True, check=True
        )
        spent, value, se = json.loads(done.stdout)
        assert abs(value - found.value) < 1e-6, (value, found.value)
        assert abs(se - found.se) < 1e-6, (se, found.se)
        print(
            f"  AC1 with se from python strings:  {ac1:.2f} s, irrCAC {spent:.2f} s: "
            f"{spent / ac1:.0f} x faster"
        )
    else:
        print(f"  AC1 with se from python strings:  {ac1:.2f} s (irrCAC not given)")
    for kind in ("codes", "text"):
        before, held, peak = memory(n, kind).split()
        print(f"  memory, {kind}: {before} MB before, {held} MB with the input, peak {peak} MB")


def small() -> None:
    table = ratings.from_codes(draw(300, 2), LABELS)
    for name in ("fleiss_kappa", "gwet_ac", "krippendorff_alpha", "conger_kappa"):
        spent, found = cpu(lambda name=name: bootstrap_agreement(table, name, replicates=10_000))
        print(
            f"  10,000 replicates, 300 items x 3 raters, {name}:  {spent:.2f} s, se {found.se:.4f}"
        )
    pair = table.columns([0, 1])
    spent, _ = cpu(lambda: bootstrap_agreement(pair, "cohen_kappa", replicates=10_000))
    print(f"  10,000 replicates, 300 items x 2 raters, cohen_kappa:  {spent:.2f} s")
    rng = np.random.default_rng(3)
    truth = rng.integers(0, 6, 2000)
    noise = rng.random((2000, 5)) < 0.3
    codes = np.where(noise, rng.integers(0, 6, (2000, 5)), truth[:, None])
    spent, _ = cpu(lambda: agreement.summarise(ratings.from_codes(codes, LABELS)), 5)
    print(f"  all live figures, 2,000 items x 5 raters:  {1000 * spent:.1f} ms")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--items", type=int, default=1_000_000)
    parser.add_argument("--irrcac", help="python of an environment with irrCAC")
    arguments = parser.parse_args()
    large(arguments.items, arguments.irrcac)
    small()


if __name__ == "__main__":
    main()
