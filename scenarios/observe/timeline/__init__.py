"""A run for people: its events in words, one line each, one column per broker; and why it failed, on one screen."""
