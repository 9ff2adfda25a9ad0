"""The messages of consumer groups, by theme: finding a group's coordinator, membership, offsets, and the requests of
administrators."""
