"""Tests of the replica fetchers."""
