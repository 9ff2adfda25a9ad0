"""What transactional producers ask of their coordinator, and it of the leaders of partitions (KIP-98, 0.11)."""
