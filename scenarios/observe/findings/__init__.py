"""Findings of checkers: violations, with the facts of each as data, and the sentences that say them."""
