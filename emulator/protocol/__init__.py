"""Kafka's nouns: requests, error codes, znode paths and payloads, trace events. No behaviour; the rest of the ground
floor never imports it."""
