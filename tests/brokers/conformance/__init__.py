"""Cases of docs/extend/sources/conformance.md that are about brokers, by their numbers."""
