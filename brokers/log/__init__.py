"""A broker's logs: batches on disks, with the epochs they were written under, in one or more log directories."""
