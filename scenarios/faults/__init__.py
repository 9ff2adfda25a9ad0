"""The actions of a method on a cluster: the brokers that an entry acts on when its time has come, and its effect."""

from scenarios.faults.performer import ActionContext, PerformedAction, Performer
from scenarios.faults.target_roles import TargetRoles

__all__ = ["ActionContext", "PerformedAction", "Performer", "TargetRoles"]
