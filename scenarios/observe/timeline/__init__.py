"""A run for people: its events in words, one line each, one column per broker; and why it failed, on one screen."""

from scenarios.observe.timeline.timeline import lines
from scenarios.observe.timeline.words import words

__all__ = ["lines", "words"]
