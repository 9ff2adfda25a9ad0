"""Tests of scenarios/studies/statistics."""
