"""The actions of a method on a cluster: when an entry's time has come, which brokers it acts on, and how."""

from scenarios.faults.performer import ActionContext, PerformedAction, Performer
from scenarios.faults.roles import Roles

__all__ = ["ActionContext", "PerformedAction", "Performer", "Roles"]
