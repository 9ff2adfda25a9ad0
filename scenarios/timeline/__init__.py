"""A run for people: its events in words, one line each, one column per broker."""

from scenarios.timeline.timeline import lines
from scenarios.timeline.words import words

__all__ = ["lines", "words"]
