"""The common part of the coordinators of groups and of transactions: an internal topic whose partitions belong to the
coordinator that leads them, appends that wait for the replicas, and transitions whose answers leave at their end."""
