"""What a run measures of itself: folds over its events, O(1) per event, and the figures that they add up to.

The same figures are computed again by Spark from the rows that these folds leave behind (scenarios/studies/spark).
"""

from scenarios.observe.measures.cluster import Measured
from scenarios.observe.measures.figures import Figures
from scenarios.observe.measures.measures import Measures

__all__ = ["Figures", "Measured", "Measures"]
