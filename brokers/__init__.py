"""The broker: logs, partitions, ISR, high watermark, request handling."""
