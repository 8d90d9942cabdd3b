"""The trace store (SQLite, or PostgreSQL by URL): content-addressed, append-only, idempotent."""
