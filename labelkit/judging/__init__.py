"""LLM judges driven by a rubric object; no particular rubric is known here."""
