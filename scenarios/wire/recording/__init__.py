"""A live run that is recorded while it runs, and replayed from the recording."""
