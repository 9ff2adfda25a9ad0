"""Tests of scenarios/statistics."""
