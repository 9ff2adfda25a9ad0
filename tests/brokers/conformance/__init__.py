"""Cases of docs/sources/conformance.md that are about brokers, by their numbers."""
