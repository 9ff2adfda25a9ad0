"""The coordinator of transactions, and what a log knows of them."""
