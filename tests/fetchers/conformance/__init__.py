"""Cases of docs/sources/conformance.md that are about fetchers, by theme."""
