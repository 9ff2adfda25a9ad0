"""Kafka's messages, error codes, znode paths and payloads, and the events of a run. No behaviour; the rest of
``emulator`` never imports it."""
