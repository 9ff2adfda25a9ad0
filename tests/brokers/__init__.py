"""Tests of the brokers: logs, partitions, requests."""
