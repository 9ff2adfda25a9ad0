"""The memory of a served cluster under a steady load."""
