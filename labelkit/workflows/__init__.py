"""The verbs: one implementation for command line, notebook and app."""
