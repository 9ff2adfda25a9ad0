"""What partitions that nobody uses cost: as good as nothing, however many there are."""
