"""The messages of consumer groups, by theme: how a client finds the coordinator of its group, membership, offsets, and
what an administrator asks."""
