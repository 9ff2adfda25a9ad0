"""What real clients get from a served cluster, in time and memory, beside librdkafka's mock cluster and kfake."""
