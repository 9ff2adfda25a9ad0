"""Tests of scenarios/spark."""
