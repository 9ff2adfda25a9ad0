"""Real clients attached to a served cluster."""
