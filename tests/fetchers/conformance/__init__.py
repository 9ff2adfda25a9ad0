"""Cases of docs/extend/sources/conformance.md that are about fetchers, by theme."""
