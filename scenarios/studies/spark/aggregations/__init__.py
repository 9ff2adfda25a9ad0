"""The second computation of every figure: by Spark, from the tables of the data set; and series over many runs.

Each aggregation is a function from DataFrames to a DataFrame, in a file for each subject. Those of figures name their
figures. ``scenarios.observe.measures`` declares the figures, beside the folds that compute them during the run. The two
computations share no code: this one derives the states of replication from the replica lists again, and percentiles are
defined as Spark's own. Times are integers of microseconds up to the end, so both computations must agree exactly. Tests
compare them on random histories, and check that every figure has both.
"""

from scenarios.studies.spark.aggregations import (
    burrow,
    control_plane,
    isr,
    isr_history,
    lag,
    leaders,
    losses,
    moves,
    producers,
    reads,
    recoveries,
    stretches,
    traffic,
)
from scenarios.studies.spark.aggregations.figures import figures, tables_read
from scenarios.studies.spark.aggregations.query import KEY, OBSERVED, QUERIES, Query, computes, queries

__all__ = [
    "KEY",
    "OBSERVED",
    "QUERIES",
    "Query",
    "burrow",
    "computes",
    "control_plane",
    "figures",
    "isr",
    "isr_history",
    "lag",
    "leaders",
    "losses",
    "moves",
    "producers",
    "queries",
    "reads",
    "recoveries",
    "stretches",
    "tables_read",
    "traffic",
]
