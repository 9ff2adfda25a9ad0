"""The cost of a large cluster under load: 100 brokers, 10,000 partitions, a tenth of them written to."""
