"""Chaos under clients: the judges, the drivers' interface, and whole runs."""
