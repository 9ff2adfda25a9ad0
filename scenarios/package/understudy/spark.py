"""Many runs on Spark: ``sweep`` writes a data set, ``compare`` reads one. Both need a Java 17 or newer."""

from scenarios.studies.spark.compare import compare
from scenarios.studies.spark.sweep import SweepFailed, SweepInterrupted, Swept, sweep

__all__ = ["SweepFailed", "SweepInterrupted", "Swept", "compare", "sweep"]
