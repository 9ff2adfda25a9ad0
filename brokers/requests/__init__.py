"""One handler per API, and the router that finds it."""

from brokers.requests.router import Router

__all__ = ["Router"]
