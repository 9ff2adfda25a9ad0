"""Tests of logs and log directories."""
