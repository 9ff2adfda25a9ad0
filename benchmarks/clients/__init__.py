"""What applications see of faults of the cluster, by client: docs/understand/clients.md."""
