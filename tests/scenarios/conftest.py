"""One Spark session, and one browser, for every test of this process that takes ``spark`` or ``browser``: they take
seconds to start."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from tests.scenarios.studies.report.browser import Browser, chromium

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    """Its queries are not compiled, as in ``compare`` for few rows: that takes longer than they do, and gives the same
    results (``tests/scenarios/studies/spark/test_agreement.py``)."""
    from scenarios.studies.spark.session import compile_queries, session  # most test runs do without Spark

    with session() as running:
        compile_queries(running, False)
        yield running


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    with chromium() as running:
        yield running
