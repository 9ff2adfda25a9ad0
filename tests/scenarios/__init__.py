"""Tests of the roof."""
