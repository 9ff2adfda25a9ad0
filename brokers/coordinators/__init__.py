"""What the coordinators of groups and of transactions have in common: an internal topic whose partitions are theirs by
leadership, appends that wait for the replicas, and transitions whose answers leave at their end."""
