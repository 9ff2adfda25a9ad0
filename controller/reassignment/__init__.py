"""Moving a partition to other brokers: the protocols, and the admin znode that asks for moves."""
