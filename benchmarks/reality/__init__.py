"""Reassignments on real Kafka, measured, and what the emulator says of the same."""
