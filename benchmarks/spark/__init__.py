"""The aggregation of many rows by Spark."""
