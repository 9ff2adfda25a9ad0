"""The cost of many clients, or of clients that ask without end, for the others of a served cluster."""
