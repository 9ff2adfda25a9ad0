"""Real Kafka beside the emulator: what both write into ZooKeeper and send to brokers, step by step."""
