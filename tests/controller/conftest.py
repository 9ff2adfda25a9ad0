"""Silences the controller's log: its warnings here are those that the tests cause."""

import logging

import pytest
import structlog


@pytest.fixture(autouse=True, scope="session")
def _quiet() -> None:
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.CRITICAL))
