"""The effects of the cluster's faults on applications, by client: docs/understand/clients.md."""
