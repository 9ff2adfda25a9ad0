"""The controller: elections, state machines, requests to brokers, reassignment, topic deletion. It communicates with
brokers only by requests and through ZooKeeper."""

from controller.controller import Controller
from controller.policies import ControllerPolicies

__all__ = ["Controller", "ControllerPolicies"]
