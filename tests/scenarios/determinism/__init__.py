"""Tests that a run is a function of its scenario and its seed."""
