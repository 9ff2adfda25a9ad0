"""What a method does to a cluster: whom it hits, and how."""

from scenarios.faults.actions import Actions
from scenarios.faults.roles import Roles

__all__ = ["Actions", "Roles"]
