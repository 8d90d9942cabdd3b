"""Frozen exports: written from a store, recomputed from their files alone, compared by version."""
