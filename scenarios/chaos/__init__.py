"""Scenarios drawn from a seed: what ``[[chaos]]`` blocks mean."""
