"""Kafka's own cases that need whole clusters, each named after its row in docs/extend/sources/conformance.md."""
