"""A partition as one broker has it: its role, its in-sync set, its high watermark."""

from brokers.partition.partition import Partition
from brokers.partition.remote import RemoteReplica

__all__ = ["Partition", "RemoteReplica"]
