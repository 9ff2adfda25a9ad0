"""The operator's commands, one file for each of Kafka's tools; each takes the operator who runs it."""
