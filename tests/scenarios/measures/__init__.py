"""Tests of scenarios/measures."""
