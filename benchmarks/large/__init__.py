"""What a large cluster under load costs: 100 brokers, 10,000 partitions, a tenth of them written to."""
