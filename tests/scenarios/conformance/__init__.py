"""Kafka's own cases that need whole clusters, each named after its row in the list of conformance cases."""
