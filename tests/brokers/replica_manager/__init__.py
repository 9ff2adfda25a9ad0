"""Tests of brokers/replica_manager."""
