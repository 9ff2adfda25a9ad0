"""Tests of whole runs: verdicts, faults, failovers, random histories."""
