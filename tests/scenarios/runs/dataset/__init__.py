"""Tests of scenarios/runs/dataset."""
