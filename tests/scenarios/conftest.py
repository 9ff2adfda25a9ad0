"""One browser for every test of this process that takes ``browser``: it takes seconds to start."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.scenarios.studies.report.browser import Browser, chromium


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    with chromium() as running:
        yield running
