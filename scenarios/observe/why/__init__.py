"""``understudy why``: questions about a moment of a run, answered from its events: what led to it, and why it lasts."""
