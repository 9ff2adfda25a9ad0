"""Measurements of the world and of what stands on it; each is run as ``python -m benchmarks.<name>``."""
