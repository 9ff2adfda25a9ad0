"""TLC over the specification of docs/specification: its configurations, what each has to find, and what it costs."""
