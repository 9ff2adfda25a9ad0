"""One handler per API, and the router that finds it."""

from brokers.requests.router import Router, handles

__all__ = ["Router", "handles"]
