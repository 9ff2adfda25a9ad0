"""The measurements of a run: folds over its events, O(1) per event, and the figures that they add up to.

A figure and the columns of a table are declared beside their fold. Spark computes the same figures again from the
tables (``scenarios.studies.spark.aggregations``).
"""

from scenarios.observe.measures.figures import Figures
from scenarios.observe.measures.fold import Measured
from scenarios.observe.measures.measures import Measures

__all__ = ["Figures", "Measured", "Measures"]
