"""The actions of a method on a cluster: the brokers that an entry acts on when its time has come, and its effect."""

from scenarios.faults.performer import ActionContext, PerformedAction, Performer
from scenarios.faults.roles import Roles

__all__ = ["ActionContext", "PerformedAction", "Performer", "Roles"]
