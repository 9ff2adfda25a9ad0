"""Moving a partition to other brokers: the protocols, and the two ways to ask for a move."""
