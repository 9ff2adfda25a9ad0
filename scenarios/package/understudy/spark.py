"""Many runs on Spark: ``sweep`` writes a data set, ``compare`` reads one. Both need a Java 17 or newer."""

from scenarios.studies.design import Axis, Design
from scenarios.studies.spark.aggregations import KEY, computes
from scenarios.studies.spark.compare import compare
from scenarios.studies.spark.emulator_source import register
from scenarios.studies.spark.sweep import SweepFailed, SweepInterrupted, Swept, sweep
from scenarios.studies.statistics.study_comparison import ComparisonSpec

__all__ = [
    "KEY",
    "Axis",
    "ComparisonSpec",
    "Design",
    "SweepFailed",
    "SweepInterrupted",
    "Swept",
    "compare",
    "computes",
    "register",
    "sweep",
]
