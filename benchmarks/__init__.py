"""Measurements of the world, of the cluster and of the studies; each is run as ``python -m benchmarks.<name>``."""
