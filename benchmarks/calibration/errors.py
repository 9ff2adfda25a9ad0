"""Errors that keep a case from being recorded or compared."""


class CannotRecord(Exception):
    """One line for the person who asked: what is wrong, and what would be right."""
