"""What a run measures of itself: folds over its events, O(1) per event, and the figures that they add up to.

The same figures are computed again by Spark from the rows that these folds leave behind (scenarios/spark).
"""

from scenarios.measures.cluster import Measured
from scenarios.measures.figures import Figures
from scenarios.measures.measures import Measures

__all__ = ["Figures", "Measured", "Measures"]
