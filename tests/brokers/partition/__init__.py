"""Tests of brokers/partition."""
