"""The statistics of a comparison: what can be said about two strategies that were run on the same seeds."""
