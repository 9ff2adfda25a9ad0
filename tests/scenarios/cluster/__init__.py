"""Tests of the cluster as a whole: golden moves, producers, in-sync sets."""
