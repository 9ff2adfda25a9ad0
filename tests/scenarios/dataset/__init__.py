"""Tests of scenarios/dataset."""
