"""Turning tasks into traces: scripted environments and protocols."""
