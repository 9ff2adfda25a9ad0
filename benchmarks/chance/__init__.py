"""The stated chances of something new, against what came next."""
