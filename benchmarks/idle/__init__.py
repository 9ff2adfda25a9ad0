"""The cost of idle partitions: next to nothing, however many there are."""
