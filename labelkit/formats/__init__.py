"""Readers of public trace and task formats, one file each; nothing is dropped silently."""
