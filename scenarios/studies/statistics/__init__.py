"""Figures about figures: exact percentiles, and what can be said about two strategies run on the same
seeds."""
