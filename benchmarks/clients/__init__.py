"""The effects of the cluster's faults on applications, by client: docs/clients.md."""
