"""A small schema library: kinds of value, tables that become attrs classes, ``--set`` paths, TOML and JSON text. It
knows nothing of Kafka."""
