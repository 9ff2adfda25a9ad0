"""A run for people: its events in words, one line each, one column per broker."""

from scenarios.observe.timeline.timeline import lines
from scenarios.observe.timeline.words import words

__all__ = ["lines", "words"]
