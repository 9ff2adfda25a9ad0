"""What others might add: a figure of their own."""
