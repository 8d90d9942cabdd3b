"""Reaching models: one OpenAI-compatible async client; engines only bring a URL into being."""
