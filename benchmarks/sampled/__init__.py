"""Sampled runs against exact ones (docs/understand/sampled.md)."""
