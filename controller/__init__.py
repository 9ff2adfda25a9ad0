"""The controller: elections, state machines, requests to brokers, reassignment. It meets brokers only in
messages and in ZooKeeper."""

from controller.controller import Controller
from controller.policies import ControllerPolicies

__all__ = ["Controller", "ControllerPolicies"]
