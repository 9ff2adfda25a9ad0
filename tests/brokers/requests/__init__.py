"""Tests of brokers/requests."""
