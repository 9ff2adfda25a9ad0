"""Tests of brokers/groups."""
