"""Campaigns: many seeds of a file with ``[[chaos]]`` blocks."""
