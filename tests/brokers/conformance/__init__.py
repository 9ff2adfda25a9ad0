"""The cases of the list of conformance that are about brokers, by their numbers."""
