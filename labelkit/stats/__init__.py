"""Numbers people cite: pure functions over arrays and label triples; no store, no pages."""
