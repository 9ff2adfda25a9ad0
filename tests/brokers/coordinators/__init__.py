"""Tests of brokers/coordinators."""
