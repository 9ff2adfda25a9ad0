"""Tests of scenarios/wire/apis."""
