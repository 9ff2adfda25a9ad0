"""What applications see of faults of the cluster, by client: docs/clients.md."""
