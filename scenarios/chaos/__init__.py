"""Scenarios drawn from a seed: the meaning of ``[[chaos]]`` blocks."""
