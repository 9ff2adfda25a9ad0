"""Tests of scenarios/observe/measures."""
