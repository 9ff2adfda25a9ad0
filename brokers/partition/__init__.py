"""A partition on one broker: its role, its in-sync replicas, its high watermark."""
