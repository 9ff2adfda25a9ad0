"""The coordinator of consumer groups (kafka.coordinator.group, 2.3 to 3.0): a synchronous state machine on the broker
that leads a partition of ``__consumer_offsets``."""
