"""The overhead of Spark in a sweep: the same runs as Spark tasks and in two bare processes."""
