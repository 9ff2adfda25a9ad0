"""The operator's commands, one file for each of Kafka's tools; each takes the operator that runs it."""
