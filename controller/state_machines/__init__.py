"""The partition and the replica state machine, and how leaders are chosen."""
