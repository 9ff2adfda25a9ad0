"""The time and memory that a served cluster takes for real clients, beside librdkafka's mock cluster and kfake."""
