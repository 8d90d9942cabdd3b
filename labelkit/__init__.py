"""labelkit: from agent traces to validated labels."""
