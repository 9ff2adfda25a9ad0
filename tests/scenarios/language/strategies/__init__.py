"""Tests of strategy names."""
