"""Compaction: of each key a log keeps the last record (kafka.log.LogCleaner, 2.4)."""
