"""Checks that all runs still give the same bytes, as they have to after a refactoring."""
