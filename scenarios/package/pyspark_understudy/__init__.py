"""Spark looks for data sources in packages whose names begin with ``pyspark_``: this one has ``format("understudy")``.

It is imported when a session meets its first data source that is written in Python, whichever that is.
"""

from scenarios.studies.spark.emulator_source import EmulatorSource as DefaultSource

__all__ = ["DefaultSource"]
