"""The clients of the cluster: producers, consumers, and the operator's tools."""
