"""The requests of transactional producers to their coordinator, and of the coordinator to leaders of partitions
(KIP-98, 0.11)."""
