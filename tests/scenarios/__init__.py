"""Tests of scenarios/."""
