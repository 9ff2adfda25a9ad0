"""The parts of a producer: partitioner, accumulator, connections, sequence numbers."""
