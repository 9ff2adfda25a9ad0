"""The controller's log is for people; here its warnings are what the tests provoke."""

import logging

import pytest
import structlog


@pytest.fixture(autouse=True, scope="session")
def _quiet() -> None:
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.CRITICAL))
