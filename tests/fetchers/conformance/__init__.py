"""Cases of the conformance list, by theme."""
