"""The timeline, against a golden file."""
