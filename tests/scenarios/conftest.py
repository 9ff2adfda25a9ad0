"""One Spark session for every test of this process that takes ``spark``: it takes seconds to start."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    from scenarios.studies.spark.session import session  # most test runs do without Spark

    with session() as running:
        yield running
