"""Tests of scenarios/studies/spark."""
