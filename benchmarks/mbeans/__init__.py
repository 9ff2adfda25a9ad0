"""The names under which real brokers show their metrics (JMX)."""
