"""A broker process from its start to its end."""

from brokers.lifecycle.broker import Broker, BrokerSpec, ControllerPart

__all__ = ["Broker", "BrokerSpec", "ControllerPart"]
