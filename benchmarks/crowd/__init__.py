"""What many clients, or clients that ask without end, cost the others of a served cluster."""
