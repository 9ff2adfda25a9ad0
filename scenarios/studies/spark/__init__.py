"""Spark: the runs of a sweep are its tasks, and the figures are computed again from the tables they wrote."""
