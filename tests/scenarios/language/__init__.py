"""Tests of the scenario model: the file format, its names, its errors."""
