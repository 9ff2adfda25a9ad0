"""Cases of Kafka's own suites (conformance.md), named after them."""
