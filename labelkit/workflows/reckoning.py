"""What a run has used so far, in one line beside its progress bar."""

from __future__ import annotations

from labelkit.models.ledger import Ledger


def ledger_line(ledger: Ledger) -> str:
    """Tokens, cost and failures in one line; what is unknown is called unknown."""
    sums = ledger.snapshot()
    parts = [f"{sums['attempts']} requests"]
    if sums["prompt_tokens"] is not None:
        parts.append(f"{sums['prompt_tokens'] + (sums['completion_tokens'] or 0):,} tokens")
    elif ledger.replies:
        parts.append("tokens unknown")
    if ledger.replies:
        cost = sums["cost"]
        parts.append("cost unknown" if cost is None else f"{cost:.4f} {sums['currency']}")
    parts += [f"{count} {kind}" for kind, count in sums["failures"].items()]
    return ", ".join(parts)
