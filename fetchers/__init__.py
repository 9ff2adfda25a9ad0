"""Fetcher threads: how a follower copies its leader's log, how a replica is copied to another log directory, and what
happens to partitions that fail."""
