"""A live run written down while it runs, and carried out again from what was written."""
