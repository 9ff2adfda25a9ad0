"""Reasons that explain findings of runs, by subject: what releases do wrong by themselves."""
